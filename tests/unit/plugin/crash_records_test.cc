#include "host/plugin/calls/crash_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/plugin/calls/crash_handler.h"
#include "host/plugin/calls/exit_guard.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin::crash_records_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr CallSite kSite = {"acme", "compile", "partition", "p0"};

void fault() {
  volatile uintptr_t nowhere = 16;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

class CrashRecordsDeathTest : public ::testing::Test {
 protected:
  CrashRecordsDeathTest() {
    GTEST_FLAG_SET(death_test_style, "fast");  // the child shares the folder
    for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);
  }

  [[nodiscard]] PreparedFailure prepared(const std::string& files = "1") const {
    return {records_, {.name = "acme", .manifest = "/acme.yaml", .files = files}};
  }
  [[nodiscard]] std::vector<std::string> recorded() const {
    std::vector<std::string> texts;
    for (const FailureRecord& record : records_.read().records) texts.push_back(record.what);
    return texts;
  }

  const test::TempDirectory directory_;
  const FailureRecords records_{directory_ / "failures"};
};

TEST_F(CrashRecordsDeathTest, SayHowThePluginDied) {
  const CrashRecord record({"other", "acme"}, prepared());
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "");
  EXPECT_THAT(recorded(),
              ElementsAre(MatchesRegex("died of SIGSEGV in compile of acme for partition \"p0\".*"),
                          MatchesRegex("died of SIGABRT in compile of acme .*")));
}

TEST_F(CrashRecordsDeathTest, SayThatItCalledExit) {
  const CrashRecord record({"acme"}, prepared());
  EXPECT_EXIT(
      {
        arm_exit_guard(9);
        const CallScope scope(kSite);
        std::exit(3);
      },
      ::testing::ExitedWithCode(9), "");
  EXPECT_THAT(recorded(), ElementsAre(MatchesRegex("called exit.3. in compile of acme .*")));
}

TEST_F(CrashRecordsDeathTest, AreOfOneCrashThoughItsHandlerAborts) {
  const CrashRecord record({"acme"}, prepared());
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { std::abort(); });
        const CrashHandler handler;
        const CallScope scope(kSite);
        fault();
      },
      ::testing::KilledBySignal(SIGABRT), "");
  EXPECT_THAT(recorded(), ElementsAre(MatchesRegex("died of SIGSEGV .*")));
}

TEST_F(CrashRecordsDeathTest, AreNoneOfWhatThePluginDidNotDo) {
  const CrashRecord record({"acme"}, prepared());
  // Outside of calls, in a call of another one, in a thread of somebody's, by another process.
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        { const CallScope scope(kSite); }
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(CallSite{"other", "compile"});
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        std::thread(&fault).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        const pid_t me = ::getpid();
        if (::fork() == 0) {
          ::kill(me, SIGABRT);
          ::_exit(0);
        }
        for (;;) ::pause();
      },
      ::testing::KilledBySignal(SIGABRT), "");
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(CrashRecordsDeathTest, AreNoneWhereSeveralVersionsAreLoaded) {
  const auto crash = [] {
    EXPECT_EXIT(
        {
          const CrashHandler handler;
          const CallScope scope(kSite);
          fault();
        },
        ::testing::KilledBySignal(SIGSEGV), "");
  };
  const CrashRecord one({"acme"}, prepared());
  std::optional<CrashRecord> other(std::in_place, std::vector<std::string>{"acme"}, prepared("2"));
  crash();
  EXPECT_THAT(recorded(), IsEmpty());
  other.reset();
  const CrashRecord same({"acme"}, prepared());
  crash();
  EXPECT_EQ(recorded().size(), 1U);
}

}  // namespace
}  // namespace ephost::plugin::crash_records_test
