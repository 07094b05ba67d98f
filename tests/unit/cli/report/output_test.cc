#include "host/cli/report/output.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace ephost::cli {
namespace {

TEST(Output, PrintsNothingThatATerminalWouldObey) {
  ::testing::internal::CaptureStdout();
  print("conv\x1b[2J \u202e \xff\n");
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "conv\\x1b[2J \\u202e \ufffd\n");
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

}  // namespace
}  // namespace ephost::cli
