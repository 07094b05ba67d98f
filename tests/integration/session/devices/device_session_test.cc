// Sessions whose steps run on a device and on the CPU: copies, memories, control flow, and the same
// bits as without the device.
#include <gmock/gmock.h>

#include <thread>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/integration/session/devices/random_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/status_matchers.h"

namespace ephost::device_session_test {
namespace {

using test::alternating;
using test::constant;
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

using DeviceSession = test::DeviceSession;
using DeviceSessions = test::DeviceSessions;

std::vector<std::string> steps_of(const Session& session) {
  const runtime::Program& program = *inside(session).model()->base->program;
  std::vector<std::string> names;
  for (const plan::Step& step : program.steps()) {
    names.push_back(program.graph().nodes[step.node].name);
  }
  return names;
}

TEST_P(DeviceSessions, RunsAModelOnTheDeviceAlone) {
  const auto model = write(alternating());
  for (const char* workspace : {"0", "1000"}) {
    {
      auto session = create(model, on_device({{"workspace_bytes", workspace}}));
      ASSERT_THAT(session, IsOk());
      EXPECT_THAT(steps_of(*session),
                  ElementsAre("x to " + at("dram"), "add", "relu", "mul", "neg", "y to host"));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
    }
    const DeviceReport counts = report();
    EXPECT_EQ(counts.copies_in, 1U + 3U) << "the constant once, the input in each run";
    EXPECT_EQ(counts.copies_out, 3U);
    EXPECT_EQ(counts.allocated, 2U) << "constants, and one block";
  }
}

// A run may give another w, so that it is copied in each run.
TEST_P(DeviceSessions, CopiesTheValueThatAnOverridableInitializerHasInTheRun) {
  graph::Graph graph = alternating();
  graph.inputs.push_back(graph.find_value("w"));
  graph::connect(graph);
  {
    auto session = create(write(std::move(graph)), on_device());
    ASSERT_THAT(session, IsOk());
    ASSERT_EQ(session->overridable_initializers().size(), 1U);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(run(*session, kX), kAlternating);
      const auto outputs =
          session->run(Inputs{named_floats("x", {4}, kX), named_floats("w", {4}, {-1, 6, 0, 1})});
      ASSERT_THAT(outputs, IsOk());
      EXPECT_THAT(floats_of(outputs->front()), ElementsAre(0, -6, 0, 0));
    }
  }
  EXPECT_EQ(report().copies_in, 4 * 2U);
}

TEST_P(DeviceSessions, CopiesNoConstantThatNobodyReadsThere) {
  {
    auto session = create(write(alternating()), on_device({{"pack", "1"}}));
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
  }
  const DeviceReport counts = report();
  EXPECT_EQ(counts.copies_in, 3U) << "the input only";
  EXPECT_EQ(counts.allocated, 1U) << "no block of constants";
}

TEST_P(DeviceSessions, CopiesWhereLocationsChange) {
  {
    auto session = create(write(alternating()), on_device({{"nodes", "add,mul"}}));
    ASSERT_THAT(session, IsOk());
    EXPECT_THAT(steps_of(*session), ElementsAre("x to " + at("dram"), "add", "a to host", "relu",
                                                "b to " + at("dram"), "mul", "c to host", "neg"));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
  }
  const DeviceReport counts = report();
  EXPECT_EQ(counts.copies_in, 1U + 2 * 2U);
  EXPECT_EQ(counts.copies_out, 2 * 2U);
}

TEST_P(DeviceSessions, CopiesWithinTheDeviceBetweenItsMemories) {
  {
    auto session = create(write(alternating()), on_device({{"sram", "Relu,Neg"}}));
    ASSERT_THAT(session, IsOk());
    EXPECT_THAT(steps_of(*session),
                ElementsAre("x to " + at("dram"), "add", "a to " + at("sram"), "relu",
                            "b to " + at("dram"), "mul", "c to " + at("sram"), "neg", "y to host"));
    EXPECT_EQ(inside(*session).model()->base->program->pattern().blocks.size(), 2U);
    EXPECT_EQ(inside(*session).model()->base->program->pattern().blocks[1].alignment, 256U);
    EXPECT_EQ(run(*session, kX), kAlternating);
  }
  EXPECT_EQ(report().copies_within, 3U);
}

TEST_P(DeviceSessions, RunsPartitions) {
  {
    auto session = create(write(alternating()), on_device({{"fuse", "1"}}));
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(inside(*session).prepared().partition_count(), 2U);
    EXPECT_EQ(run(*session, kX), kAlternating);
  }
  EXPECT_EQ(report().copies_out, 1U);
}

TEST_P(DeviceSessions, RunsWithoutPatternAndWithoutReuse) {
  const auto model = write(alternating());
  for (const bool reuse : {true, false}) {
    SessionOptions options = on_device({{"workspace_bytes", "64"}});
    options.enable_mem_pattern(false).enable_mem_reuse(reuse);
    auto session = create(model, options);
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
  }
  (void)report();
}

// Reshape reads the shape in host memory; its output is a view on the device.
TEST_P(DeviceSessions, ReadsAShapeInHostMemory) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4}))
      .input("shape", graph::testing::tensor_type(ElementType::kInt64, graph::Shape{2}));
  builder.node("Relu", {"x"}, {"a"}).node("Reshape", {"a", "shape"}, {"b"});
  builder.node("Neg", {"b"}, {"y"}).output("y");
  {
    auto session = create(write(test::with_type(builder.build(), "y", float_type())), on_device());
    ASSERT_THAT(session, IsOk());
    Value shape = *Value::of<int64_t>({2}, std::vector<int64_t>{2, -1});
    for (int i = 0; i < 3; ++i) {
      const auto outputs = session->run(Inputs{named_floats("x", {4}, kX), {"shape", shape}});
      ASSERT_THAT(outputs, IsOk());
      EXPECT_THAT(outputs->front().shape(), ElementsAre(2, 2));
      EXPECT_EQ(floats_of(outputs->front()), (std::vector<float>{-1, 0, -2, 0}));
    }
  }
  EXPECT_EQ(report().copies_in, 3U) << "x only";
}

