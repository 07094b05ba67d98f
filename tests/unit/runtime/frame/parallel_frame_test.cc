// Frames whose steps run in parallel give the same bits as sequential ones, for random graphs.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/support/allocation_counter.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/machine.h"

namespace ephost::runtime::parallel_frame_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::floats;
using testing::Machine;
using testing::MachineOptions;
using testing::typed;

constexpr uint32_t kThreads = 4;

ThreadPool& pool() {
  static ThreadPool shared;
  return shared;
}

// Where memory comes from depends on the shapes that the model declares: from the program's
// pattern, from the pool and later traced patterns, or always from the pool.
enum class Shapes { kStatic, kSymbolic, kUnknown };

// A random graph with three kinds of values: those that `shapes` describes, and tensors of 16 and
// of 32 floats, which Join and Halve convert into each other.
class RandomMachineGraph {
 public:
  RandomMachineGraph(uint32_t seed, Shapes shapes) : random_(seed) {
    types_[kOpen] = floats({shapes == Shapes::kStatic ? 16 : graph::symbolic_dim(0)});
    add_input("x", kOpen);
    add_input("z", kHalf);
    if (shapes == Shapes::kUnknown) {
      types_[kOpen] = graph::testing::tensor_type(ElementType::kFloat);
    }
    const uint32_t nodes = 2 + below(30);
    const uint32_t reach = 1 + below(12);
    for (uint32_t i = 0; i < nodes; ++i) add_node(reach);
    for (size_t i = 2; i < values_.size(); ++i) {
      if (i + 1 == values_.size() || below(8) == 0) builder_.output(values_[i].name);
    }
    graph_ = builder_.build();
    for (const auto& [name, kind] : values_) {
      graph::Value& value = graph_.values[graph_.find_value(name)];
      if (!value.is_graph_input) value.type = types_[kind];
    }
  }
  [[nodiscard]] graph::Graph take() && { return std::move(graph_); }

 private:
  enum Kind { kOpen, kHalf, kWhole };
  struct Made {
    std::string name;
    Kind kind;
  };

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  // A recent value, so that there are branches as well as values with long lifetimes.
  Made pick(uint32_t reach) {
    const auto count = static_cast<uint32_t>(values_.size());
    return values_[count - 1 - below(std::min(count, reach))];
  }
  // A value of the given kind; its name is empty if there is none.
  Made pick(uint32_t reach, Kind kind) {
    for (uint32_t i = 0; i < reach; ++i) {
      if (Made found = pick(reach); found.kind == kind) return found;
    }
    return {};
  }
  void add_input(const std::string& name, Kind kind) {
    builder_.input(name, types_[kind]);
    values_.push_back({name, kind});
  }
  std::string add_value(Kind kind) {
    values_.push_back({"v" + std::to_string(values_.size()), kind});
    return values_.back().name;
  }
  void add_node(uint32_t reach) {
    static constexpr const char* kUnary[] = {"Negate", "Relu",    "Reshape",  "Relu",
                                             "Negate", "Reshape", "Workspace"};
    const Made a = pick(reach, kHalf), b = pick(reach, kHalf), whole = pick(reach, kWhole);
    const uint32_t choice = below(6);
    if (choice == 0 && !a.name.empty() && !b.name.empty()) {
      builder_.node("Join", {a.name, b.name}, {add_value(kWhole)});
    } else if (choice == 1 && !whole.name.empty()) {
      const std::string first = add_value(kHalf);
      builder_.node("Halve", {whole.name}, {first, add_value(kHalf)});
    } else if (choice <= 3) {
      const Made left = pick(reach), right = pick(reach);
      builder_.node("Add", {left.name, right.name}, {add_value(left.kind)});
    } else {
      const Made input = pick(reach);
      builder_.node(kUnary[below(std::size(kUnary))], {input.name}, {add_value(input.kind)});
    }
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  graph::ValueType types_[3] = {{}, floats({16}), floats({32})};
  std::vector<Made> values_;
  graph::Graph graph_;
};

Value input_of(uint32_t seed, int64_t count) {
  std::vector<float> elements;
  for (int64_t i = 0; i < count; ++i) {
    elements.push_back(static_cast<float>((seed * 31 + static_cast<uint32_t>(i) * 17) % 97) - 48);
  }
  return *Value::of<float>({count}, elements);
}

void expect_equal(const std::vector<Value>& a, const std::vector<Value>& b, uint32_t seed) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << "seed " << seed;
    ASSERT_TRUE(std::ranges::equal(a[i].bytes(), b[i].bytes())) << "seed " << seed;
  }
}

bool is_part(const plan::AllocationPlan& plan, const plan::ValuePlan& value) {
  return value.kind == plan::AllocKind::kReuse &&
         (value.offset != 0 || value.bytes < plan.values[value.reused].bytes);
}

void compare(Shapes shapes, uint32_t graphs, plan::MemoryOptions memory = {}) {
  uint32_t parallel = 0;
  uint32_t with_parts = 0;
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    Machine one(RandomMachineGraph(seed, shapes).take(), {{"n"}, memory});
    Machine many(RandomMachineGraph(seed, shapes).take(), {{"n"}, memory, &pool(), kThreads});
    const plan::AllocationPlan& plan = many.program().allocation();
    const bool has_parts = std::ranges::any_of(
        plan.values, [&](const plan::ValuePlan& value) { return is_part(plan, value); });
    parallel += many.program().is_parallel() ? 1 : 0;
    with_parts += many.program().is_parallel() && has_parts ? 1 : 0;
    // The first run with a shape traces its pattern; the others use it.
    for (const int64_t count : {16, 16, shapes == Shapes::kStatic ? 16 : 5, 16}) {
      const Value x = input_of(seed, count), z = input_of(seed + 1, 16);
      std::vector<Value> expected, got;
      ASSERT_THAT(one.run({&x, &z}, expected), IsOk());
      const Status status = many.run({&x, &z}, got);
      ASSERT_THAT(status, IsOk());
      expect_equal(expected, got, seed);
    }
  }
  EXPECT_GT(parallel, graphs / 2);
  // Only a memory pattern places parts in their wholes.
  EXPECT_EQ(with_parts > graphs / 4, memory.enable_mem_pattern) << with_parts;
}

