#include "host/plan/allocation_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/check/checker.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::allocation_plan_test {
namespace {

using graph::ElementType;
using graph::kUnknownDim;
using graph::Shape;
using graph::symbolic_dim;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using partition::testing::fused;
using test::IsOk;
using ::testing::HasSubstr;
using testing::plan_graph;
using testing::Planned;

const int64_t kBatch = symbolic_dim(0);
const int64_t kLength = symbolic_dim(1);

// Builds the graph and gives every untyped value a float tensor of `shape`.
Graph build(GraphBuilder& builder, const Shape& shape = {4, 4}) {
  Graph graph = builder.build();
  for (graph::Value& value : graph.values) {
    if (value.type.kind == graph::ValueKind::kUnknown) {
      value.type = tensor_type(ElementType::kFloat, shape);
    }
  }
  return graph;
}

void set_shape(Graph& graph, std::string_view name, Shape shape) {
  graph.values[graph.find_value(name)].type = tensor_type(ElementType::kFloat, std::move(shape));
}

void expect_sound(const Planned& planned) {
  const auto traits = testing::to_traits(planned.notes);
  const Status status =
      check_allocation(planned.graph, planned.execution, traits, planned.allocation);
  EXPECT_THAT(status, IsOk());
}

Planned plan_checked(Graph graph, std::vector<partition::Claim> claims = {},
                     const AllocationOptions& options = {}) {
  Planned planned = plan_graph(std::move(graph), std::move(claims), options);
  expect_sound(planned);
  return planned;
}

TEST(AllocationPlan, TellsWhereEachKindOfValueLives) {
  GraphBuilder builder;
  builder.input("x").constant("w", float_tensor({1})).constant("unread", float_tensor({1}));
  builder.node("Conv", {"x", "w"}, {"a"}).node("Conv", {"a", "w"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder));
  EXPECT_EQ(planned.place("x"), "PreExisting");
  EXPECT_EQ(planned.place("w"), "AllocateStatically");
  EXPECT_EQ(planned.place("a"), "Allocate");
  EXPECT_EQ(planned.place("y"), "AllocateOutput");
  EXPECT_EQ(planned.place("unread"), "None");
  EXPECT_EQ(planned.value("unread").reused, kNoValue);
  EXPECT_EQ(planned.value("a").reused, planned.id("a"));
}

TEST(AllocationPlan, AGraphInputWithADefaultIsTheCallers) {
  GraphBuilder builder;
  builder.input("w").constant("w", float_tensor({1})).node("Conv", {"w"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder)).place("w"), "PreExisting");
}

TEST(AllocationPlan, AValueOfAnEnclosingGraphIsPreExisting) {
  GraphBuilder builder;
  builder.capture("x", 7).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder)).place("x"), "PreExisting");
}

TEST(AllocationPlan, CountsUsesAndLifetimes) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Mul", {"a", "a"}, {"b"});
  builder.node("Mul", {"b", "a"}, {"y"}).node("Conv", {"y"}, {"unread"}).output("y").output("y");
  const Planned planned = plan_checked(build(builder));
  EXPECT_EQ(planned.value("a").use_count, 3U);
  EXPECT_EQ(planned.value("a").first_pc, 0U);
  EXPECT_EQ(planned.value("a").last_pc, 2U);
  EXPECT_EQ(planned.value("a").bytes, 64U);
  EXPECT_EQ(planned.value("y").use_count, 3U) << "one reader, twice a graph output";
  EXPECT_EQ(planned.value("y").last_pc, 3U) << "to the end, although it is read before";
  EXPECT_EQ(planned.value("unread").first_pc, 3U);
  EXPECT_EQ(planned.value("unread").last_pc, 3U) << "only during its step";
}

TEST(AllocationPlan, ValuesInsideAPartitionHaveNoPlace) {
  GraphBuilder builder;
  builder.input("x").constant("w", float_tensor({1})).node("Conv", {"x", "w"}, {"a"});
  builder.node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder), {fused({0, 1})});
  EXPECT_EQ(planned.place("a"), "None");
  EXPECT_EQ(planned.place("w"), "None") << "it belongs to the compiled partition";
  EXPECT_EQ(planned.place("b"), "Reuse y");
}

TEST(AllocationPlan, WorksInPlaceAtTheLastUse) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Conv", {"b"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder));
  EXPECT_EQ(planned.place("b"), "Reuse a");
  ASSERT_EQ(planned.allocation.buffers.size(), 2U);
  EXPECT_EQ(planned.allocation.buffers[0].root, planned.id("a"));
  EXPECT_EQ(planned.allocation.buffers[0].first_pc, 0U);
  EXPECT_EQ(planned.allocation.buffers[0].last_pc, 2U);
}

