#include "host/plugin/calls/crash_handler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin::crash_handler_test {
namespace {

constexpr CallSite kSite = {"TestProvider", "compile", "partition", "p0"};

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

void (*current_action(int signal))(int) {
  struct sigaction action = {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

void exit_with_7(int) {
  static_cast<void>(::write(STDERR_FILENO, "mine", 4));
  ::_exit(7);
}
void ignore(int) {}

void fault() {
  volatile uintptr_t nowhere = 16;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

int overflow() {
  volatile char frame[4096];
  frame[0] = 1;
  return frame[0] == 0 ? 0 : overflow() + frame[0];
}

// The handler that a sanitizer has installed, if any.
class CrashHandlerTest : public ::testing::Test {
 protected:
  CrashHandlerTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const int signal : {SIGSEGV, SIGABRT}) set_action(signal, SIG_DFL);
  }
};

TEST_F(CrashHandlerTest, PutsBackWhatItFound) {
  set_action(SIGSEGV, &ignore);
  { const CrashHandler handler; }
  EXPECT_EQ(current_action(SIGSEGV), &ignore);
}

TEST_F(CrashHandlerTest, StaysUntilTheLastUserGoes) {
  set_action(SIGSEGV, &ignore);
  {
    const CrashHandler handler;
    { const CrashHandler another; }
    EXPECT_NE(current_action(SIGSEGV), &ignore);
  }
  EXPECT_EQ(current_action(SIGSEGV), &ignore);
}

TEST_F(CrashHandlerTest, LeavesAHandlerAloneThatCameLater) {
  {
    const CrashHandler handler;
    set_action(SIGSEGV, &ignore);
  }
  EXPECT_EQ(current_action(SIGSEGV), &ignore);
}

using CrashHandlerDeathTest = CrashHandlerTest;

TEST_F(CrashHandlerDeathTest, PrintsTheCallAndEndsByTheSignal) {
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV),
      "SIGSEGV at address 0x10 in compile of TestProvider for partition \"p0\"");
}

TEST_F(CrashHandlerDeathTest, PrintsTheCallAfterAStackOverflow) {
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        overflow();
      },
      ::testing::KilledBySignal(SIGSEGV), "SIGSEGV .*compile of TestProvider");
}

TEST_F(CrashHandlerDeathTest, PrintsTheCallAfterAStackOverflowOfAnotherThread) {
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        std::thread([] {
          const CallScope scope(kSite);
          overflow();
        }).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "SIGSEGV .*compile of TestProvider");
}

TEST_F(CrashHandlerDeathTest, PassesAFaultOnToTheHandlerThatWasThere) {
  EXPECT_EXIT(
      {
        set_action(SIGSEGV, &exit_with_7);
        const CrashHandler handler;
        const CallScope scope(kSite);
        fault();
      },
      ::testing::ExitedWithCode(7), "SIGSEGV .*compile of TestProvider.*\nmine");
}

TEST_F(CrashHandlerDeathTest, PassesAnAbortOnToTheHandlerThatWasThere) {
  EXPECT_EXIT(
      {
        set_action(SIGABRT, &exit_with_7);
        const CrashHandler handler;
        const CallScope scope(kSite);
        std::abort();
      },
      ::testing::ExitedWithCode(7), "SIGABRT in compile of TestProvider.*\nmine");
}

TEST_F(CrashHandlerDeathTest, LeavesASignalAloneThatTheApplicationRecoversFrom) {
  EXPECT_EXIT(
      {
        set_action(SIGSEGV, &ignore);
        const CrashHandler handler;
        ::raise(SIGSEGV);
        ::raise(SIGSEGV);
        ::_exit(8);
      },
      ::testing::ExitedWithCode(8), "^$");
}

TEST_F(CrashHandlerDeathTest, SaysNothingWithoutACall) {
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace ephost::plugin::crash_handler_test
