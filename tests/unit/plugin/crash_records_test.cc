#include "host/plugin/calls/crash_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/base/files/file.h"
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
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, SIG_DFL);
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
  // Outside of calls, in a call of another one, in another thread, by another process.
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

// A run that was lent a page, which is there or not.
class LentPage final : public StepSites {
 public:
  explicit LentPage(bool is_writable) : is_writable_(is_writable) {}
  LentPage(const LentPage&) = delete;
  LentPage& operator=(const LentPage&) = delete;
  ~LentPage() { ::munmap(page_, kSize); }

  [[nodiscard]] CallSite call_site(size_t) const noexcept override { return kSite; }
  [[nodiscard]] LentPlace find_lent(uintptr_t address) const noexcept override {
    const auto begin = reinterpret_cast<uintptr_t>(page_);
    if (address < begin || address - begin >= kSize) return {};
    return {"in the input", "x", is_writable_};
  }
  [[nodiscard]] volatile char* data() const { return static_cast<volatile char*>(page_); }

 private:
  static constexpr size_t kSize = 4096;
  void* const page_ = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_writable_;
};

TEST_F(CrashRecordsDeathTest, AreNoneOfMemoryThatTheApplicationLent) {
  const CrashRecord record({"acme"}, prepared());
  constexpr const char* kNotCounted =
      "in the input \"x\", in compile of acme .*the application's.*"
      "does not count against the plugin";
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const LentPage page(false);
        const CallScope scope(page);
        (void)page.data()[8];
      },
      ::testing::KilledBySignal(SIGSEGV), kNotCounted);
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const LentPage page(true);
        const CallScope scope(page);
        page.data()[8] = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), kNotCounted);
  EXPECT_EXIT(  // a thread that the plugin has started
      {
        const CrashHandler handler;
        const LentPage page(false);
        const CallScope scope(page);
        std::thread([&] { (void)page.data()[8]; }).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "in the input \"x\".*does not count");
  EXPECT_THAT(recorded(), IsEmpty());
}

#if defined(__x86_64__)
TEST_F(CrashRecordsDeathTest, AreMadeWhereAPluginWritesToAnInput) {
  const CrashRecord record({"acme"}, prepared());
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const LentPage page(false);
        const CallScope scope(page);
        page.data()[8] = 1;
      },
      ::testing::KilledBySignal(SIGSEGV),
      "in the input \"x\",.*report this to the plugin's vendor");
  EXPECT_EQ(recorded().size(), 1U);
}
#endif

TEST_F(CrashRecordsDeathTest, AreNoneOfAFileThatIsTruncated) {
  const CrashRecord record({"acme"}, prepared());
  const std::filesystem::path file = directory_.write("model.onnx", std::string(8192, 'x'));
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const Result<MappedFile> mapped = MappedFile::open(file);
        std::filesystem::resize_file(file, 0);
        const CallScope scope(kSite);
        (void)*static_cast<const volatile char*>(static_cast<const void*>(mapped->bytes().data()));
      },
      ::testing::KilledBySignal(SIGBUS),
      "in the mapped file \"model.onnx\", in compile of acme .*does not count");
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(CrashRecordsDeathTest, SayWhichProgramItWas) {
  FailureRecord whole = {.name = "acme", .program = program_of_process()};
  const CrashRecord record({"acme"}, PreparedFailure(records_, whole));
  EXPECT_EXIT(
      {
        const CrashHandler handler;
        const CallScope scope(kSite);
        fault();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  ASSERT_EQ(records_.read().records.size(), 1U);
  EXPECT_THAT(records_.read().records.front().program,
              MatchesRegex("/.*unit_plugin_test.* \\(process [0-9]+\\)"));
}

}  // namespace
}  // namespace ephost::plugin::crash_records_test