TEST_P(DeviceSessions, RunsWithChangingShapes) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{-1})).constant("w", constant({2}));
  builder.node("Add", {"x", "w"}, {"a"}).node("Abs", {"a"}, {"b"}).node("Neg", {"b"}, {"c"});
  builder.node("Sub", {"c", "a"}, {"y"}).output("y");
  {
    auto session =
        create(write(test::with_type(builder.build(), "y", float_type(graph::Shape{-1}))),
               on_device({{"workspace_bytes", "16"}}));
    ASSERT_THAT(session, IsOk());
    EXPECT_FALSE(inside(*session).model()->base->program->is_static());
    for (const int64_t count : {3, 3, 3, 100, 0, 1, 3, 100, 0}) {
      std::vector<float> x;
      std::vector<float> expected;
      for (int64_t i = 0; i < count; ++i) {
        x.push_back(static_cast<float>(i) - 5);
        expected.push_back(-std::abs(x.back() + 2) - (x.back() + 2));
      }
      EXPECT_EQ(run(*session, x), expected);
    }
  }
  (void)report();
}

TEST_P(DeviceSessions, TakesInputsAndConstantsForOutputs) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{2})).constant("w", constant({3, 4}));
  builder.node("Identity", {"w"}, {"v"}).node("Identity", {"x"}, {"y"});
  builder.node("Neg", {"x"}, {"unused"});
  builder.output("y").output("v").output("y");
  graph::Graph graph = test::with_type(builder.build(), "y", float_type(graph::Shape{2}));
  graph = test::with_type(std::move(graph), "v", float_type(graph::Shape{2}));
  SessionOptions options = on_device();
  {
    auto session = create(write(std::move(graph)), options);
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 2; ++i) {
      const auto outputs = session->run(Inputs{named_floats("x", {2}, {1, 2})});
      ASSERT_THAT(outputs, IsOk());
      EXPECT_EQ(floats_of((*outputs)[0]), (std::vector<float>{1, 2}));
      EXPECT_EQ(floats_of((*outputs)[1]), (std::vector<float>{3, 4}));
      EXPECT_EQ(floats_of((*outputs)[2]), (std::vector<float>{1, 2}));
    }
  }
  (void)report();
}

TEST_P(DeviceSessions, RunsControlFlow) {
  const auto model = write(test::nested_flow());
  for (const auto mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
    {
      SessionOptions options = on_device();
      options.set_execution_mode(mode).set_inter_op_num_threads(3);
      auto session = create(model, options);
      ASSERT_THAT(session, IsOk());
      const std::vector<float> x = {0.5F, -1.25F};
      for (const int64_t count : {3, 0, 1, 17}) {
        for (const bool condition : {true, false}) {
          const auto outputs = session->run(test::nested_flow_inputs(count, condition, x));
          ASSERT_THAT(outputs, IsOk());
          test::expect_nested_flow(*outputs, count, condition, x);
        }
      }
    }
    (void)report();
  }
}