TEST(AllocationPlan, ResolvesChainsToTheFirst) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Relu", {"b"}, {"c"}).node("Reshape", {"c"}, {"d"}).node("Relu", {"d"}, {"e"});
  builder.node("Conv", {"e"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder));
  for (const char* name : {"b", "c", "d", "e"}) EXPECT_EQ(planned.place(name), "Reuse a");
}

TEST(AllocationPlan, DoesNotOverwriteWhatIsReadLater) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Mul", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder)).place("b"), "Allocate");
}

TEST(AllocationPlan, DoesNotOverwriteWhatAViewShowsLater) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Reshape", {"a"}, {"view"});
  builder.node("Relu", {"a"}, {"b"}).node("Mul", {"view", "b"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder));
  EXPECT_EQ(planned.place("view"), "Reuse a");
  EXPECT_EQ(planned.place("b"), "Allocate");
}

TEST(AllocationPlan, DoesNotOverwriteWhatASubgraphReadsLater) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  const ValueId a = builder.value("a");
  builder.node("If", {"b"}, {"y"})
      .subgraph("then_branch", GraphBuilder()
                                   .capture("a", a)
                                   .node("Identity", {"a"}, {"inner"})
                                   .output("inner")
                                   .build());
  const Planned planned = plan_checked(build(builder.output("y")));
  EXPECT_EQ(planned.place("b"), "Allocate");
  EXPECT_EQ(planned.value("a").last_pc, 2U);
}

TEST(AllocationPlan, DoesNotOverwriteWhatAnotherSlotOfTheStepReads) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Add", {"a", "a"}, {"b"});
  builder.node("Conv", {"b"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder)).place("b"), "Allocate");
}

TEST(AllocationPlan, TakesTheInputThatPermitsIt) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  builder.node("Add", {"a", "b"}, {"c"}).node("Mul", {"a", "c"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder)).place("c"), "Reuse b");
}

TEST(AllocationPlan, DoesNotOverwriteGraphInputsAndConstants) {
  GraphBuilder builder;
  builder.input("x").constant("w", float_tensor(std::vector<float>(16)));
  builder.node("Relu", {"x"}, {"a"}).node("Relu", {"w"}, {"b"}).node("Mul", {"a", "b"}, {"y"});
  const Planned planned = plan_checked(build(builder.output("y"), {16}));
  EXPECT_EQ(planned.place("a"), "Allocate");
  EXPECT_EQ(planned.place("b"), "Allocate");
}

TEST(AllocationPlan, ViewsOfGraphInputsAndConstantsAreNotCopiedAndNotWritten) {
  GraphBuilder builder;
  builder.input("x").constant("w", float_tensor(std::vector<float>(16)));
  builder.node("Reshape", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"w"}, {"c"}).node("Mul", {"b", "c"}, {"y"});
  const Planned planned = plan_checked(build(builder.output("y"), {16}));
  EXPECT_EQ(planned.place("a"), "Reuse x");
  EXPECT_EQ(planned.place("b"), "Allocate");
  EXPECT_EQ(planned.place("c"), "Reuse w");
}

TEST(AllocationPlan, DoesNotReuseAnotherSize) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"b"}, {"c"}).node("Conv", {"c"}, {"y"}).output("y");
  Graph graph = build(builder);
  set_shape(graph, "b", {4, 5});
  const Planned planned = plan_checked(std::move(graph));
  EXPECT_EQ(planned.place("b"), "Allocate") << "in place";
  EXPECT_EQ(planned.place("c"), "Allocate") << "as a view, though a kernel said so";
}

TEST(AllocationPlan, TakesEqualBytesOfOtherTypesAndShapes) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Conv", {"b"}, {"y"}).output("y");
  Graph graph = build(builder);
  graph.values[graph.find_value("b")].type = tensor_type(ElementType::kInt64, Shape{8});
  EXPECT_EQ(plan_checked(std::move(graph)).place("b"), "Reuse a");
}

TEST(AllocationPlan, StringsAndSequencesShareNothing) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"b"}, {"c"}).node("Relu", {"c"}, {"d"}).node("Conv", {"d"}, {"y"});
  Graph graph = build(builder.output("y"));
  for (const char* name : {"a", "b"}) {
    graph.values[graph.find_value(name)].type = tensor_type(ElementType::kString, Shape{4});
  }
  for (const char* name : {"c", "d"}) {
    graph.values[graph.find_value(name)].type.kind = graph::ValueKind::kSequence;
  }
  const Planned planned = plan_checked(std::move(graph));
  for (const char* name : {"b", "c", "d"}) EXPECT_EQ(planned.place(name), "Allocate");
}

