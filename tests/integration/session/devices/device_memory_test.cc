// Devices whose memory is scarce, and computations that accept host memory.
#include <gmock/gmock.h>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::device_memory_test {
namespace {

using test::alternating;
using test::DeviceReport;
using test::float_type;
using test::floats_of;
using test::GraphBuilder;
using test::Inputs;
using test::IsOk;
using test::kAlternating;
using test::kX;
using test::named_floats;
using ::testing::HasSubstr;

constexpr int64_t kCount = 65536;  // floats of a value: 256 KiB

// y = Relu(-x), all of it on the device.
graph::Graph large() {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{kCount}));
  builder.node("Neg", {"x"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  return test::with_type(builder.build(), "y", float_type(graph::Shape{kCount}));
}

class DeviceMemory : public test::DeviceSessions {
 protected:
  // What a device needs for one session, and not for two.
  static inline const std::string kCapacity = std::to_string(kCount * 4 * 3 / 2);

  void expect_right(Session& session, float sign) {
    const std::vector<float> x(kCount, sign);
    const auto outputs = session.run(Inputs{named_floats("x", {kCount}, x)});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ(floats_of(outputs->front()), std::vector<float>(kCount, sign < 0 ? -sign : 0.0F));
  }
  // Two sessions take turns on a device that has room for one of them.
  void take_turns(const std::string& keeps_released) {
    const auto model = write(large());
    const SessionOptions options =
        on_device({{"capacity", kCapacity}, {"keep_released", keeps_released}});
    auto first = create(model, options);
    ASSERT_THAT(first, IsOk());
    auto second = create(model, options);
    ASSERT_THAT(second, IsOk());
    for (int round = 0; round < 3; ++round) {
      expect_right(*first, -2);
      expect_right(*second, 3);
      expect_right(*second, -4);
    }
  }
};

TEST_P(DeviceMemory, IsGivenBackByIdleSessionsWhereItRunsOut) {
  take_turns("0");
  (void)report();
}

TEST_P(DeviceMemory, IsGivenBackByThePluginWhereItRunsOut) {
  take_turns("1");
  (void)report();
}

TEST_P(DeviceMemory, IsMissedWithAMessageWhereNobodyGivesItBack) {
  auto session = create(write(large()), on_device({{"capacity", "1000"}}));
  const Status status =
      session.ok()
          ? session->run(Inputs{named_floats("x", {kCount}, std::vector<float>(kCount))}).status()
          : session.status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("the device has 1000 bytes"));
}

// Nothing is copied, not even constants.
TEST_P(DeviceMemory, IsNotNeededWhereComputationsAcceptThatOfTheHost) {
  {
    auto session = create(write(alternating()), on_device({{"accepts", "1"}}));
    ASSERT_THAT(session, IsOk());
    for (int round = 0; round < 3; ++round) EXPECT_EQ(run(*session, kX), kAlternating);
  }
  const DeviceReport counts = report();
  EXPECT_EQ(counts.copies_in, 0U);
  EXPECT_EQ(counts.copies_out, 0U);
}

// The memories are two, and the operators of the second one take the values of the first.
TEST_P(DeviceMemory, MayServeForThatOfAnotherKind) {
  const auto copies_within = [&](const std::string& accepts) {
    {
      auto session = create(write(large()), on_device({{"sram", "Relu"}, {"accepts", accepts}}));
      EXPECT_THAT(session, IsOk());
      if (session.ok()) expect_right(*session, -1);
    }
    return report().copies_within;
  };
  EXPECT_EQ(copies_within("0"), 1U);
  EXPECT_EQ(copies_within("2"), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceMemory, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::device_memory_test