TEST(ParallelFrame, GivesTheSameBitsForStaticShapes) { compare(Shapes::kStatic, 5000); }
TEST(ParallelFrame, GivesTheSameBitsForSymbolicShapes) { compare(Shapes::kSymbolic, 2500); }
TEST(ParallelFrame, GivesTheSameBitsForUnknownShapes) { compare(Shapes::kUnknown, 2000); }
TEST(ParallelFrame, GivesTheSameBitsWithoutAPattern) {
  compare(Shapes::kStatic, 500, {.enable_mem_pattern = false});
}

// `width` branches of `op` on the input, summed up.
graph::Graph fan(std::string_view op, uint32_t width) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  std::string sum = "b0";
  for (uint32_t i = 0; i < width; ++i) {
    builder.node(op, {"x"}, {"b" + std::to_string(i)});
  }
  for (uint32_t i = 1; i < width; ++i) {
    builder.node("Add", {sum, "b" + std::to_string(i)}, {"s" + std::to_string(i)});
    sum = "s" + std::to_string(i);
  }
  builder.output(sum);
  return typed(builder.build(), floats({2}));
}

MachineOptions in_parallel() { return {.pool = &pool(), .threads = kThreads}; }

TEST(ParallelFrame, RunsALineOfStepsOneAfterTheOther) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Negate", {"x"}, {"a"}).node("Negate", {"a"}, {"y"}).output("y");
  EXPECT_FALSE(Machine(typed(builder.build(), floats({2})), in_parallel()).program().is_parallel());
}

TEST(ParallelFrame, RunsBranchesAtTheSameTime) {
  Machine machine(fan("Meet", 2), in_parallel());
  testing::observed().meeting = 0;
  EXPECT_EQ(machine.floats({2}, {1, 2}), (std::vector<float>{2, 4}));
}

TEST(ParallelFrame, AllocatesNothingInTheSecondRun) {
  Machine machine(fan("Workspace", 8), in_parallel());
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  const std::vector<const Value*> inputs = {&x};
  std::vector<Value> outputs;
  // Each lane has its own scratch memory, and the lanes that a run uses are not known in advance.
  for (int round = 0; round < 20; ++round) ASSERT_THAT(machine.run(inputs, outputs), IsOk());
  const uint64_t before = test::allocations_of_this_thread();
  const Status status = machine.frame().run(inputs, outputs, {});
  EXPECT_EQ(test::allocations_of_this_thread(), before);
  EXPECT_THAT(status, IsOk());
}

TEST(ParallelFrame, ReportsTheStepThatFailedAndRunsAgain) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Fail", {"x"}, {"y"}).output("y");
  for (int i = 0; i < 8; ++i) {
    builder.node("Negate", {"x"}, {"n" + std::to_string(i)}).output("n" + std::to_string(i));
  }
  Machine machine(typed(builder.build(), floats({2})), in_parallel());
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  for (int round = 0; round < 50; ++round) {
    std::vector<Value> outputs;
    const Status status = machine.run({&x}, outputs);
    ASSERT_EQ(status.code(), StatusCode::kEngineError);
    ASSERT_NE(status.message().find("failed computing: it broke"), std::string::npos);
  }
}

TEST(ParallelFrame, EndsWhenTheCallerAsksForIt) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Stop", {"x"}, {"a"});
  for (int i = 0; i < 8; ++i) {
    builder.node("Negate", {"a"}, {"n" + std::to_string(i)}).output("n" + std::to_string(i));
  }
  Machine machine(typed(builder.build(), floats({2})), in_parallel());
  const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
  testing::observed().stop = false;
  testing::observed().calls_before_stop = 1;
  std::vector<Value> outputs;
  const Status status = machine.run({&x}, outputs, &testing::observed().stop);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_NE(status.message().find("the run was cancelled before step"), std::string::npos)
      << status.message();
  testing::observed().stop = false;
  const Status again = machine.run({&x}, outputs, &testing::observed().stop);
  EXPECT_THAT(again, IsOk());
}

TEST(ParallelFrame, NoCallsOverlapWhereTheProviderAllowsOneAtATime) {
  GraphBuilder builder;
  builder.input("x", floats({2}));
  builder.node("Negate", {"x"}, {"a"}).node("Negate", {"x"}, {"b"});
  builder.node("Add", {"a", "b"}, {"y"}).output("y");
  MachineOptions options = in_parallel();
  options.max_concurrent = 1;
  testing::observed().most_running = 0;
  Machine machine(typed(builder.build(), floats({2})), options);
  const auto other = *Frame::create(machine.program());
  const auto run = [&](Frame& frame) {
    const Value x = *Value::of<float>({2}, std::vector<float>{1, 2});
    const std::vector<const Value*> inputs = {&x};
    for (int round = 0; round < 200; ++round) {
      std::vector<Value> outputs(1);
      EXPECT_THAT(frame.run(inputs, outputs, {}), IsOk());
      EXPECT_EQ(outputs[0].elements<float>()[1], -4);
    }
  };
  std::thread thread([&] { run(*other); });
  run(machine.frame());
  thread.join();
  EXPECT_EQ(testing::observed().most_running, 1);
}

}  // namespace
}  // namespace ephost::runtime::parallel_frame_test
