#include <ephost/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ephost::status_test {
namespace {

TEST(Status, IsOkByDefault) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().to_string(), "OK");
}

TEST(Status, PrintsCodeAndMessage) {
  EXPECT_EQ(Status(StatusCode::kInvalidGraph, "no such value").to_string(),
            "INVALID_GRAPH: no such value");
}

TEST(Status, AppendsContextInsideOut) {
  Status status = Status(StatusCode::kFail, "disk full").with_context("writing").with_context("x");
  EXPECT_EQ(status.message(), "disk full (while writing) (while x)");
  EXPECT_EQ(status.code(), StatusCode::kFail);
}

TEST(Status, SuccessTakesNoContext) {
  EXPECT_EQ(Status().with_context("writing").to_string(), "OK");
}

TEST(Status, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  const auto add = [&](int32_t first, int32_t last) {
    for (int32_t code = first; code <= last; ++code) {
      names.insert(status_code_name(static_cast<StatusCode>(code)));
    }
  };
  add(0, 14);
  add(1000, 1003);
  EXPECT_EQ(names.size(), 19U);
  EXPECT_FALSE(names.contains("UNKNOWN_CODE"));
}

TEST(Status, NamesANumberThatIsNotACode) {
  for (const int32_t number : {-1, 15, 99, 999, 1004}) {
    EXPECT_EQ(status_code_name(static_cast<StatusCode>(number)), "UNKNOWN_CODE") << number;
  }
}

Result<std::unique_ptr<int>> make(bool succeed) {
  if (!succeed) return Status(StatusCode::kFail, "refused");
  return std::make_unique<int>(7);
}

Status use(bool succeed, int& out_value) {
  EPHOST_ASSIGN_OR_RETURN(const std::unique_ptr<int> value, make(succeed));
  out_value = *value;
  EPHOST_RETURN_IF_ERROR(Status::ok_status());
  return Status::ok_status();
}

TEST(Result, HandsOnAValueThatOnlyMoves) {
  int value = 0;
  EXPECT_TRUE(use(true, value).ok());
  EXPECT_EQ(value, 7);
}

TEST(Result, HandsOnTheFailure) {
  int value = 0;
  EXPECT_EQ(use(false, value).message(), "refused");
  EXPECT_EQ(value, 0);
}

TEST(Result, CopiesMovesAndReplacesWhatItHolds) {
  const std::string text(100, 'x');
  const Status refused(StatusCode::kFail, "refused");
  Result<std::string> first = text;
  Result<std::string> second = first;
  EXPECT_EQ(*first, text);
  EXPECT_EQ(*second, text);
  second = refused;
  EXPECT_FALSE(second.ok());
  first = second;
  EXPECT_EQ(first.status().message(), "refused");
  first = text;
  EXPECT_TRUE(first.status().ok());
  second = std::move(first);
  EXPECT_EQ(*second, text);
  Result<std::string>& same = second;
  second = std::move(same);
  EXPECT_EQ(*second, text);
}

TEST(Result, EndsEveryValueOnce) {
  const auto counted = std::make_shared<int>();
  {
    Result<std::shared_ptr<int>> first = counted;
    Result<std::shared_ptr<int>> second = first;
    Result<std::shared_ptr<int>> third = std::move(second);
    EXPECT_EQ(counted.use_count(), 3);
    first = Status(StatusCode::kFail, "refused");
    EXPECT_EQ(counted.use_count(), 2);
    first = third;
    EXPECT_EQ(counted.use_count(), 3);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Result, IsCopiedAndMovedAsItsValueIs) {
  static_assert(std::is_copy_constructible_v<Result<std::string>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);
  static_assert(std::is_copy_assignable_v<Result<std::string>>);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_move_assignable_v<Result<std::unique_ptr<int>>>);
}

}  // namespace
}  // namespace ephost::status_test