TEST(AllocationPlan, AChainThatEndsInAGraphOutputLivesInTheOutputsBuffer) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"b"}, {"y"}).node("Reshape", {"y"}, {"z"}).node("Conv", {"z"}, {"end"});
  const Planned planned = plan_checked(build(builder.output("y")));
  EXPECT_EQ(planned.place("a"), "Reuse y");
  EXPECT_EQ(planned.place("b"), "Reuse y");
  EXPECT_EQ(planned.place("y"), "AllocateOutput");
  EXPECT_EQ(planned.place("z"), "Reuse y") << "a view behind it";
  EXPECT_EQ(planned.allocation.buffers[0].root, planned.id("y"));
  EXPECT_EQ(planned.allocation.buffers[0].first_pc, 0U);
}

TEST(AllocationPlan, DoesNotOverwriteAGraphOutput) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"y"}).node("Relu", {"y"}, {"a"});
  builder.node("Conv", {"a"}, {"z"}).output("y").output("z");
  EXPECT_EQ(plan_checked(build(builder)).place("a"), "Allocate");
}

TEST(AllocationPlan, EachGraphOutputHasABufferOfItsOwn) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Reshape", {"a"}, {"y"});
  builder.node("Reshape", {"a"}, {"z"}).node("Reshape", {"x"}, {"w"});
  const Planned planned = plan_checked(build(builder.output("y").output("z").output("w")));
  EXPECT_EQ(planned.place("a"), "Reuse y");
  EXPECT_EQ(planned.place("z"), "AllocateOutput") << "not a view of the other output";
  EXPECT_EQ(planned.place("w"), "AllocateOutput") << "not a view of the input";
}

TEST(AllocationPlan, AGraphOutputOfUnknownSizeIsNotARoot) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  EXPECT_EQ(plan_checked(build(builder, {kBatch, 4})).place("a"), "Allocate");
}

TEST(AllocationPlan, AGraphInputThatIsAGraphOutputStaysTheCallers) {
  GraphBuilder builder;
  builder.input("x").constant("w", float_tensor({1})).output("x").output("w");
  const Planned planned = plan_checked(build(builder));
  EXPECT_EQ(planned.place("x"), "PreExisting");
  EXPECT_EQ(planned.place("w"), "AllocateStatically");
}

Graph inplace_chain(const Shape& shape) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Conv", {"b"}, {"y"}).output("y");
  return build(builder, shape);
}

TEST(AllocationPlan, SharesEqualSymbolicShapesInPlace) {
  EXPECT_EQ(plan_checked(inplace_chain({kBatch, 4})).place("b"), "Reuse a");
  EXPECT_EQ(plan_checked(inplace_chain({kUnknownDim, 4})).place("b"), "Allocate");
  Graph graph = inplace_chain({kBatch, 4});
  set_shape(graph, "b", {kLength, 4});
  EXPECT_EQ(plan_checked(std::move(graph)).place("b"), "Allocate");
}

// Consecutive convolutions: a is dead when c is produced.
GraphBuilder row() {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"a"}, {"b"});
  builder.node("Conv", {"b"}, {"c"}).node("Conv", {"c"}, {"d"}).node("Conv", {"d"}, {"y"});
  builder.output("y");
  return builder;
}

TEST(AllocationPlan, LeavesDeadBuffersToPlacementAndToThePoolOfTheRun) {
  for (const Shape& shape : {Shape{4, 4}, Shape{kBatch, 4}}) {
    GraphBuilder builder = row();
    const Planned planned = plan_checked(build(builder, shape));
    for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(planned.place(name), "Allocate");
  }
}

TEST(AllocationPlan, SharesNothingWithReuseOff) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"b"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y");
  const Planned planned = plan_checked(build(builder), {}, {.enable_mem_reuse = false});
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(planned.place(name), "Allocate");
  EXPECT_EQ(planned.place("y"), "AllocateOutput");
  EXPECT_EQ(planned.allocation.buffers.size(), 4U);
}

TEST(AllocationPlan, SharesNothingBetweenLocations) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Reshape", {"b"}, {"c"}).node("Conv", {"c"}, {"y"}).output("y");
  Planned planned = plan_graph(build(builder));
  planned.notes[1].location = 1;
  planned.notes[1].input_locations = {{0, kHostLocation}};
  planned.notes[2].input_locations = {{0, 1}};
  planned.allocate();
  expect_sound(planned);
  EXPECT_EQ(planned.place("b"), "Allocate");
  EXPECT_EQ(planned.value("b").location, 1U);
  EXPECT_EQ(planned.place("c"), "Allocate");
}

