// Process-wide facilities that an environment sets up for calls of plugins and removes again.
#include <gtest/gtest.h>

#include <csignal>

#include "host/plugin/calls/call_watch.h"
#include "host/session/environment/environment_state.h"
#include "tests/support/status_matchers.h"

namespace ephost::session::environment_test {
namespace {

using test::IsOk;

using Action = void (*)(int);

void ignore(int) {}

Action current_action() {
  struct sigaction action = {};
  ::sigaction(SIGSEGV, nullptr, &action);
  return action.sa_handler;
}

class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() {
    options_.search_default_directories = false;
    struct sigaction action = {};
    action.sa_handler = &ignore;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  ~EnvironmentTest() override { ::sigaction(SIGSEGV, &before_, nullptr); }

  EnvironmentOptions options_;

 private:
  struct sigaction before_ = {};
};

TEST_F(EnvironmentTest, HandlesCrashesUntilItsLastCopyEnds) {
  {
    const auto environment = create_environment(options_);
    ASSERT_THAT(environment, IsOk());
    { const auto copy = *environment; }
    EXPECT_NE(current_action(), &ignore);
  }
  EXPECT_EQ(current_action(), &ignore);
}

TEST_F(EnvironmentTest, LeavesSignalsAloneWithoutCrashHandler) {
  options_.crash_handler = false;
  const auto environment = create_environment(options_);
  ASSERT_THAT(environment, IsOk());
  EXPECT_EQ(current_action(), &ignore);
}

TEST_F(EnvironmentTest, WatchesCallsUntilItEnds) {
  {
    const auto environment = create_environment(options_);
    ASSERT_THAT(environment, IsOk());
    EXPECT_TRUE(plugin::is_call_watch_asleep());
  }
  EXPECT_FALSE(plugin::is_call_watch_asleep());
}

TEST_F(EnvironmentTest, WatchesNothingWithoutCallWarning) {
  options_.call_warning = {};
  const auto environment = create_environment(options_);
  ASSERT_THAT(environment, IsOk());
  EXPECT_FALSE(plugin::is_call_watch_asleep());
}

TEST_F(EnvironmentTest, RefusesANegativeTimeForWarnings) {
  options_.call_warning = std::chrono::milliseconds(-1);
  EXPECT_EQ(create_environment(options_).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ephost::session::environment_test
