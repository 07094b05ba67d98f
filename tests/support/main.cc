// The main function of the GoogleTest programs: GoogleTest's own, and a limit on the time of each
// test.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

namespace ephost::test {
namespace {

// Less than the limits of ctest, which cannot name the test of a shard.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kSecondsForATest = 1700;
#else
constexpr unsigned kSecondsForATest = 540;
#endif

// Read by the signal handler.
std::array<char, 512> failure_text;
size_t failure_size = 0;

// Ends the program. What waits may hold locks: nothing is called but functions that a signal
// handler may call.
extern "C" void end_program(int) {
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, failure_text.data(), failure_size);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

// Ends the program when a test takes too long, and names it. Children of fork() have no alarm.
class TimeLimit : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo& test) override {
    const std::string message = std::string(test.test_suite_name()) + "." + test.name() +
                                " is not over after " + std::to_string(kSecondsForATest) + " s\n";
    failure_size = message.copy(failure_text.data(), failure_text.size());
    std::signal(SIGALRM, &end_program);
    ::alarm(kSecondsForATest);
  }
  void OnTestEnd(const ::testing::TestInfo&) override { ::alarm(0); }
};

}  // namespace
}  // namespace ephost::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new ephost::test::TimeLimit);
  return RUN_ALL_TESTS();
}