TEST_P(DeviceSessions, GivesTheSameBitsAsTheCpuForRandomModels) {
  // Streams have more of their own (streams_test.cc).
  const uint64_t models = kind_.provider == "device" ? 150 : 30;
  uint64_t copies = 0;
  for (uint64_t seed = 0; seed < models; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomDeviceModel random = test::random_device_model(seed);
    const std::string nodes = random.on_device;
    const auto model = write(std::move(random.graph));
    SessionOptions cpu;
    cpu.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    auto expected_session = create(model, cpu);
    ASSERT_THAT(expected_session, IsOk());
    for (const auto mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
      const OptionList options = {{"nodes", nodes},
                                  {"sram", random.in_sram},
                                  {"fuse", seed % 4 == 0 ? "1" : "0"},
                                  {"workspace_bytes", seed % 5 == 0 ? "100" : "0"}};
      {
        SessionOptions session_options = on_device(options);
        session_options.set_execution_mode(mode).set_inter_op_num_threads(3);
        session_options.enable_mem_pattern(seed % 7 != 0);
        auto session = create(model, session_options);
        ASSERT_THAT(session, IsOk());
        for (const uint64_t round : {0, 1, 2}) {
          const std::vector<NamedValue> inputs = {
              named_floats("x", {8}, test::random_device_input(seed, round))};
          const auto expected = expected_session->run(inputs);
          const auto outputs = session->run(inputs);
          ASSERT_THAT(outputs, IsOk());
          ASSERT_EQ(outputs->size(), expected->size());
          for (size_t i = 0; i < outputs->size(); ++i) {
            EXPECT_TRUE(std::ranges::equal((*outputs)[i].bytes(), (*expected)[i].bytes()));
          }
        }
      }
      const DeviceReport counts = report();
      copies += counts.copies_in + counts.copies_out + counts.copies_within;
    }
  }
  EXPECT_GT(copies, models * 13);
}

TEST_P(DeviceSessions, ShowsCopiesInTheProfile) {
  const auto profile = folder_ / "profile.json";
  SessionOptions options = on_device({{"nodes", "mul"}});
  options.enable_profiling(profile);
  {
    auto session = create(write(alternating()), options);
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(run(*session, kX), kAlternating);
    ASSERT_THAT(session->end_profiling(), IsOk());
  }
  const std::string text = test::read(profile);
  EXPECT_THAT(text, HasSubstr("b to " + at("dram")));
  EXPECT_THAT(text, HasSubstr("Memcpy"));
}

// The synchronous device; streams_test.cc has the same for streams.
TEST_F(DeviceSession, AllocatesNothingInTheHostOnceItRuns) {
  for (const char* nodes : {"", "add,mul"}) {
    auto session = create(write(alternating()), on_device({{"nodes", nodes}}));
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_input("x", *Value::of<float>({4}, kX)), IsOk());
    ASSERT_THAT(binding->bind_output("y", *Value::allocate(ElementType::kFloat, {4})), IsOk());
    ASSERT_THAT(session->run(*binding), IsOk());
    const uint64_t before = test::allocations_of_this_thread();
    const Status repeated = session->run(*binding);
    EXPECT_EQ(test::allocations_of_this_thread(), before);  // the matcher allocates
    ASSERT_THAT(repeated, IsOk());
    EXPECT_EQ(floats_of(binding->outputs()[0]), kAlternating);
  }
}

TEST_P(DeviceSessions, RunsFromSeveralThreadsAtOnce) {
  {
    auto session = create(write(alternating()), on_device({{"nodes", "add,mul"}}));
    ASSERT_THAT(session, IsOk());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(report().copies_in, 1U + 2 * 100U);
}

graph::Graph identity() {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4})).node("Identity", {"x"}, {"a"});
  builder.node("Neg", {"a"}, {"y"}).output("y");
  return test::with_type(builder.build(), "y", float_type(graph::Shape{4}));
}

TEST_P(DeviceSessions, CopiesATensorThatIsSetAsAnOutput) {
  {
    auto session = create(write(identity()), on_device({{"identity", "makes"}}));
    ASSERT_THAT(session, IsOk());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run(*session, kX), (std::vector<float>{-1, 5, -2, 1}));
  }
  EXPECT_EQ(report().copies_in, 2 * 2U);
}

TEST_P(DeviceSessions, DoesNotTakeAnInputOnTheDeviceForAnOutput) {
  auto session = create(write(identity()), on_device({{"identity", "hands_on"}}));
  ASSERT_THAT(session, IsOk());
  const auto outputs = session->run(Inputs{named_floats("x", {4}, kX)});
  EXPECT_THAT(outputs.status().message(), HasSubstr("an input that lies in device memory cannot be "
                                                    "handed on"));
}

INSTANTIATE_TEST_SUITE_P(All, DeviceSessions, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::device_session_test
