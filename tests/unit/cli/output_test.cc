#include "host/cli/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ephost::cli {
namespace {

TEST(Output, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("conv\x1b[2J\x7f"), "conv\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc3\xa9t\xc3\xa9\n"), "\xc3\xa9t\xc3\xa9\n");
  EXPECT_EQ(printable("bad \xff"), "bad \\xff");
  EXPECT_EQ(printable("\xc2\x9b\xc2\xa0"), "\\xc2\\x9b\xc2\xa0");
}

TEST(Output, WritesNumbersWithUnits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(uint64_t{200} << 20), "200 MiB");
  EXPECT_EQ(seconds_text(1.234e-5), "12.3 us");
  EXPECT_EQ(seconds_text(0.00456), "4.56 ms");
  EXPECT_EQ(seconds_text(123.4), "123 s");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(0, "node"), "0 nodes");
}

TEST(Output, ReplacesBytesInJsonThatAreNotUtf8) {
  EXPECT_EQ(to_text(Json{{"name", "\xff"}}), "{\n  \"name\": \"\xef\xbf\xbd\"\n}\n");
}

}  // namespace
}  // namespace ephost::cli
