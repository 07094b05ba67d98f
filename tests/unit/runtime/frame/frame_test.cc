#include "host/runtime/frame/frame.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/allocation_counter.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/machine.h"

namespace ephost::runtime::frame_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::floats;
using testing::Machine;
using testing::typed;

graph::Graph chain() {
  GraphBuilder builder;
  builder.input("x", floats({2, 2}));
  builder.node("Negate", {"x"}, {"a"});
  builder.node("Relu", {"a"}, {"b"});
  builder.node("Add", {"b", "x"}, {"y"}).output("y");
  return typed(builder.build(), floats({2, 2}));
}

TEST(Frame, RunsAStaticGraphWithoutTracingAnything) {
  Machine machine(chain());
  EXPECT_TRUE(machine.program().is_static());
  EXPECT_EQ(machine.floats({2, 2}, {1, -2, 3, -4}), (std::vector<float>{1, 0, 3, 0}));
}

// y = Negate(second half of x ++ Relu(first half of x))
graph::Graph swapped_halves(bool is_output) {
  GraphBuilder builder;
  builder.input("x", floats({32})).node("Negate", {"x"}, {"n"}).node("Halve", {"n"}, {"a", "b"});
  builder.node("Relu", {"a"}, {"r"}).node("Negate", {"b"}, {"m"}).node("Join", {"m", "r"}, {"j"});
  if (!is_output) builder.node("Relu", {"j"}, {"y"});
  builder.output(is_output ? "j" : "y");
  graph::Graph graph = typed(builder.build(), floats({16}));
  for (const char* name : {"x", "n", "j", "y"}) {
    const graph::ValueId id = graph.find_value(name);
    if (id != graph::kNoValue) graph.values[id].type = floats({32});
  }
  return graph;
}

TEST(Frame, PartsLieInTheirWholesAndAreNotCopied) {
  std::vector<float> x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 20;
  std::vector<float> expected(32, 0);
  for (size_t i = 0; i < 16; ++i) {
    expected[i] = std::max(x[16 + i], 0.0F);
    expected[16 + i] = std::max(-x[i], 0.0F);
  }
  testing::observed().in_place = 0;
  Machine machine(swapped_halves(false));
  EXPECT_EQ(machine.floats({32}, x), expected);
  // Both halves, both inputs of Join, and the last Relu. The first Relu writes into Join's output.
  EXPECT_EQ(testing::observed().in_place, 5);
  // Without a pattern, only Relu works in place.
  testing::observed().in_place = 0;
  Machine copying(swapped_halves(false), {.memory = {.enable_mem_pattern = false}});
  EXPECT_EQ(copying.floats({32}, x), expected);
  EXPECT_EQ(testing::observed().in_place, 2);
}

TEST(Frame, PartsLieInAnOutputOfTheCaller) {
  std::vector<float> x(32, -1.0F);
  testing::observed().in_place = 0;
  Machine machine(swapped_halves(true));
  std::vector<float> expected(32, -1.0F);
  std::fill(expected.begin() + 16, expected.end(), 1.0F);
  EXPECT_EQ(machine.floats({32}, x), expected);
  EXPECT_GE(testing::observed().in_place, 4);
}

// The memory that a frame holds is bounded by what one run needs.
TEST(Frame, RunsOfEverChangingShapesDoNotAddUp) {
  GraphBuilder builder;
  builder.input("x", floats({graph::symbolic_dim(0)}));
  builder.node("Negate", {"x"}, {"a"}).node("Negate", {"a"}, {"b"}).node("Add", {"a", "b"}, {"c"});
  builder.node("Negate", {"c"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({graph::symbolic_dim(0)})), {.symbols = {"n"}});
  uint64_t most = 0;
  for (int64_t n = 1; n <= 3000; ++n) {
    const int64_t extent = n * 7919 % 1000 + 1;
    const std::vector<float> x(static_cast<size_t>(extent), 1.0F);
    ASSERT_EQ(machine.floats({extent}, x).size(), x.size());
    most = std::max(most, machine.frame().held_bytes());
  }
  // At most four values, in the block and in the pool.
  EXPECT_LE(most, 2 * 4 * 1001 * sizeof(float) + 1024);
  EXPECT_EQ(machine.program().patterns().size(), 16U);
}

