#include "host/session/creation/retries.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace ephost::session::retries_test {
namespace {

using test::IsOk;

// Asks as often as it is told to, and then fails, or not.
struct Asking {
  int times = 0;
  Status failure = {};
  int asked = 0;

  Result<bool> asks_again(const Status&) {
    ++asked;
    if (times-- > 0) return true;
    if (!failure.ok()) return failure;
    return false;
  }
};

TEST(Retries, MakeOneAttemptIfNoReasonAsksForAnother) {
  int attempts = 0;
  Asking never;
  const Result<int> made = with_retries([&]() -> Result<int> { return ++attempts; }, never);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(*made, 1);
  EXPECT_EQ(never.asked, 1);
}

TEST(Retries, ReturnTheLastAttempt) {
  int attempts = 0;
  Asking twice{.times = 2};
  const Result<int> made = with_retries(
      [&]() -> Result<int> {
        if (++attempts < 3) return Status(StatusCode::kFail, "not yet");
        return attempts;
      },
      twice);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(*made, 3);
}

TEST(Retries, AskNoFurtherReasonOnceOneAsks) {
  Asking first{.times = 1};
  Asking second;
  EXPECT_THAT(with_retries([] { return Status::ok_status(); }, first, second), IsOk());
  EXPECT_EQ(first.asked, 2);
  EXPECT_EQ(second.asked, 1);
}

TEST(Retries, EndWithTheFailureOfAReason) {
  Asking fails{.times = 1, .failure = Status(StatusCode::kEpFail, "no other way")};
  Asking second{.times = 1};
  const Status made = with_retries([] { return Status::ok_status(); }, fails, second);
  EXPECT_EQ(made.message(), "no other way");
  EXPECT_EQ(second.asked, 0);
}

// Two providers: three rounds for each, and the first one.
TEST(Retries, AreBoundedWhereProvidersGoOnFailing) {
  PreparedModel prepared;
  prepared.providers.resize(2);
  ProviderFailed failed(prepared);
  int rounds = 0;
  const Status made = with_retries(
      [&] {
        ++rounds;
        static_cast<void>(failed.begin_round());
        prepared.failures.push_back({.reason = Status(StatusCode::kEpFail, "again")});
        return Status::ok_status();
      },
      failed);
  EXPECT_EQ(rounds, 7);
  EXPECT_EQ(made.message(), "again (while falling back, attempt 7)");
}

TEST(Retries, PartitionAgainOnlyWhereAProviderFailedToCompile) {
  PreparedModel prepared;
  prepared.providers.resize(1);
  prepared.reused.partitions["p"] = {};
  ProviderFailed failed(prepared);
  EXPECT_TRUE(failed.begin_round().empty());
  prepared.reused.partitions.clear();
  EXPECT_TRUE(*failed.asks_again({}));
  EXPECT_FALSE(failed.wants_other_partitions());
  EXPECT_TRUE(failed.begin_round().empty());
  prepared.failures.push_back({.reason = Status(StatusCode::kEpFail, "no")});
  EXPECT_TRUE(*failed.asks_again({}));
  EXPECT_TRUE(failed.wants_other_partitions());
  EXPECT_EQ(failed.begin_round().size(), 1U);
  EXPECT_FALSE(*failed.asks_again({}));
}

TEST(Retries, CompareChecksumsFirstOnceForEachReading) {
  Reading reading{.has_wrong_checksum = true};
  WrongChecksum wrong(reading);
  const Status failure(StatusCode::kInvalidGraph, "wrong checksum");
  EXPECT_TRUE(wrong.may_defer());
  EXPECT_TRUE(*wrong.asks_again(failure));
  EXPECT_FALSE(wrong.may_defer());
  EXPECT_FALSE(*wrong.asks_again(failure));
  EXPECT_TRUE(wrong.may_defer()) << "the model may have been replaced, and is read again";
  reading.is_cancelled = true;
  EXPECT_FALSE(*wrong.asks_again(failure));
}

}  // namespace
}  // namespace ephost::session::retries_test
