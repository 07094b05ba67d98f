#include "host/cli/report/table.h"

#include <gtest/gtest.h>

namespace ephost::cli::table_test {
namespace {

TEST(Table, AlignsColumnsAndTrimsLines) {
  Table table({{"name"}, {"bytes", Align::kRight}, {"note"}});
  table.add_row({"a", "1", ""});
  table.add_row({"longer", "12345678", "x"});
  EXPECT_EQ(table.to_text(),
            "name       bytes  note\n"
            "a              1\n"
            "longer  12345678  x\n");
}

TEST(Table, CountsCodePointsAndNotBytes) {
  Table table({{"a"}, {"b"}});
  table.add_row({"\xc3\xa9", "x"});
  EXPECT_EQ(table.to_text(), "a  b\n\xc3\xa9  x\n");
}

TEST(Table, KeepsARowOnOneLine) {
  Table table({{"a"}});
  table.add_row({"x\ny\x1b"});
  EXPECT_EQ(table.to_text(), "a\nx y\\x1b\n");
}

TEST(Facts, PadsNames) {
  Facts facts;
  facts.add("a", "1");
  facts.add("name", "2");
  EXPECT_EQ(facts.to_text(), "a     1\nname  2\n");
}

}  // namespace
}  // namespace ephost::cli::table_test
