#include "host/plan/step_dependencies.h"

#include <gtest/gtest.h>

#include "host/plan/check/checker.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::step_dependencies_test {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::plan_graph;
using testing::Planned;

constexpr uint32_t kNone = UINT32_MAX;

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

// Values of 64 bytes, "whole" of 128; the steps `join` and `halve` have their parts side by side.
Planned planned_with_parts(GraphBuilder& builder, uint32_t join, uint32_t halve) {
  Planned made = planned(builder);
  made.graph.values[made.id("whole")].type = tensor_type(ElementType::kFloat, graph::Shape{32});
  if (join != kNone) made.notes[join].input_parts = {{0, 0, 0}, {1, 0, 64}};
  if (halve != kNone) made.notes[halve].output_parts = {{0, 0, 0}, {0, 1, 64}};
  made.allocate();
  return made;
}

TEST(StepDependencies, PartsOfOneValueAreMadeAtTheSameTime) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"x"}, {"b"}).node("Join", {"a", "b"}, {"whole"});
  builder.node("Exp", {"whole"}, {"y"}).node("Exp", {"a"}, {"z"}).output("y").output("z");
  const Planned made = planned_with_parts(builder, 2, kNone);
  ASSERT_EQ(made.place("b"), "Reuse whole + 64");
  const StepDependencies found =
      find_dependencies(made.execution, made.allocation, *plan_memory(made.allocation));
  EXPECT_EQ(found.waits_for, (std::vector<uint32_t>{0, 0, 2, 1, 2}));
  EXPECT_EQ(steps(found.successors_of(0)), (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(steps(found.successors_of(1)), std::vector<uint32_t>{2});
  EXPECT_EQ(steps(found.successors_of(2)), (std::vector<uint32_t>{3, 4}));
}

TEST(StepDependencies, PartsOfAGraphOutputAreMadeAtTheSameTime) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"a"}).node("Exp", {"x"}, {"b"}).node("Join", {"a", "b"}, {"whole"});
  builder.output("whole");
  const Planned made = planned_with_parts(builder, 2, kNone);
  ASSERT_EQ(made.place("b"), "Reuse whole + 64");
  const StepDependencies found =
      find_dependencies(made.execution, made.allocation, *plan_memory(made.allocation));
  EXPECT_EQ(found.waits_for, (std::vector<uint32_t>{0, 0, 2}));
}

// "c" uses the first half; the reader of the other half need not have finished.
TEST(StepDependencies, AStepThatWorksInPlaceInAPartWaitsForReadersOfThisPart) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"whole"}).node("Halve", {"whole"}, {"a", "b"});
  builder.node("Exp", {"a"}, {"y"}).node("Exp", {"b"}, {"z"}).node("Relu", {"a"}, {"c"});
  builder.node("Exp", {"c"}, {"w"}).output("y").output("z").output("w");
  const Planned made = planned_with_parts(builder, kNone, 1);
  ASSERT_EQ(made.place("c"), "Reuse whole");
  ASSERT_EQ(made.place("b"), "Reuse whole + 64");
  const MemoryPattern pattern = *plan_memory(made.allocation);
  const StepDependencies found = find_dependencies(made.execution, made.allocation, pattern);
  EXPECT_EQ(steps(found.successors_of(2)), std::vector<uint32_t>{4});
  EXPECT_TRUE(found.successors_of(3).empty());
  EXPECT_THAT(check_dependencies(made.execution, made.allocation, pattern, found), IsOk());
}

// "d" takes the place of "whole".
TEST(StepDependencies, AStepWaitsForAllWhoUsedPartsOfItsPlace) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat));
  builder.node("Exp", {"x"}, {"whole"}).node("Halve", {"whole"}, {"a", "b"});
  builder.node("Exp", {"a"}, {"y"}).node("Exp", {"b"}, {"z"}).node("Exp", {"x"}, {"d"});
  builder.node("Exp", {"d"}, {"w"}).output("y").output("z").output("w");
  Planned made = planned_with_parts(builder, kNone, 1);
  made.graph.values[made.id("d")].type = tensor_type(ElementType::kFloat, graph::Shape{32});
  made.allocate();
  const MemoryPattern pattern = *plan_memory(made.allocation);
  ASSERT_EQ(pattern.offsets[made.id("d")], pattern.offsets[made.id("whole")]);
  StepDependencies found = find_dependencies(made.execution, made.allocation, pattern);
  EXPECT_EQ(steps(found.successors_of(2)), std::vector<uint32_t>{4});
  EXPECT_EQ(steps(found.successors_of(3)), std::vector<uint32_t>{4});
  ASSERT_THAT(check_dependencies(made.execution, made.allocation, pattern, found), IsOk());

  // Step 3 is omitted.
  found.successors.erase(found.successors.begin() + found.first_successor[3]);
  for (size_t i = 4; i < found.first_successor.size(); ++i) --found.first_successor[i];
  --found.waits_for[4];
  EXPECT_EQ(
      check_dependencies(made.execution, made.allocation, pattern, found).message(),
      "the dependencies of steps are wrong: steps 3 and 4 use the same memory, but neither waits "
      "for the other");
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
  EXPECT_THAT(check_dependencies(made.execution, made.allocation, pattern, found), IsOk());

  MemoryOptions options;
  options.enable_mem_pattern = false;
  const StepDependencies too_few = find_dependencies(made.execution, made.allocation,
                                                     *plan_memory(made.allocation, {}, options));
  EXPECT_TRUE(too_few.successors_of(1).empty());
  EXPECT_EQ(
      check_dependencies(made.execution, made.allocation, pattern, too_few).message(),
      "the dependencies of steps are wrong: steps 0 and 2 use the same memory, but neither waits "
      "for the other");
}

}  // namespace
}  // namespace ephost::plan::step_dependencies_test
