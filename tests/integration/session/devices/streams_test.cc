// Sessions over devices with streams, which work as late as they may and in any order, or in
// threads of their own. The simulated device checks with vector clocks that whatever is enqueued is
// ordered after what it depends on (tests/fixtures/device/streams.h): a run with a wait too few
// fails.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/integration/session/devices/random_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/status_matchers.h"

namespace ephost::streams_test {
namespace {

using test::alternating;
using test::float_type;
using test::floats_of;
using test::GraphBuilder;
using test::Inputs;
using test::IsOk;
using test::kAlternating;
using test::kX;
using test::named_floats;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Streams : public test::DeviceSessions {
 protected:
  Session session_of(graph::Graph graph, OptionList options = {}) {
    auto session = create(write(std::move(graph)), on_device(std::move(options)));
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
};

class TimedStreams : public test::DeviceSession {
 protected:
  [[nodiscard]] static SessionOptions on_device() {
    SessionOptions session;
    session.append_execution_provider("timed");
    session.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    return session;
  }
};

// Half of what the first device leaves is the other one's, the rest the CPU's.
TEST_P(Streams, GiveTheSameBitsAsTheCpuOverTwoDevices) {
  for (uint64_t seed = 0; seed < test::random_model_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomDeviceModel random = test::random_device_model(seed);
    const std::string mine = random.on_device;
    const std::string others = seed % 3 == 0 ? "none" : random.on_other;
    const auto model = write(std::move(random.graph));
    SessionOptions cpu;
    cpu.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    auto expected_session = create(model, cpu);
    ASSERT_THAT(expected_session, IsOk());
    SessionOptions options = on_device({{"nodes", mine},
                                        {"sram", random.in_sram},
                                        {"fuse", seed % 4 == 0 ? "1" : "0"},
                                        {"accepts", std::to_string(seed % 8)},
                                        {"must_share", seed % 3 == 1 ? "Add,Relu" : ""},
                                        {"scratch_bytes", seed % 6 == 2 ? "64" : "0"},
                                        {"workspace_bytes", seed % 5 == 0 ? "100" : "0"}});
    options.append_execution_provider("more_streams", {{"nodes", others},
                                                       {"accepts", std::to_string(seed / 8 % 2)},
                                                       {"seed", std::to_string(seed)}});
    options.enable_mem_pattern(seed % 7 != 0).enable_mem_reuse(seed % 11 != 0);
    if (seed % 2 == 0) {
      options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(3);
    }
    {
      auto session = create(model, options);
      ASSERT_THAT(session, IsOk());
      for (const uint64_t round : {0, 1, 2}) {
        const std::vector<NamedValue> inputs = {
            named_floats("x", {8}, test::random_device_input(seed, round))};
        const auto expected = expected_session->run(inputs);
        const auto outputs = session->run(inputs);
        ASSERT_THAT(outputs, IsOk());
        for (size_t i = 0; i < outputs->size(); ++i) {
          ASSERT_TRUE(std::ranges::equal((*outputs)[i].bytes(), (*expected)[i].bytes()));
        }
      }
    }
    (void)report();
  }
}

TEST_P(Streams, NameTheStepOfALateFailure) {
  for (int step = 0; step < 4; ++step) {
    Session session =
        session_of(alternating(), {{"fail", "compute"}, {"successes", std::to_string(step)}});
    const auto outputs = session.run(Inputs{named_floats("x", {4}, kX)});
    const std::array<const char*, 4> names = {"Add node \"add\"", "Relu node \"relu\"",
                                              "Mul node \"mul\"", "Neg node \"neg\""};
    EXPECT_THAT(outputs.status().message(),
                AllOf(HasSubstr("the kernel hung"), HasSubstr(names[static_cast<size_t>(step)])));
  }
  (void)report();
}

TEST_P(Streams, WorkAgainAfterAFailure) {
  {
    Session session =
        session_of(alternating(), {{"fail", "compute"}, {"successes", "5"}, {"failures", "2"}});
    EXPECT_EQ(run(session, kX), kAlternating);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(session.run(Inputs{named_floats("x", {4}, kX)}).ok());
    }
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run(session, kX), kAlternating);
  }
  (void)report();
}

TEST_P(Streams, SayThatTheDeviceWasLostAndAreThereAgainInTheNextSession) {
  const auto model = write(alternating());
  auto session = create(model, on_device({{"fail", "lost"}, {"successes", "2"}}));
  ASSERT_THAT(session, IsOk());
  for (int i = 0; i < 2; ++i) {
    const auto outputs = session->run(Inputs{named_floats("x", {4}, kX)});
    EXPECT_EQ(outputs.status().code(), StatusCode::kDeviceLost) << outputs.status().to_string();
    EXPECT_THAT(outputs.status().message(), HasSubstr("the device fell off the bus"));
  }
  auto next = create(model, on_device());
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(run(*next, kX), kAlternating);
}

// Wherever memory runs out, nothing leaks and nothing that is in use is released.
TEST_P(Streams, LeakNothingWhereMemoryRunsOut) {
  graph::Graph graph = alternating();
  for (graph::Value& value : graph.values) {
    if (!value.is_constant()) value.type = float_type(graph::Shape{-1});
  }
  const auto model = write(std::move(graph));
  bool has_run = false;
  for (int successes = 0; !has_run; ++successes) {
    ASSERT_LT(successes, 50);
    {
      auto session = create(
          model, on_device({{"fail", "allocate"}, {"successes", std::to_string(successes)}}));
      if (session.ok()) {
        has_run = session->run(Inputs{named_floats("x", {4}, kX)}).ok() &&
                  session->run(Inputs{named_floats("x", {4}, kX)}).ok();
      }
    }
    (void)report();
  }
}

// More steps than are enqueued at once: the rest is never enqueued.
TEST_P(Streams, EndWithTheirRunWhenItIsCancelled) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4}));
  std::string last = "x";
  for (int i = 0; i < 2000; ++i) {
    const std::string next = "v" + std::to_string(i);
    builder.node(i % 2 == 0 ? "Neg" : "Relu", {last}, {next});
    last = next;
  }
  builder.output(last);
  {
    Session session =
        session_of(test::with_type(builder.build(), last, float_type(graph::Shape{4})),
                   {{"kernel_us", "300"}});
    std::atomic<bool> is_cancelled{false};
    RunOptions options;
    options.cancelled = &is_cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      is_cancelled = true;
    });
    const auto outputs = session.run(Inputs{named_floats("x", {4}, kX)}, {}, options);
    canceller.join();
    // Without threads the device does all in the call that waits.
    if (kind_.name == "Threads") {
      EXPECT_EQ(outputs.status().code(), StatusCode::kCancelled) << outputs.status().to_string();
    }
    EXPECT_EQ(run(session, kX), (std::vector<float>{0, 0, 0, 0}));
  }
  (void)report();
}

