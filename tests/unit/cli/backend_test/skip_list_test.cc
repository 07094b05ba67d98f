#include "host/cli/backend_test/skip_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::cli::skip_list_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(SkipList, ReadsNamesAndReasons) {
  const auto list = parse_skip_list(
      "# a comment\n\n  test_a : draws random numbers: always others\r\ntest_b:x", "skip.txt");
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(
      *list,
      ElementsAre(Pair("test_a", Field(&SkipReason::text, "draws random numbers: always others")),
                  Pair("test_b", Field(&SkipReason::text, "x"))));
}

TEST(SkipList, ReadsWhichTestsPassNowAndThen) {
  const auto list = parse_skip_list("a?: x\nb ? : y\nc: z?", "skip.txt");
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(*list, ElementsAre(Pair("a", Field(&SkipReason::may_pass, true)),
                                 Pair("b", Field(&SkipReason::may_pass, true)),
                                 Pair("c", Field(&SkipReason::may_pass, false))));
}

TEST(SkipList, RefusesANameWithoutReason) {
  for (const std::string line : {"test_a", "test_a:", "test_a:  ", ": why", "?: why"}) {
    const auto list = parse_skip_list("\n" + line, "skip.txt");
    ASSERT_FALSE(list.ok());
    EXPECT_EQ(list.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(list.status().message(), HasSubstr("skip.txt:2: "));
    EXPECT_THAT(list.status().message(), HasSubstr("\"name: reason\""));
  }
}

TEST(SkipList, RefusesANameThatStandsTwice) {
  const auto list = parse_skip_list("a: x\na: y\n", "skip.txt");
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.status().message(), HasSubstr("skip.txt:2: \"a\" is listed twice"));
}

}  // namespace
}  // namespace ephost::cli::skip_list_test
