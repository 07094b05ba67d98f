#include "host/plugin/calls/raw_text.h"

#include <gtest/gtest.h>

#include <string>

namespace ephost::plugin::raw_text_test {
namespace {

std::string written(std::string_view text) {
  ::testing::internal::CaptureStderr();
  RawText raw;
  raw.add(text).write_line();
  return ::testing::internal::GetCapturedStderr();
}

TEST(RawText, WritesOneLine) { EXPECT_EQ(written("run of Acmé"), "run of Acmé\n"); }

TEST(RawText, HidesWhatATerminalWouldObey) {
  EXPECT_EQ(written("a\x1b[2J\n\u202e\xff\u0085"), "a?[2J????\n");
}

TEST(RawText, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(written(std::string(1022, 'a') + "é"), std::string(1022, 'a') + "\n");
}

}  // namespace
}  // namespace ephost::plugin::raw_text_test
