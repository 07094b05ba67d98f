#include "host/plugin/calls/call_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "host/base/log.h"
#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin::call_watch_test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// Waits for messages of the log, without a time limit.
class LogWait {
 public:
  LogWait() {
    set_log_sink([this](LoggingLevel, std::string_view message) {
      const std::lock_guard lock(mutex_);
      text_ += message;
      changed_.notify_all();
    });
  }
  LogWait(const LogWait&) = delete;
  LogWait& operator=(const LogWait&) = delete;
  ~LogWait() { set_log_sink({}); }

  void wait_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return text_.find(text) != std::string::npos; });
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

class NamedSteps final : public StepSites {
 public:
  [[nodiscard]] CallSite call_site(size_t step) const noexcept override {
    return {"TestProvider", "compute", "Add", step == 0 ? "first" : "second"};
  }
};

TEST(CallWatch, NamesACallThatTakesLongAgainAndAgain) {
  LogWait log;
  const CallWatch watch(milliseconds(10));
  const CallScope scope(CallSite{"TestProvider", "compile"});
  log.wait_for("compile of TestProvider has been running for more than 0.01 s");
  log.wait_for("compile of TestProvider has been running for more than 0.02 s");
}

TEST(CallWatch, NamesTheStepOfARun) {
  LogWait log;
  const CallWatch watch(milliseconds(10));
  const NamedSteps steps;
  CallScope scope(steps);
  log.wait_for("compute of TestProvider for Add \"first\" has been running");
  scope.begin_step(1);
  log.wait_for("compute of TestProvider for Add \"second\" has been running");
}

TEST(CallWatch, WakesUpForALaterCall) {
  LogWait log;
  const CallWatch watch(milliseconds(10));
  for (const char* slot : {"create", "compile", "destroy"}) {
    {
      const CallScope scope(CallSite{"TestProvider", slot});
      log.wait_for(std::string(slot) + " of TestProvider has been running");
    }
    while (!is_call_watch_asleep()) {
    }
  }
}

TEST(CallWatch, TheShortestLimitCounts) {
  LogWait log;
  const CallWatch slow(std::chrono::hours(1));
  const CallScope scope(CallSite{"TestProvider", "compile"});
  const CallWatch fast(milliseconds(10));
  log.wait_for("for more than 0.01 s");
}

TEST(CallWatch, AShorterLimitCountsForCallsThatAreUnderWay) {
  LogWait log;
  const CallWatch slow(std::chrono::hours(1));
  const CallScope scope(CallSite{"TestProvider", "compile"});
  std::this_thread::sleep_for(milliseconds(50));  // most likely the call has been seen by then
  const CallWatch fast(milliseconds(10));
  log.wait_for("for more than 0.01 s");
}

TEST(CallWatch, NobodyWarnsWithoutOne) {
  LogWait log;
  { const CallWatch watch(milliseconds(10)); }
  const CallScope scope(CallSite{"TestProvider", "compile"});
  EXPECT_FALSE(is_call_watch_asleep());
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace ephost::plugin::call_watch_test
