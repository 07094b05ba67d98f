#include "host/bridge/collect/event_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/bridge/abi_text.h"
#include "host/bridge/error_sink.h"

namespace ephost::bridge::event_collector_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

eph_event sound_event() {
  eph_event event = {};
  event.struct_size = sizeof(event);
  event.name = EPH_STRING("copy");
  event.category = EPH_STRING("transfer");
  event.track = EPH_STRING("queue 3");
  event.begin_ns = 1'000;
  event.duration_ns = 50;
  return event;
}

// Why an event is refused; empty if it is taken.
std::string problem_with(const eph_event& event) {
  EventCollector events("AcmeExecutionProvider");
  ErrorSink error;
  const int32_t code = events.api->add(&events, &event, &error);
  const ProviderEvents taken = events.take();
  EXPECT_EQ(code == EPH_OK, taken.problem.ok());
  EXPECT_EQ(taken.events.size(), taken.problem.ok() ? 1U : 0U);
  return taken.problem.message();
}

TEST(EventCollector, CopiesWhatAnEventStates) {
  EventCollector events("x");
  ErrorSink error;
  std::string name = "copy";
  const eph_key_value arguments[] = {{EPH_STRING("bytes"), EPH_STRING("4096")}};
  eph_event event = sound_event();
  event.name = to_abi(name);
  event.clock = EPH_CLOCK_DEVICE;
  event.host_offset_ns = -400;
  event.run_id = 7;
  event.arguments = arguments;
  event.argument_count = 1;
  ASSERT_EQ(events.api->add(&events, &event, &error), EPH_OK);
  name = "????";
  const ProviderEvents taken = events.take();
  ASSERT_EQ(taken.events.size(), 1U);
  EXPECT_EQ(taken.events[0].name, "copy");
  EXPECT_EQ(taken.events[0].category, "transfer");
  EXPECT_EQ(taken.events[0].track, "queue 3");
  EXPECT_EQ(taken.events[0].start.time_since_epoch(), std::chrono::nanoseconds(600));
  EXPECT_EQ(taken.events[0].length, std::chrono::nanoseconds(50));
  EXPECT_THAT(taken.events[0].arguments, ElementsAre(Pair("run", "7"), Pair("bytes", "4096")));
}

TEST(EventCollector, RefusesTextThatCannotBeShown) {
  eph_event event = sound_event();
  event.track = EPH_STRING("\xff\xfe");
  EXPECT_THAT(problem_with(event), HasSubstr("has a track that is not UTF-8"));
  event = sound_event();
  event.category = {nullptr, 4};
  EXPECT_THAT(problem_with(event), HasSubstr("has a category at a null pointer"));
  event.category = {"x", uint64_t{1} << 60};
  EXPECT_THAT(problem_with(event), HasSubstr("has a category of 1152921504606846976 bytes"));
}

TEST(EventCollector, RefusesTimesThatTheHostsClockDoesNotHave) {
  eph_event event = sound_event();
  event.begin_ns = UINT64_MAX;
  EXPECT_THAT(problem_with(event), HasSubstr("takes place at no time of the host's clock"));
  event = sound_event();
  event.duration_ns = UINT64_MAX - 5;
  EXPECT_THAT(problem_with(event), HasSubstr("takes place at no time"));
  event = sound_event();
  event.clock = EPH_CLOCK_DEVICE;
  event.host_offset_ns = -2'000;
  EXPECT_THAT(problem_with(event), HasSubstr("takes place at no time"));
  event.host_offset_ns = INT64_MAX;
  EXPECT_THAT(problem_with(event), HasSubstr("takes place at no time"));
}

TEST(EventCollector, RefusesClocksThatItDoesNotKnow) {
  eph_event event = sound_event();
  event.clock = 2;
  EXPECT_THAT(problem_with(event), HasSubstr("has the clock 2"));
  event.clock = EPH_CLOCK_HOST;
  event.host_offset_ns = 1;
  EXPECT_THAT(problem_with(event), HasSubstr("has the clock 0 with a host_offset_ns of 1"));
}

TEST(EventCollector, RefusesArgumentsThatCannotBeShown) {
  const eph_key_value bad[] = {{EPH_STRING("key"), EPH_STRING("\xc3")}};
  eph_event event = sound_event();
  event.arguments = bad;
  event.argument_count = 1;
  EXPECT_THAT(problem_with(event), HasSubstr("has a value of an argument that is not UTF-8"));
  event.argument_count = uint64_t{1} << 40;
  EXPECT_THAT(problem_with(event), HasSubstr("add of AcmeExecutionProvider: arguments has"));
}

TEST(EventCollector, KeepsTheOthersAndTheFirstReason) {
  EventCollector events("x");
  ErrorSink error;
  eph_event event = sound_event();
  event.name = EPH_STRING("\xff");
  EXPECT_NE(events.api->add(&events, &event, &error), EPH_OK);
  event.name = EPH_STRING("fine");
  EXPECT_EQ(events.api->add(&events, &event, &error), EPH_OK);
  event.clock = 9;
  EXPECT_NE(events.api->add(&events, &event, &error), EPH_OK);
  const ProviderEvents taken = events.take();
  EXPECT_EQ(taken.events.size(), 1U);
  EXPECT_THAT(taken.problem.message(), HasSubstr("a name that is not UTF-8"));
}

}  // namespace
}  // namespace ephost::bridge::event_collector_test