TEST(Frame, WorksInPlaceWhereThePlanSaysSo) {
  testing::observed().in_place = 0;
  Machine machine(chain());
  machine.floats({2, 2}, {1, -2, 3, -4});
  EXPECT_EQ(testing::observed().in_place, 1);
}

TEST(Frame, AllocatesNothingInTheSecondRunOfAStaticGraph) {
  Machine machine(chain());
  const Value x = *Value::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  const std::vector<const Value*> inputs = {&x};
  std::vector<Value> outputs;
  ASSERT_THAT(machine.run(inputs, outputs), IsOk());
  const uint64_t before = test::allocations_of_this_thread();
  const Status second = machine.frame().run(inputs, outputs, {});
  EXPECT_EQ(test::allocations_of_this_thread(), before);
  EXPECT_THAT(second, IsOk());
}

TEST(Frame, WritesIntoTheOutputsThatTheCallerBrings) {
  Machine machine(chain());
  const Value x = *Value::of<float>({2, 2}, std::vector<float>{1, -2, 3, -4});
  std::vector<float> memory(4);
  std::vector<Value> outputs = {
      *Value::borrow(ElementType::kFloat, {2, 2}, std::as_writable_bytes(std::span(memory)))};
  ASSERT_THAT(machine.run({&x}, outputs), IsOk());
  EXPECT_EQ(memory, (std::vector<float>{1, 0, 3, 0}));
}

TEST(Frame, ReplacesAnOutputOfAnotherShape) {
  Machine machine(chain());
  const Value x = *Value::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  std::vector<Value> outputs = {*Value::allocate(ElementType::kFloat, {7})};
  ASSERT_THAT(machine.run({&x}, outputs), IsOk());
  EXPECT_EQ(outputs[0].shape(), (std::vector<int64_t>{2, 2}));
}

TEST(Frame, NamesTheInputThatIsMissing) {
  Machine machine(chain());
  std::vector<Value> outputs;
  const Status status = machine.run({nullptr}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "input \"x\" is missing; it has no default, so pass a value");
}

TEST(Frame, NamesTheInputWhoseTypeOrShapeIsWrong) {
  Machine machine(chain());
  std::vector<Value> outputs;
  const Value flat = *Value::of<float>({4}, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(machine.run({&flat}, outputs).message(),
            "input \"x\" got float[4], the model wants float[2,2]");
  const Value integers = *Value::of<int64_t>({2, 2}, std::vector<int64_t>{1, 2, 3, 4});
  EXPECT_EQ(machine.run({&integers}, outputs).message(),
            "input \"x\" got int64[2,2], the model wants float[2,2]");
}

TEST(Frame, RefusesInputsThatDisagreeAboutASymbol) {
  GraphBuilder builder;
  builder.input("a", floats({graph::symbolic_dim(0)}));
  builder.input("b", floats({graph::symbolic_dim(0)}));
  builder.node("Add", {"a", "b"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({graph::symbolic_dim(0)})), {.symbols = {"batch"}});
  const Value two = *Value::of<float>({2}, std::vector<float>{1, 2});
  const Value three = *Value::of<float>({3}, std::vector<float>{1, 2, 3});
  std::vector<Value> outputs;
  EXPECT_EQ(machine.run({&two, &three}, outputs).message(),
            "input \"b\" has extent 3 for \"batch\", which is 2 in another input; make them equal");
  EXPECT_THAT(machine.run({&two, &two}, outputs), IsOk());
}

TEST(Frame, RefusesAnInputThatDisagreesWithADefaultAboutASymbol) {
  GraphBuilder builder;
  builder.constant("a", float_tensor({5, -6}));
  builder.input("a", floats({graph::symbolic_dim(0)}));
  builder.input("b", floats({graph::symbolic_dim(0)}));
  builder.node("Add", {"a", "b"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({graph::symbolic_dim(0)})), {.symbols = {"batch"}});
  const Value two = *Value::of<float>({2}, std::vector<float>{1, 2});
  const Value three = *Value::of<float>({3}, std::vector<float>{1, 2, 3});
  std::vector<Value> outputs;
  EXPECT_EQ(machine.run({nullptr, &three}, outputs).message(),
            "input \"b\" has extent 3 for \"batch\", which is 2 in another input; make them equal");
  EXPECT_THAT(machine.run({nullptr, &two}, outputs), IsOk());
  EXPECT_THAT(machine.run({&three, &three}, outputs), IsOk());
}

TEST(Frame, UsesTheDefaultOfAnInput) {
  GraphBuilder builder;
  builder.constant("x", float_tensor({5, -6}));
  builder.input("x", floats({2}));
  builder.node("Relu", {"x"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({2})));
  std::vector<Value> outputs;
  ASSERT_THAT(machine.run({nullptr}, outputs), IsOk());
  EXPECT_EQ(outputs[0].elements<float>()[0], 5);
  EXPECT_EQ(machine.floats({2}, {-1, 8}), (std::vector<float>{0, 8}));
}

TEST(Frame, FollowsShapesThatChangeFromRunToRun) {
  const graph::ValueType open = floats({graph::symbolic_dim(0), 2});
  GraphBuilder builder;
  builder.input("x", open);
  builder.node("Negate", {"x"}, {"a"});
  builder.node("Relu", {"a"}, {"b"});
  builder.node("Negate", {"b"}, {"c"});
  builder.node("Add", {"c", "a"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), open), {.symbols = {"batch"}});
  EXPECT_FALSE(machine.program().is_static());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(machine.floats({1, 2}, {1, -2}), (std::vector<float>{-1, 0}));
    EXPECT_EQ(machine.floats({2, 2}, {1, -2, 3, -4}), (std::vector<float>{-1, 0, -3, 0}));
  }
}