// The layer "validate" looks at what was made once that is done, and runs it again.
TEST_P(Streams, LeaveResultsAsTheyAreUnderLayers) {
  for (const char* const layers : {"validate", "trace", "validate;trace"}) {
    SCOPED_TRACE(layers);
    {
      SessionOptions options = on_device({{"nodes", "add,relu,neg"}, {"workspace_bytes", "64"}});
      options.add_config_entry("session.layers", layers);
      options.add_config_entry("session.trace.file", (folder_ / "trace.txt").native());
      auto session = create(write(alternating()), options);
      ASSERT_THAT(session, IsOk());
      for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
    }
    (void)report();
  }
}

// The second run with one placement captures, the third launches; then the output moves.
TEST_P(Streams, CaptureWhatKeepsItsPlace) {
  for (const char* const capture : {"auto", "off"}) {
    {
      SessionOptions options = on_device();
      options.add_config_entry("session.capture", capture);
      auto session = create(write(alternating()), options);
      ASSERT_THAT(session, IsOk());
      for (int i = 0; i < 6; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
      EXPECT_EQ(run(*session, {0, 0, 0, 0}), (std::vector<float>{-1, -4, -9, -16}));
    }
    const bool is_captured = kind_.name == "Captured" && capture == std::string("auto");
    EXPECT_EQ(report().captures, is_captured ? 1U : 0U);
  }
}

// More steps than are enqueued at once.
TEST_P(Streams, EnqueueAnyNumberOfSteps) {
  Session session = session_of(test::negations(2000));
  EXPECT_EQ(run(session, kX), kX);
}

// A device of which nothing is allocated for what is enqueued: what is counted is the host's.
TEST_F(TimedStreams, AllocateNothingInTheHostOnceTheyRun) {
  for (const char* const capture : {"auto", "off"}) {
    GraphBuilder builder;
    builder.input("x", float_type(graph::Shape{4}));
    builder.node("Add", {"x", "x"}, {"a"}).node("Add", {"a", "a"}, {"b"});
    builder.node("Abs", {"b"}, {"c"}).node("Add", {"c", "a"}, {"y"}).output("y");
    SessionOptions options = on_device();
    options.add_config_entry("session.capture", capture);
    auto session =
        create(write(test::with_type(builder.build(), "y", float_type(graph::Shape{4}))), options);
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_input("x", *Value::of<float>({4}, kX)), IsOk());
    ASSERT_THAT(binding->bind_output("y", *Value::allocate(ElementType::kFloat, {4})), IsOk());
    for (int i = 0; i < 3; ++i) ASSERT_THAT(session->run(*binding), IsOk());
    const uint64_t before = test::allocations_of_this_thread();
    const Status repeated = session->run(*binding);
    EXPECT_EQ(test::allocations_of_this_thread(), before);  // the matcher allocates
    ASSERT_THAT(repeated, IsOk());
    EXPECT_EQ(floats_of(binding->outputs()[0]), (std::vector<float>{6, 10, 12, 2}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Streams, ::testing::ValuesIn(test::stream_kinds()), test::name_of);

}  // namespace
}  // namespace ephost::streams_test
