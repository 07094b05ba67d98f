// Values that are changed where they are, such as the cache of a decoder, and what else a device
// has for speed: memory for staging, scratch memory, queues of the application.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::device_cache_test {
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// present = cache + token, y = -present.
graph::Graph decoder() {
  const auto row = float_type(graph::Shape{4});
  GraphBuilder builder;
  builder.input("cache", row).input("token", row);
  builder.node("Add", {"cache", "token"}, {"present"}).node("Neg", {"present"}, {"y"});
  builder.output("present").output("y");
  return test::with_type(test::with_type(builder.build(), "present", row), "y", row);
}

class DeviceCache : public test::DeviceSessions {
 protected:
  [[nodiscard]] SessionOptions sharing(OptionList options = {}) const {
    options.push_back({"must_share", "Add"});
    return on_device(std::move(options));
  }
  // Steps of the decoder with one token after the other, from a cache of zeros.
  static void decode(Session& session, const Value& cache, int steps) {
    auto binding = session.create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_input("cache", cache), IsOk());
    ASSERT_THAT(binding->bind_output("present", cache), IsOk());
    for (int step = 1; step <= steps; ++step) {
      const std::vector<float> token(4, static_cast<float>(step));
      ASSERT_THAT(binding->bind_input("token", *Value::of<float>({4}, token)), IsOk());
      ASSERT_THAT(session.run(*binding), IsOk());
      const auto sum = static_cast<float>(step * (step + 1) / 2);
      EXPECT_EQ(floats_of(binding->outputs()[1]), std::vector<float>(4, -sum));
    }
  }
};

// What is copied is one token in, and one result out, for each step.
TEST_P(DeviceCache, NeverLeavesTheDevice) {
  constexpr int kSteps = 8;
  const auto model = write(decoder());
  {
    auto session = create(model, sharing());
    ASSERT_THAT(session, IsOk());
    const Value cache = on_npu({0, 0, 0, 0});
    decode(*session, cache, kSteps);
    EXPECT_THAT(read(cache), ElementsAre(36, 36, 36, 36));
  }
  const DeviceReport counts = report();
  EXPECT_EQ(counts.copies_in, kSteps + 1U);
  EXPECT_EQ(counts.copies_out, kSteps + 1U);
  EXPECT_EQ(counts.copies_within, 0U);
}

TEST_P(DeviceCache, MayLieInHostMemory) {
  auto session = create(write(decoder()), sharing());
  ASSERT_THAT(session, IsOk());
  const Value cache = *Value::allocate(ElementType::kFloat, {4});
  decode(*session, cache, 4);
  EXPECT_THAT(floats_of(cache), ElementsAre(10, 10, 10, 10));
  auto on_host = create(write(decoder()), sharing({{"accepts", "1"}}));
  ASSERT_THAT(on_host, IsOk());
  const Value other = *Value::allocate(ElementType::kFloat, {4});
  decode(*on_host, other, 4);
  EXPECT_THAT(floats_of(other), ElementsAre(10, 10, 10, 10));
}

