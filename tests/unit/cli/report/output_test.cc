#include "host/cli/report/output.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace ephost::cli::output_test {
namespace {

TEST(Output, PrintsNothingThatATerminalWouldObey) {
  ::testing::internal::CaptureStdout();
  print("conv\x1b[2J \u202e \xff\n");
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "conv\\x1b[2J \\u202e \ufffd\n");
}

std::string error_printed() {
  ::testing::internal::CaptureStderr();
  print_error(Status(StatusCode::kInvalidGraph, "node \"a\"\x1b\n\xff"), 4);
  std::fflush(stderr);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Output, PrintsErrorsAsTextOrJson) {
  EXPECT_EQ(error_printed(), "error[INVALID_GRAPH]: node \"a\"\\x1b\n\ufffd\n");
  print_errors_as_json(true);
  const std::string json = error_printed();
  print_errors_as_json(false);
  EXPECT_EQ(json,
            "{\"error\":{\"code\":\"INVALID_GRAPH\",\"message\":\"node "
            "\\\"a\\\"\\u001b\\n\ufffd\",\"exit_status\":4}}\n");
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
}  // namespace ephost::cli::output_test