TEST(Frame, PlacesARunWithKnownShapesByTheTracedPattern) {
  const graph::ValueType open = floats({graph::symbolic_dim(0)});
  GraphBuilder builder;
  builder.input("x", open);
  builder.node("Negate", {"x"}, {"a"});
  builder.node("Negate", {"a"}, {"b"});
  builder.node("Negate", {"b"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), open), {.symbols = {"batch"}});
  EXPECT_EQ(machine.program().patterns().find({1, 3}), nullptr);
  machine.floats({3}, {1, 2, 3});
  const auto traced = machine.program().patterns().find({1, 3});
  ASSERT_NE(traced, nullptr);
  ASSERT_EQ(traced->pattern.blocks.size(), 1U);
  EXPECT_EQ(traced->pattern.blocks[0].bytes, 128U);
  EXPECT_EQ(machine.floats({3}, {1, 2, 3}), (std::vector<float>{-1, -2, -3}));
}

// A pattern that has only empty values has no block.
TEST(Frame, RunsEmptyValuesAgainByTheirTracedPattern) {
  GraphBuilder builder;
  builder.input("x", floats({graph::symbolic_dim(0)}));
  builder.node("Negate", {"x"}, {"a"}).node("Add", {"a", "a"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({graph::symbolic_dim(0)})), {.symbols = {"n"}});
  const Value x = *Value::of<float>({0}, std::vector<float>{});
  for (int run = 0; run < 3; ++run) {
    std::vector<Value> outputs;
    const Status status = machine.run({&x}, outputs);
    ASSERT_THAT(status, IsOk()) << "run " << run;
    EXPECT_EQ(outputs[0].shape(), std::vector<int64_t>{0});
  }
}

TEST(Frame, AllocatesWhatNoPatternPlaces) {
  plan::MemoryOptions memory;
  memory.enable_mem_pattern = false;
  Machine machine(chain(), {.memory = memory});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(machine.floats({2, 2}, {1, -2, 3, -4}), (std::vector<float>{1, 0, 3, 0}));
  }
}

TEST(Frame, TakesOutputsWhoseSizeOnlyTheKernelKnows) {
  GraphBuilder builder;
  builder.input("x", floats({4}));
  builder.node("Positives", {"x"}, {"p"});
  builder.node("Negate", {"p"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), tensor_type(ElementType::kFloat)));
  EXPECT_EQ(machine.floats({4}, {1, -2, 3, -4}), (std::vector<float>{-1, -3}));
  EXPECT_EQ(machine.floats({4}, {1, 2, 3, 4}), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(machine.floats({4}, {-1, -2, -3, -4}), std::vector<float>());
  EXPECT_EQ(machine.floats({4}, {-1, -2, 3, -4}), (std::vector<float>{-3}));
}

