#include "host/plan/step_dependencies.h"

#include <gtest/gtest.h>

#include "host/plan/checker.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using testing::plan_graph;
using testing::Planned;

Planned planned(GraphBuilder& builder) {
  Graph graph = builder.build();
  for (graph::Value& value : graph.values) {
    value.type = tensor_type(ElementType::kFloat, graph::Shape{16});
  }
  Planned made = plan_graph(std::move(graph));
  made.allocate();
  return made;
}

std::vector<uint32_t> steps(std::span<const uint32_t> of) { return {of.begin(), of.end()}; }

TEST(StepDependencies, LetBranchesRunAtTheSameTime) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"x"}, {"b"});
  builder.node("Sub", {"a", "b"}, {"y"}).output("y");
  const Planned made = planned(builder);
  const StepDependencies found =
      find_dependencies(made.execution, made.allocation, *plan_memory(made.allocation));
  EXPECT_EQ(found.waits_for, (std::vector<uint32_t>{0, 0, 2}));
  EXPECT_EQ(steps(found.successors_of(0)), std::vector<uint32_t>{2});
  EXPECT_EQ(steps(found.successors_of(1)), std::vector<uint32_t>{2});
  EXPECT_TRUE(found.successors_of(2).empty());
  EXPECT_TRUE(has_parallel_steps(found));
}

TEST(StepDependencies, KnowALineOfSteps) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"a"}, {"b"});
  builder.node("Sub", {"a", "b"}, {"y"}).output("y");
  const Planned made = planned(builder);
  EXPECT_FALSE(has_parallel_steps(
      find_dependencies(made.execution, made.allocation, *plan_memory(made.allocation))));
}

TEST(StepDependencies, AStepThatWorksInPlaceWaitsForAllWhoReadTheInput) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"a"}, {"y"}).node("Relu", {"a"}, {"b"});
  builder.node("Exp", {"b"}, {"z"}).output("y").output("z");
  const Planned made = planned(builder);
  ASSERT_EQ(made.place("b"), "Reuse a");
  const StepDependencies found =
      find_dependencies(made.execution, made.allocation, *plan_memory(made.allocation));
  EXPECT_EQ(steps(found.successors_of(1)), std::vector<uint32_t>{2});
}

// "c" takes the place of "a", which is dead by then in the plan's order.
TEST(StepDependencies, AStepWaitsForTheFormerUsersOfItsPlace) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"a"}, {"y"});
  builder.node("Exp", {"x"}, {"c"}).node("Exp", {"c"}, {"z"}).output("y").output("z");
  const Planned made = planned(builder);
  const MemoryPattern pattern = *plan_memory(made.allocation);
  ASSERT_EQ(pattern.offsets[made.id("a")], pattern.offsets[made.id("c")]);
  const StepDependencies found = find_dependencies(made.execution, made.allocation, pattern);
  EXPECT_EQ(steps(found.successors_of(1)), std::vector<uint32_t>{2});
  EXPECT_TRUE(check_dependencies(made.execution, made.allocation, pattern, found).ok());

  MemoryOptions options;
  options.enable_mem_pattern = false;
  const StepDependencies too_few = find_dependencies(made.execution, made.allocation,
                                                     *plan_memory(made.allocation, {}, options));
  EXPECT_TRUE(too_few.successors_of(1).empty());
  EXPECT_EQ(check_dependencies(made.execution, made.allocation, pattern, too_few).message(),
            "the dependencies of steps are wrong: steps 0 and 2 use the same memory and wait for "
            "nothing");
}

}  // namespace
}  // namespace ephost::plan
