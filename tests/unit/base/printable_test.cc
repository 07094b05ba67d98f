#include "host/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace ephost::printable_test {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("conv 1\té\n模型 \xf0\x9f\x98\x80"), "conv 1\té\n模型 \xf0\x9f\x98\x80");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("\x1b[2J\x7f\r"), "\\x1b[2J\\x7f\\x0d");
  EXPECT_EQ(printable("\xc2\x9b\xc2\xa0"), "\\u009b\xc2\xa0");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, EscapesWhatMakesTextLookLikeOtherText) {
  EXPECT_EQ(printable("\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
            "\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069");
  EXPECT_EQ(printable("\u2028\u2029"), "\\u2028\\u2029");
  EXPECT_EQ(printable("\u200d\u2030\u206a"), "\u200d\u2030\u206a");
}

TEST(Printable, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xff\xc3"), "a\ufffd\ufffd");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
}

TEST(Printable, DoesNothingToItsOwnResults) {
  const std::string once = printable("\x1b \xff \u202e \\x1b");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, PutsALineOnOneLine) { EXPECT_EQ(printable_line("a\nb\tc\x1b"), "a b c\\x1b"); }

TEST(Printable, KeepsAJsonDocumentTheSame) {
  EXPECT_EQ(printable_json("{\n\"\u202e\": \"\x7f\u0085\xff\"}"),
            "{\n\"\\u202e\": \"\\u007f\\u0085\ufffd\"}");
}

TEST(Printable, CountsColumns) { EXPECT_EQ(column_count("é模a"), 3U); }

}  // namespace
}  // namespace ephost::printable_test