TEST(Frame, LearnsATypeThatTheModelDoesNotState) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Negate", {"x"}, {"a"});
  builder.node("Negate", {"a"}, {"y"}).output("y");
  Machine machine(builder.build());
  EXPECT_EQ(machine.floats({2}, {1, -2}), (std::vector<float>{1, -2}));
}

TEST(Frame, ViewsShareTheMemoryOfAnInput) {
  GraphBuilder builder;
  builder.input("x", floats({2, 2}));
  builder.node("Reshape", {"x"}, {"flat"});
  builder.node("Negate", {"flat"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({4})));
  EXPECT_EQ(machine.floats({2, 2}, {1, 2, 3, 4}), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(machine.floats({2, 2}, {5, 6, 7, 8}), (std::vector<float>{-5, -6, -7, -8}));
}

// The views of "x", and "a", which lies in the memory of the output that it becomes.
TEST(Frame, FollowsInputsAndOutputsThatMove) {
  GraphBuilder builder;
  builder.input("x", floats({4}));
  builder.node("Reshape", {"x"}, {"flat"});
  builder.node("Negate", {"flat"}, {"a"});
  builder.node("Relu", {"a"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({4})));
  EXPECT_FALSE(machine.program().followers().empty());
  const Value one = *Value::of<float>({4}, std::vector<float>{-1, 2, -3, 4});
  const Value other = *Value::of<float>({4}, std::vector<float>{5, -6, 7, -8});
  std::vector<Value> kept, moved;
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(machine.run({&one}, kept), IsOk());
    ASSERT_THAT(machine.run({&other}, kept), IsOk());
    EXPECT_EQ(kept[0].elements<float>()[1], 6);
    ASSERT_THAT(machine.run({&one}, moved), IsOk());
    EXPECT_EQ(moved[0].elements<float>()[0], 1);
    EXPECT_EQ(kept[0].elements<float>()[1], 6);
  }
}

TEST(Frame, CopiesOutputsThatAreInputsOrConstantsOrListedTwice) {
  GraphBuilder builder;
  builder.input("x", floats({2})).constant("c", float_tensor({7, 8}));
  builder.node("Negate", {"x"}, {"y"});
  builder.output("x").output("c").output("y").output("y");
  Machine machine(typed(builder.build(), floats({2})));
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  std::vector<Value> outputs;
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(machine.run({&x}, outputs), IsOk());
    EXPECT_EQ(outputs[0].elements<float>()[1], 2);
    EXPECT_NE(outputs[0].bytes().data(), x.bytes().data());
    EXPECT_EQ(outputs[1].elements<float>()[0], 7);
    EXPECT_EQ(outputs[2].elements<float>()[0], -1);
    EXPECT_EQ(outputs[3].elements<float>()[1], -2);
  }
}

TEST(Frame, CarriesText) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kString, graph::Shape{2}));
  builder.node("Shout", {"x"}, {"a"});
  builder.node("Shout", {"a"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), tensor_type(ElementType::kString, graph::Shape{2})));
  const Value x = *Value::of_strings({2}, {"a rather long text that needs memory", ""});
  std::vector<Value> outputs;
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(machine.run({&x}, outputs), IsOk());
    EXPECT_EQ(outputs[0].strings(),
              (std::vector<std::string>{"a rather long text that needs memory!!", "!!"}));
  }
}

TEST(Frame, GivesWorkspaceAndScratch) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Workspace", {"x"}, {"a"});
  builder.node("Workspace", {"a"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({2})));
  EXPECT_EQ(machine.floats({2}, {1, 2}), (std::vector<float>{1, 2}));
  EXPECT_EQ(machine.floats({2}, {3, 4}), (std::vector<float>{3, 4}));
}

graph::Graph single(std::string_view op) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node(op, {"x"}, {"y"}).output("y");
  return typed(builder.build(), tensor_type(ElementType::kFloat));
}

