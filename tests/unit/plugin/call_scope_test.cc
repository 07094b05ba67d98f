#include "host/plugin/calls/call_scope.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/support/status_matchers.h"

namespace ephost::plugin::call_scope_test {
namespace {

using test::IsOk;

class NumberedSteps final : public StepSites {
 public:
  [[nodiscard]] CallSite call_site(size_t step) const noexcept override {
    return step == 2 ? CallSite{} : CallSite{"TestProvider", "compute", "Add", names_[step]};
  }

 private:
  std::string names_[3] = {"zero", "one", "two"};
};

TEST(CallScope, IsTheInnermostOfItsThread) {
  const CallScope outer(CallSite{"TestProvider", "compile"});
  {
    const CallScope inner(CallSite{"OtherProvider", "create"});
    EXPECT_EQ(ThreadCalls::mine().snapshot().site.provider, "OtherProvider");
  }
  EXPECT_EQ(ThreadCalls::mine().snapshot().site.provider, "TestProvider");
}

TEST(CallScope, LeavesNothingBehind) {
  { const CallScope scope(CallSite{"TestProvider", "compile"}); }
  EXPECT_EQ(ThreadCalls::mine().snapshot().number, 0U);
}

TEST(CallScope, AsksARunForItsStep) {
  const NumberedSteps steps;
  CallScope scope(steps);
  EXPECT_EQ(scope.site().name, "zero");
  scope.begin_step(1);
  const ThreadCalls::Snapshot snapshot = ThreadCalls::mine().snapshot();
  EXPECT_EQ(snapshot.step, 1U);
  EXPECT_EQ(snapshot.site.name, "one");
}

TEST(CallScope, NamesNobodyWhileTheHostRunsAStep) {
  const NumberedSteps steps;
  const CallScope scope(steps, 2);
  EXPECT_TRUE(ThreadCalls::mine().snapshot().site.provider.empty());
}

TEST(CallScope, IsSeenByOtherThreads) {
  const CallScope scope(CallSite{"TestProvider", "compile"});
  std::string seen;
  std::thread([&] {
    for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr; calls = calls->next()) {
      calls->try_with_snapshot([&](const ThreadCalls::Snapshot& call) { seen += call.site.slot; });
    }
  }).join();
  EXPECT_EQ(seen, "compile");
}

TEST(CallScope, KeepsTheFirstReasonToFail) {
  CallScope scope(CallSite{"TestProvider", "compile"});
  EXPECT_THAT(scope.status(), IsOk());
  EXPECT_TRUE(fail_current_call("first"));
  EXPECT_TRUE(fail_current_call("second"));
  EXPECT_EQ(scope.status().message(), "first");
  EXPECT_EQ(scope.status().code(), StatusCode::kEpFail);
}

TEST(CallScope, WithoutACallNothingCanFail) { EXPECT_FALSE(fail_current_call("reason")); }

TEST(ThreadCalls, AreUsedAgainByLaterThreads) {
  const auto count = [] {
    size_t threads = 0;
    for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr; calls = calls->next()) {
      ++threads;
    }
    return threads;
  };
  std::thread([] { const CallScope scope(CallSite{"TestProvider", "compile"}); }).join();
  const size_t before = count();
  for (int i = 0; i < 10; ++i) {
    std::thread([] { const CallScope scope(CallSite{"TestProvider", "compile"}); }).join();
  }
  EXPECT_EQ(count(), before);
}

TEST(Describe, NamesSlotProviderAndSubject) {
  EXPECT_EQ(describe({"P", "create"}), "create of P");
  EXPECT_EQ(describe({"P", "compile", "2 partitions"}), "compile of P for 2 partitions");
  EXPECT_EQ(describe({"P", "compute", "Add", "n"}), "compute of P for Add \"n\"");
}

}  // namespace
}  // namespace ephost::plugin::call_scope_test
