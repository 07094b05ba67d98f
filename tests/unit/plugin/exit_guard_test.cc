#include "host/plugin/calls/exit_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin::exit_guard_test {
namespace {

constexpr CallSite kSite = {"TestProvider", "compile", "partition", "p0"};
constexpr int kStatus = 9;

class ExitGuardDeathTest : public ::testing::Test {
 protected:
  ExitGuardDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ExitGuardDeathTest, MakesAnExitWithinACallAFailure) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        const CallScope scope(kSite);
        std::exit(0);
      },
      ::testing::ExitedWithCode(kStatus),
      "the plugin called exit\\(0\\) in compile of TestProvider for partition \"p0\"");
}

TEST_F(ExitGuardDeathTest, MakesAnExitOfAThreadOfThePluginAFailure) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        const CallScope scope(kSite);
        std::thread([] { std::exit(0); }).join();
      },
      ::testing::ExitedWithCode(kStatus), "exit\\(0\\) in compile of TestProvider");
}

TEST_F(ExitGuardDeathTest, TellsAWatcherInsteadAndKeepsTheStatus) {
  const auto tell = [](std::string_view text) noexcept {
    std::cerr << "told: " << text << std::endl;
  };
  EXPECT_EXIT(
      {
        report_plugin_exits(tell);
        const CallScope scope(kSite);
        std::exit(5);
      },
      ::testing::ExitedWithCode(5),
      "told: the plugin called exit\\(5\\) in compile of TestProvider for partition \"p0\"");
  EXPECT_EXIT(
      {
        report_plugin_exits(tell);
        const CallScope scope(kSite);
        end_process("_exit", 6);
      },
      ::testing::ExitedWithCode(6), "told: the plugin called _exit\\(6\\) in compile of");
  EXPECT_EXIT(
      {
        report_plugin_exits(tell);
        const CallScope scope(kSite);
        guard_thread_end(kSite);
      },
      ::testing::ExitedWithCode(1), "told: the plugin called pthread_exit.* in compile of");
}

TEST_F(ExitGuardDeathTest, MakesAQuickExitWithinACallAFailure) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        const CallScope scope(kSite);
        std::quick_exit(0);
      },
      ::testing::ExitedWithCode(kStatus), "quick_exit\\(\\) in compile of TestProvider");
}

TEST_F(ExitGuardDeathTest, MakesAnImmediateExitWithinACallAFailure) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        const CallScope scope(kSite);
        end_process("_exit", 0);
      },
      ::testing::ExitedWithCode(kStatus), "_exit\\(0\\) in compile of TestProvider");
}

TEST_F(ExitGuardDeathTest, LeavesTheExitOfTheProgramItselfAlone) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        { const CallScope scope(kSite); }
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "^$");
}

TEST_F(ExitGuardDeathTest, LeavesAProcessAloneThatIsNotGuarded) {
  EXPECT_EXIT(
      {
        const CallScope scope(kSite);
        end_process("_exit", 4);
      },
      ::testing::ExitedWithCode(4), "^$");
}

TEST_F(ExitGuardDeathTest, LeavesTheChildProcessesOfAPluginAlone) {
  EXPECT_EXIT(
      {
        arm_exit_guard(kStatus);
        int state = 0;
        {
          const CallScope scope(kSite);
          const pid_t child = ::fork();
          if (child == 0) end_process("_exit", 5);
          ::waitpid(child, &state, 0);
        }
        std::exit(WEXITSTATUS(state));
      },
      ::testing::ExitedWithCode(5), "^$");
}

}  // namespace
}  // namespace ephost::plugin::exit_guard_test