TEST_P(DeviceCache, IsCopiedWhereTheApplicationKeepsIt) {
  for (const bool is_open : {false, true}) {
    graph::Graph graph = decoder();
    for (graph::Value& value : graph.values) {
      if (is_open) value.type = float_type(graph::Shape{-1});
    }
    const auto model = write(std::move(graph));
    auto session = create(model, sharing());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    const Value cache = on_npu({1, 2, 3, 4}), present = on_npu({0, 0, 0, 0});
    ASSERT_THAT(binding->bind_input("cache", cache), IsOk());
    ASSERT_THAT(binding->bind_output("present", present), IsOk());
    ASSERT_THAT(binding->bind_input("token", *Value::of<float>({4}, kX)), IsOk());
    for (int i = 0; i < 4; ++i) ASSERT_THAT(session->run(*binding), IsOk());
    EXPECT_THAT(read(cache), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(read(present), ElementsAre(2, -3, 5, 3));
    // Nothing is bound for it.
    const auto outputs = session->run(
        Inputs{named_floats("cache", {4}, {1, 2, 3, 4}), named_floats("token", {4}, kX)});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT(floats_of(outputs->at(0)), ElementsAre(2, -3, 5, 3));
  }
}

// Another step reads the cache as it was.
TEST_P(DeviceCache, IsNotChangedUnderItsReaders) {
  const auto row = float_type(graph::Shape{4});
  GraphBuilder builder;
  builder.input("cache", row).input("token", row);
  builder.node("Add", {"cache", "token"}, {"present"}).node("Relu", {"cache"}, {"before"});
  builder.output("present").output("before");
  auto session = create(
      write(test::with_type(test::with_type(builder.build(), "present", row), "before", row)),
      sharing());
  ASSERT_THAT(session, IsOk());
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  const Value cache = on_npu({1, 2, 3, 4});
  ASSERT_THAT(binding->bind_input("cache", cache), IsOk());
  ASSERT_THAT(binding->bind_output("present", cache), IsOk());
  ASSERT_THAT(binding->bind_input("token", *Value::of<float>({4}, std::vector<float>(4, 1))),
              IsOk());
  for (float i = 1; i < 5; ++i) {
    ASSERT_THAT(session->run(*binding), IsOk());
    EXPECT_THAT(read(cache), ElementsAre(1 + i, 2 + i, 3 + i, 4 + i));
    EXPECT_THAT(floats_of(binding->outputs()[1]), ElementsAre(i, 1 + i, 2 + i, 3 + i));
  }
}

TEST_P(DeviceCache, IsCheckedByTheLayers) {
  for (const char* const layers : {"validate", "trace"}) {
    SessionOptions options = sharing({{"scratch_bytes", "100"}});
    options.add_config_entry("session.layers", layers);
    options.add_config_entry("session.trace.file", (folder_ / "trace.txt").native());
    auto session = create(write(decoder()), options);
    ASSERT_THAT(session, IsOk());
    decode(*session, on_npu({0, 0, 0, 0}), 3);
    decode(*session, *Value::allocate(ElementType::kFloat, {4}), 3);
  }
}

TEST_P(DeviceCache, GivesScratchMemoryToEachStep) {
  {
    auto session = create(write(alternating()), on_device({{"scratch_bytes", "5000"}}));
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
    auto scarce =
        create(write(alternating()), on_device({{"scratch_bytes", "5000"}, {"capacity", "4000"}}));
    const Status status =
        scarce.ok() ? scarce->run(Inputs{named_floats("x", {4}, kX)}).status() : scarce.status();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(status.message(), HasSubstr("scratch memory of Add node"));
    EXPECT_THAT(status.message(), HasSubstr("of the 4000 bytes of \"dram\" are free"));
  }
  (void)report();
}

// What passes between the processors lies in memory that the device copies from and to at speed.
TEST_P(DeviceCache, StagesWhatIsCopied) {
  ::setenv("EPHOST_TEST_DEVICE_STAGING", "1", 1);
  {
    auto session = create(write(alternating()), on_device({{"nodes", "add,mul,neg"}}));
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
    auto staged = Value::allocate(memory("pinned"), ElementType::kFloat, {4});
    ASSERT_THAT(staged, IsOk());
    EXPECT_EQ(staged->memory_info(), MemoryInfo::cpu());
    ASSERT_EQ(staged->mutable_elements<float>().size(), 4U);
    std::ranges::copy(kX, staged->mutable_elements<float>().begin());
    const auto outputs = session->run(std::vector<NamedValue>{{"x", *staged}});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ(floats_of(outputs->at(0)), kAlternating);
  }
  ::unsetenv("EPHOST_TEST_DEVICE_STAGING");
  // Two values between the processors in each run, and the last one's input.
  EXPECT_EQ(report().pinned_copies, 4 * 2 + 1U);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceCache, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

class DeviceQueues : public test::DeviceSession {
 protected:
  DeviceQueues() { kind_ = {"Threads", "streams", {{"threads", "1"}}}; }
};

TEST_F(DeviceQueues, MayBeTheApplications) {
  std::atomic<uint64_t> queue{0};
  SessionOptions options = on_device();
  const auto handle = std::to_string(reinterpret_cast<uintptr_t>(&queue));
  options.add_config_entry("session.native_queue.streams", handle);
  auto session = create(write(alternating()), options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(run(*session, kX), kAlternating);
  EXPECT_EQ(queue.load(), 4U);  // the computations, and no copy from or to the host

  SessionOptions wrong = on_device();
  wrong.add_config_entry("session.native_queue.cpu", handle);
  EXPECT_THAT(create(write(alternating()), wrong).status().message(),
              HasSubstr("session.native_queue.cpu gives a queue to a provider that does not use"));
}

// What is enqueued and has not begun is not done once the run is over.
TEST_F(DeviceQueues, AreAbandonedByRunsThatEndEarly) {
  {
    auto session = create(write(test::negations(100)), on_device({{"kernel_us", "20000"}}));
    ASSERT_THAT(session, IsOk());
    RunOptions options;
    options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    const auto outputs = session->run(Inputs{named_floats("x", {4}, kX)}, {}, options);
    EXPECT_EQ(outputs.status().code(), StatusCode::kDeadlineExceeded)
        << outputs.status().to_string();
  }
  EXPECT_GT(report().abandoned, 10U);
}

}  // namespace
}  // namespace ephost::device_cache_test
