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
  // The failure of making a session, or of its first run.
  Status try_to_run(const std::filesystem::path& model, const SessionOptions& options) {
    auto session = create(model, options);
    if (!session.ok()) return session.status();
    return session->run(Inputs{named_floats("x", {kCount}, std::vector<float>(kCount))}).status();
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
  const Status status = try_to_run(write(large()), on_device({{"capacity", "1000"}}));
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

// y = (x + w) * v: the constants have the size of the values, and v is w plus `difference`.
graph::Graph weighted(float difference) {
  std::vector<float> w(kCount);
  for (int64_t i = 0; i < kCount; ++i) w[i] = static_cast<float>(i % 251);
  std::vector<float> v = w;
  for (float& element : v) element += difference;
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{kCount}));
  builder.constant("w", test::constant(w)).constant("v", test::constant(v));
  builder.node("Add", {"x", "w"}, {"a"}).node("Mul", {"a", "v"}, {"y"}).output("y");
  return test::with_type(builder.build(), "y", float_type(graph::Shape{kCount}));
}

void expect_weighted(Session& session, float x, float difference) {
  const auto outputs =
      session.run(Inputs{named_floats("x", {kCount}, std::vector<float>(kCount, x))});
  ASSERT_THAT(outputs, IsOk());
  const std::vector<float> y = floats_of(outputs->front());
  for (int64_t i = 0; i < kCount; ++i) {
    const auto w = static_cast<float>(i % 251);
    ASSERT_EQ(y[i], (x + w) * (w + difference)) << "element " << i;
  }
}

// Both constants of all sessions are one block, and the device has room for it and for values.
TEST_P(DeviceMemory, HoldsEqualConstantsOfAllSessionsOnce) {
  const auto model = write(weighted(0));
  {
    std::vector<Session> sessions;
    const SessionOptions options =
        on_device({{"capacity", std::to_string(kCount * 4 * 7 / 2)}, {"keep_released", "0"}});
    for (int i = 0; i < 4; ++i) {
      auto session = create(model, options);
      ASSERT_THAT(session, IsOk());
      sessions.push_back(std::move(*session));
    }
    for (Session& session : sessions) expect_weighted(session, 2, 0);
    sessions.erase(sessions.begin());  // which has put them there
    for (Session& session : sessions) expect_weighted(session, 3, 0);
  }
  EXPECT_EQ(report().copies_in, 1U + 7U);
}

TEST_P(DeviceMemory, HoldsOtherConstantsOfTheSameSizeApart) {
  const auto equal = write(weighted(0));
  const auto other = test::write_model(folder_ / "other.onnx", weighted(1));
  {
    auto first = create(equal, on_device());
    auto second = create(other, on_device());
    ASSERT_THAT(first, IsOk());
    ASSERT_THAT(second, IsOk());
    expect_weighted(*first, 2, 0);
    expect_weighted(*second, 2, 1);
  }
  EXPECT_EQ(report().copies_in, 2U + 2U);
}

TEST_P(DeviceMemory, OfASessionHasALimit) {
  const auto model = write(large());
  const auto limited = [&](int64_t bytes) {
    SessionOptions options = on_device();
    options.add_config_entry("session.device_memory_limit", std::to_string(bytes));
    return options;
  };
  {
    auto session = create(model, limited(kCount * 4 * 2));
    ASSERT_THAT(session, IsOk());
    expect_right(*session, -2);
  }
  const Status status = try_to_run(model, limited(kCount * 4 - 1));
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("raise session.device_memory_limit"));
}

INSTANTIATE_TEST_SUITE_P(All, DeviceMemory, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::device_memory_test
