#include "host/base/log_repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ephost::log_repeats_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class LogRepeatsTest : public ::testing::Test {
 protected:
  void add_line(const LogLine& line) { repeats_.add(line, now_, write_); }
  void add(const std::string& text) { add_line({.text = text}); }
  void finish() { repeats_.finish(write_); }

  LogRepeats repeats_;
  LogRepeats::Clock::time_point now_;
  std::vector<std::pair<std::string, uint64_t>> written_;
  LogRepeats::Write write_ = [this](const LogLine& line, uint64_t repeated) {
    written_.emplace_back(line.text, repeated);
  };
};

TEST_F(LogRepeatsTest, WritesOneLineAndOneCountForAThousandEqualWarnings) {
  for (int i = 0; i < 1000; ++i) add("slow");
  EXPECT_THAT(written_, ElementsAre(Pair("slow", 0)));
  finish();
  EXPECT_THAT(written_, ElementsAre(Pair("slow", 0), Pair("slow", 999)));
  finish();
  EXPECT_THAT(written_, SizeIs(2));
}

TEST_F(LogRepeatsTest, CountsLinesBetweenOthers) {
  for (int i = 0; i < 3; ++i) {
    add("a");
    add("b");
  }
  add("c");
  finish();
  EXPECT_THAT(written_,
              ElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 0), Pair("a", 2), Pair("b", 2)));
}

TEST_F(LogRepeatsTest, TellsLinesOfOthersApart) {
  add_line({.text = "x"});
  add_line({.severity = LoggingLevel::kError, .text = "x"});
  add_line({.category = "AcmeExecutionProvider", .text = "x"});
  add_line({.id = "camera", .text = "x"});
  EXPECT_THAT(written_, SizeIs(4));
  add_line({.place = "elsewhere", .text = "x"});
  EXPECT_THAT(written_, SizeIs(4));
}

TEST_F(LogRepeatsTest, WritesALineAgainAfterAWhile) {
  add("x");
  add("x");
  now_ += LogRepeats::kPeriod;
  add("x");
  EXPECT_THAT(written_, ElementsAre(Pair("x", 0), Pair("x", 1), Pair("x", 0)));
  finish();
  EXPECT_THAT(written_, SizeIs(3));
}

TEST_F(LogRepeatsTest, WritesInformationEachTime) {
  for (int i = 0; i < 3; ++i) add_line({.severity = LoggingLevel::kInfo, .text = "x"});
  finish();
  EXPECT_THAT(written_, SizeIs(3));
}

TEST_F(LogRepeatsTest, RemembersALimitedNumberOfLines) {
  add("first");
  add("first");
  for (size_t i = 0; i < LogRepeats::kMostLines; ++i) {
    now_ += std::chrono::milliseconds(1);
    add("line " + std::to_string(i));
  }
  // The first line had to go, with its count.
  EXPECT_THAT(written_, ::testing::Contains(Pair("first", 1)));
  written_.clear();
  add("first");
  EXPECT_THAT(written_, ElementsAre(Pair("first", 0)));
}

TEST_F(LogRepeatsTest, RemembersNoLongLines) {
  const std::string longest(LogRepeats::kMostBytes, 'x');
  add(longest);
  add(longest);
  EXPECT_THAT(written_, SizeIs(1));
  add(longest + "x");
  add(longest + "x");
  EXPECT_THAT(written_, SizeIs(3));
}

TEST_F(LogRepeatsTest, HasNothingToFinishWithoutRepeats) {
  add("x");
  written_.clear();
  finish();
  EXPECT_THAT(written_, IsEmpty());
}

}  // namespace
}  // namespace ephost::log_repeats_test