TEST(Frame, NamesTheStepThatFailsAndRunsAgain) {
  Machine machine(single("Fail"));
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  std::vector<Value> outputs;
  for (int round = 0; round < 2; ++round) {
    const Status status = machine.run({&x}, outputs);
    EXPECT_EQ(status.code(), StatusCode::kEngineError);
    EXPECT_NE(status.message().find("Fail"), std::string::npos);
    EXPECT_NE(status.message().find("ToyExecutionProvider failed computing: it broke"),
              std::string::npos)
        << status.message();
  }
}

TEST(Frame, RefusesAKernelThatForgetsItsOutput) {
  Machine machine(single("Forget"));
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  std::vector<Value> outputs;
  const Status status = machine.run({&x}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_NE(status.message().find("gave no value to its output 0"), std::string::npos);
}

TEST(Frame, RefusesAShapeThatContradictsTheModel) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Misshape", {"x"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({2})));
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  std::vector<Value> outputs;
  const Status status = machine.run({&x}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_NE(status.message().find("came out as float[1,2,3], but float[2] was inferred for it"),
            std::string::npos)
      << status.message();
}

TEST(Frame, NamesTheNodeWhoseOutputHasNoMemory) {
  GraphBuilder builder;
  builder.input("x", floats({2})).node("Relu", {"x"}, {"y"}).output("y");
  Machine machine(typed(builder.build(), floats({int64_t{1} << 58})));
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  std::vector<Value> outputs;
  const Status status = machine.run({&x}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(status.message().find("out of memory"), std::string::npos);
  EXPECT_NE(status.message().find("(while making output \"y\" of Relu node"), std::string::npos)
      << status.message();
}

TEST(Frame, NamesTheStepThatNeedsMostOfABlockThatCannotBeAllocated) {
  GraphBuilder builder;
  builder.input("x", floats({2})).node("Relu", {"x"}, {"a"}).node("Negate", {"a"}, {"y"});
  builder.output("y");
  graph::Graph graph = typed(builder.build(), floats({int64_t{1} << 58}));
  graph.values[graph.find_value("y")].type = floats({2});
  graph.nodes[0].name = "large";
  const Machine machine(std::move(graph));
  EXPECT_EQ(machine.creation().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(machine.creation().message().find(
                "out of memory: the block of intermediate values (1152921504606846976 bytes of it "
                "for Relu node \"large\" on"),
            std::string::npos)
      << machine.creation().message();
}

TEST(Frame, StopsWhenTheCallerCancels) {
  Machine machine(chain());
  const Value x = *Value::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  const std::atomic<bool> cancelled = true;
  std::vector<Value> outputs;
  const Status status = machine.run({&x}, outputs, &cancelled);
  EXPECT_EQ(status.message(), "the run was cancelled before step 0 of 3");
}

// Runs one frame in each of `threads` threads, with different inputs.
void run_frames(Machine& machine, int threads) {
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&machine, t] {
      const auto frame = *Frame::create(machine.program());
      const auto number = static_cast<float>(t);
      const Value x = *Value::of<float>({2}, std::vector<float>{number, -number});
      const std::vector<const Value*> inputs = {&x};
      std::vector<Value> outputs(1);
      for (int round = 0; round < 100; ++round) {
        ASSERT_THAT(frame->run(inputs, outputs, {}), IsOk());
        ASSERT_EQ(outputs[0].elements<float>()[0], -number);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

TEST(Frame, FramesRunAtTheSameTime) {
  Machine machine(single("Negate"));
  run_frames(machine, 4);
}

TEST(Frame, RunsOneCallAtATimeWhereTheProviderAllowsNoMore) {
  testing::observed().most_running = 0;
  Machine machine(single("Negate"), {.max_concurrent = 1});
  run_frames(machine, 4);
  EXPECT_EQ(testing::observed().most_running, 1);
}

TEST(Frame, MakesAStateForEachFrame) {
  Machine machine(chain());
  testing::observed().states = 0;
  const auto another = *Frame::create(machine.program());
  EXPECT_EQ(testing::observed().states, 3);
}

}  // namespace
}  // namespace ephost::runtime::frame_test