TEST(AllocationPlan, IgnoresSlotsThatDoNotExistOrHoldNoValue) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Op", {"", "a"}, {"b", ""}).output("b");
  Planned planned = plan_graph(build(builder));
  planned.notes[1].may_inplace = {{0, 0}, {9, 0}, {1, 1}, {1, 9}};
  planned.notes[1].aliases = planned.notes[1].may_inplace;
  planned.allocate();
  expect_sound(planned);
  EXPECT_EQ(planned.place("a"), "Allocate");
}

TEST(AllocationPlan, WritesNothingOverAViewMadeInTheSameStep) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Op", {"a"}, {"b", "c", "d"});
  builder.node("Conv", {"d"}, {"y"}).output("y");
  Planned planned = plan_graph(build(builder));
  planned.notes[1].may_inplace = {{0, 0}, {0, 2}};
  planned.notes[1].aliases = {{0, 1}};
  planned.allocate();
  expect_sound(planned);
  EXPECT_EQ(planned.place("b"), "Allocate");
  EXPECT_EQ(planned.place("c"), "Reuse a");
  EXPECT_EQ(planned.place("d"), "Allocate");
}

TEST(AllocationPlan, GivesABufferToOneInPlaceOutputOnly) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Op", {"a"}, {"b", "c"});
  builder.node("Mul", {"b", "c"}, {"y"}).output("y");
  Planned planned = plan_graph(build(builder));
  planned.notes[1].may_inplace = {{0, 1}, {0, 0}};
  planned.allocate();
  expect_sound(planned);
  EXPECT_EQ(planned.place("b"), "Reuse a");
  EXPECT_EQ(planned.place("c"), "Allocate");
}

TEST(AllocationPlan, ListsWorkspacesOfSteps) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  planned.notes[2].workspace_bytes = 100;
  planned.notes[2].location = 3;
  planned.notes[2].input_locations = planned.notes[2].output_locations = {{0, kHostLocation}};
  planned.allocate();
  expect_sound(planned);
  ASSERT_EQ(planned.allocation.workspaces.size(), 1U);
  EXPECT_EQ(planned.allocation.workspaces[0].pc, 2U);
  EXPECT_EQ(planned.allocation.workspaces[0].location, 3U);
  EXPECT_EQ(planned.allocation.workspaces[0].bytes, 100U);
}

std::string refusal(const Planned& planned) {
  const auto traits = testing::to_traits(planned.notes);
  const auto result = plan_allocation(planned.graph, planned.execution, traits);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(AllocationPlan, RefusesTraitsOfOtherSteps) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  planned.notes.pop_back();
  EXPECT_THAT(refusal(planned), HasSubstr("there are 5 steps but traits of 4"));
}

TEST(AllocationPlan, RefusesAPlanThatReadsBeforeItProduces) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  std::swap(planned.execution.steps[0], planned.execution.steps[1]);
  EXPECT_THAT(refusal(planned), HasSubstr("\"a\" of step 0 is read before it exists"));
}

TEST(AllocationPlan, RefusesAPlanThatProducesAValueTwice) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  planned.execution.steps[4].outputs = planned.execution.steps[3].outputs;
  EXPECT_THAT(refusal(planned), HasSubstr("\"d\" of step 4 is produced but exists already"));
}

TEST(AllocationPlan, RefusesValuesThatTheGraphDoesNotHave) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  planned.execution.steps[4].inputs = {99};
  EXPECT_THAT(refusal(planned), HasSubstr("value #99 (invalid) of step 4 is read"));
}

TEST(AllocationPlan, RefusesAPlanWithoutAGraphOutput) {
  GraphBuilder builder = row();
  Planned planned = plan_graph(build(builder));
  planned.execution.steps.pop_back();
  planned.notes.pop_back();
  EXPECT_THAT(refusal(planned), HasSubstr("\"y\" of step 3 is a graph output that no step"));
}

TEST(AllocationPlan, NamesKindsAsOnnxRuntimeDoes) {
  EXPECT_EQ(alloc_kind_name(AllocKind::kAllocate), "Allocate");
  EXPECT_EQ(alloc_kind_name(AllocKind::kReuse), "Reuse");
  EXPECT_EQ(alloc_kind_name(AllocKind::kPreExisting), "PreExisting");
  EXPECT_EQ(alloc_kind_name(AllocKind::kAllocateStatically), "AllocateStatically");
  EXPECT_EQ(alloc_kind_name(AllocKind::kAllocateOutput), "AllocateOutput");
  EXPECT_EQ(alloc_kind_name(AllocKind::kNone), "None");
}

}  // namespace
}  // namespace ephost::plan::allocation_plan_test
