#include "host/plugin/calls/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cfenv>
#include <stdexcept>
#include <thread>

#include "host/base/log.h"
#include "tests/support/status_matchers.h"

namespace ephost::plugin::call_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr CallSite kSite = {"TestProvider", "compile", "partition", "p0"};

// Slots as a table has them. Those that throw are compiled without noexcept, as a plugin may be.
int32_t twice(int32_t number) noexcept { return 2 * number; }
int32_t throw_text(int32_t) { throw std::runtime_error("out of tiles"); }
int32_t throw_number(int32_t) { throw 42; }
void throw_from_release(int*) { throw std::runtime_error("out of tiles"); }
int32_t change_rounding(int32_t) { return std::fesetround(FE_UPWARD); }
int32_t fail_in_a_loop(int32_t) { return fail_current_call("the loop failed") ? 0 : 1; }
int32_t end_the_thread(int32_t) {
  ::pthread_exit(nullptr);
  return 0;
}

using Slot = int32_t (*)(int32_t) noexcept;
Slot as_slot(int32_t (*function)(int32_t)) { return reinterpret_cast<Slot>(function); }

TEST(Call, ReturnsWhatTheSlotReturns) { EXPECT_EQ(call(kSite, &twice, 4).value(), 8); }

TEST(Call, TurnsAnExceptionIntoAnErrorThatNamesProviderSlotAndSubject) {
  const Result<int32_t> result = call(kSite, as_slot(&throw_text), 1);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(result.status().message(),
              HasSubstr("compile of TestProvider for partition \"p0\" threw an exception (out of "
                        "tiles)"));
}

TEST(Call, TurnsAnExceptionOfAnyTypeIntoAnError) {
  EXPECT_THAT(call(kSite, as_slot(&throw_number), 1).status().message(),
              HasSubstr("an exception of an unknown type"));
}

TEST(Call, LogsWhatAReleaseThrows) {
  std::string text;
  set_log_sink([&](LoggingLevel, std::string_view message) { text += message; });
  call_release({"TestProvider", "destroy"}, &throw_from_release, static_cast<int*>(nullptr));
  set_log_sink({});
  EXPECT_THAT(text, AllOf(HasSubstr("destroy of TestProvider threw"), HasSubstr("out of tiles")));
}

TEST(Call, FailsWhereALoopOfTheCallFailed) {
  EXPECT_EQ(call(kSite, as_slot(&fail_in_a_loop), 1).status().message(), "the loop failed");
}

TEST(Call, RestoresTheRoundingModeAndWarns) {
  std::string text;
  set_log_sink([&](LoggingLevel, std::string_view message) { text += message; });
  EXPECT_THAT(call(kSite, as_slot(&change_rounding), 1), IsOk());
  set_log_sink({});
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_THAT(
      text,
      HasSubstr("compile of TestProvider for partition \"p0\" changed the floating-point control"));
}

TEST(Call, LetsAThreadEnd) {
  bool is_unwound = false;
  std::thread([&] {
    struct Unwound {
      bool& flag;
      ~Unwound() { flag = true; }
    } const unwound{is_unwound};
    static_cast<void>(call(kSite, as_slot(&end_the_thread), 1));
  }).join();
  EXPECT_TRUE(is_unwound);
}

}  // namespace
}  // namespace ephost::plugin::call_test
