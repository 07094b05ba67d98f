// The checkers of orders and allocation plans detect every kind of damage.
#include "tests/support/status_matchers.h"
#include "tests/unit/plan/check/checker_example.h"

namespace ephost::plan::checker_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::allocation_status;
using testing::example;
using testing::execution_status;
using testing::expect_refused;
using testing::plan_graph;
using testing::plan_of;
using testing::Planned;
using testing::put_into;

TEST(Checker, AcceptsTheExample) {
  const Planned planned = example();
  EXPECT_THAT(execution_status(planned), IsOk());
  EXPECT_THAT(allocation_status(planned), IsOk());
  EXPECT_EQ(planned.place("d"), "Reuse c");
  EXPECT_EQ(planned.place("v"), "Reuse a");
  EXPECT_EQ(planned.place("e"), "Reuse c");
  EXPECT_EQ(planned.place("f"), "Reuse y");
}

TEST(CheckExecution, RefusesAStepBeforeItsInputs) {
  Planned planned = example();
  std::swap(planned.execution.steps[4], planned.execution.steps[5]);
  expect_refused(execution_status(planned),
                 "the step of Conv node \"f\" reads value \"e\" before it is produced");
}

TEST(CheckExecution, RefusesAPartitionBeforeItsInputs) {
  Planned planned = example();
  std::swap(planned.execution.steps[0], planned.execution.steps[1]);
  expect_refused(execution_status(planned),
                 "the step of Conv node \"b\" reads value \"a\" before it is produced");
}

TEST(CheckExecution, RefusesAMissingStep) {
  Planned planned = example();
  planned.execution.steps.pop_back();
  expect_refused(execution_status(planned), "Relu node \"y\" is in no step");
}

TEST(CheckExecution, RefusesANodeThatIsRunTwice) {
  Planned planned = example();
  planned.execution.steps.push_back(planned.execution.steps.back());
  expect_refused(execution_status(planned), "Relu node \"y\" is run twice");
}

TEST(CheckExecution, RefusesANodeThatDoesNotExist) {
  Planned planned = example();
  planned.execution.steps[0].node = 99;
  expect_refused(execution_status(planned), "node id 99, which does not exist");
}

TEST(CheckExecution, RefusesAnotherProvider) {
  Planned planned = example();
  planned.execution.steps[0].provider = 0;
  expect_refused(execution_status(planned), "has a different provider than its node");
}

TEST(CheckExecution, RefusesAnotherPartition) {
  Planned planned = example();
  planned.execution.steps[1].partition = kNoPartition;
  expect_refused(execution_status(planned), "has a different partition than its node");
}

TEST(CheckExecution, RefusesAPartitionKnownByAnotherNode) {
  Planned planned = example();
  planned.execution.steps[1].node = 2;
  expect_refused(execution_status(planned), "is not identified by its partition's first node");
}

TEST(CheckExecution, RefusesOtherSlotsThanTheNodes) {
  Planned planned = example();
  planned.execution.steps[4].inputs.pop_back();
  expect_refused(execution_status(planned), "has different slots than its node");
}

TEST(CheckExecution, RefusesOtherSlotsThanThePartitions) {
  Planned planned = example();
  planned.execution.steps[1].outputs.push_back(planned.id("b"));
  expect_refused(execution_status(planned), "slots other than the values that cross its boundary");
  planned = example();
  planned.execution.steps[1].inputs.clear();
  expect_refused(execution_status(planned), "slots other than the values that cross its boundary");
}

TEST(CheckExecution, RefusesPartitionNodesOutOfOrder) {
  Planned planned = example();
  planned.partitioning.partitions[0].nodes = {2, 1};
  planned.execution.steps[1].node = 2;
  expect_refused(execution_status(planned),
                 "Conv node \"c\" reads value \"b\" before it is produced");
}

TEST(CheckExecution, RefusesAGraphOutputThatIsNeverThere) {
  Planned planned = example();
  planned.graph.values.push_back({.name = "ghost", .producer = 0});
  planned.graph.outputs.push_back(planned.id("ghost"));
  expect_refused(execution_status(planned), "value \"ghost\" of the graph's outputs is never");
}

TEST(CheckExecution, RefusesThePartitioningOfAnotherGraph) {
  Planned planned = example();
  planned.partitioning.owner.pop_back();
  expect_refused(execution_status(planned), "the partitioning belongs to another graph");
}

TEST(CheckAllocation, RefusesAPlanOfAnotherGraph) {
  Planned planned = example();
  planned.allocation.values.pop_back();
  expect_refused(allocation_status(planned), "it belongs to another graph or execution plan");
}

TEST(CheckAllocation, RefusesWrongKinds) {
  for (const char* name : {"x", "w", "a", "b", "y"}) {
    Planned planned = example();
    const AllocKind wrong = name[0] == 'x' ? AllocKind::kAllocate : AllocKind::kPreExisting;
    plan_of(planned, name).kind = wrong;
    expect_refused(allocation_status(planned), "value \"" + std::string(name) + "\" is " +
                                                   std::string(alloc_kind_name(wrong)) +
                                                   " instead of");
  }
}

TEST(CheckAllocation, RefusesAGraphOutputInAnothersBuffer) {
  Planned planned = example({.enable_mem_reuse = false});
  put_into(planned, "y", "a");
  expect_refused(allocation_status(planned), "value \"y\" is Reuse instead of AllocateOutput");
}

TEST(CheckAllocation, RefusesWrongUseCountsSizesAndLifetimes) {
  Planned planned = example();
  ++plan_of(planned, "a").use_count;
  expect_refused(allocation_status(planned), "value \"a\" has a wrong use count");
  planned = example();
  plan_of(planned, "a").bytes = 65;
  expect_refused(allocation_status(planned), "value \"a\" has a wrong size");
  planned = example();
  --plan_of(planned, "a").last_pc;
  expect_refused(allocation_status(planned), "value \"a\" has a wrong lifetime");
  planned = example();
  ++plan_of(planned, "e").first_pc;
  expect_refused(allocation_status(planned), "value \"e\" has a wrong lifetime");
  planned = example();
  --plan_of(planned, "w").last_pc;
  expect_refused(allocation_status(planned), "value \"w\" has a wrong lifetime");
}

TEST(CheckAllocation, RefusesAWrongLocation) {
  Planned planned = example();
  plan_of(planned, "a").location = 1;
  expect_refused(allocation_status(planned), "value \"a\" is not where its step produces it");
}

TEST(CheckAllocation, RefusesABufferForAnUnusedValue) {
  Planned planned = example();
  plan_of(planned, "b").reused = planned.id("a");
  expect_refused(allocation_status(planned), "value \"b\" is unused but has a buffer");
}

TEST(CheckAllocation, RefusesAnOwnerWithAnotherRoot) {
  Planned planned = example();
  plan_of(planned, "a").reused = planned.id("c");
  expect_refused(allocation_status(planned),
                 "value \"a\" has a buffer kind of its own but reuses another buffer");
}

TEST(CheckAllocation, RefusesReuseOfNothingOfItselfAndOfAChain) {
  for (const char* root : {"d", "e", "b"}) {
    Planned planned = example();
    plan_of(planned, "d").reused = planned.id(root);
    const bool is_itself = root == std::string("d");
    expect_refused(allocation_status(planned),
                   is_itself ? "reuses the buffer of nothing" : "which owns no buffer");
  }
  Planned planned = example();
  plan_of(planned, "d").reused = kNoValue;
  expect_refused(allocation_status(planned), "value \"d\" reuses the buffer of nothing");
}

TEST(CheckAllocation, RefusesReuseAcrossLocations) {
  Planned planned = example();
  planned.notes[2].location = 1;
  plan_of(planned, "d").location = 1;
  expect_refused(allocation_status(planned), "value \"d\" reuses a buffer in another location");
}

TEST(CheckAllocation, RefusesAnInPlaceStepThatIsNotPermitted) {
  Planned planned = example();
  planned.notes[2].may_inplace.clear();
  expect_refused(allocation_status(planned),
                 "at step 2 value \"d\" overwrites value \"c\", which is still needed");
}

TEST(CheckAllocation, RefusesAViewThatIsNotPermitted) {
  Planned planned = example();
  planned.notes[3].aliases.clear();
  expect_refused(allocation_status(planned),
                 "at step 3 value \"v\" overwrites value \"a\", which is still needed");
}

TEST(CheckAllocation, RefusesAnInPlaceStepOverWhatIsReadLater) {
  Planned planned = example({.enable_mem_reuse = false});
  planned.notes[3].aliases.clear();
  planned.notes[1].may_inplace = {{0, 0}};
  put_into(planned, "c", "a");  // but step 3 reads a
  expect_refused(allocation_status(planned),
                 "at step 1 value \"c\" overwrites value \"a\", which is needed later");
}

TEST(CheckAllocation, RefusesAnInPlaceStepOverWhatAViewShows) {
  Planned planned = example();
  planned.notes[4].may_inplace = {{0, 0}};
  planned.execution.steps[4].inputs = {planned.id("v"), planned.id("v")};
  const auto refused = allocation_status(planned);
  EXPECT_FALSE(refused.ok());
  planned = example();
  planned.notes[4].may_inplace = {{0, 0}, {1, 0}};
  planned.allocate();
  put_into(planned, "c", "y");
  EXPECT_FALSE(allocation_status(planned).ok());
}

TEST(CheckAllocation, RefusesAnInPlaceStepOverWhatAnotherSlotReads) {
  Planned planned = example({.enable_mem_reuse = false});
  planned.execution.steps[4].inputs = {planned.id("d"), planned.id("d")};
  planned.graph.nodes[5].inputs = planned.execution.steps[4].inputs;
  planned.allocate({.enable_mem_reuse = false});
  ASSERT_THAT(allocation_status(planned), IsOk());
  put_into(planned, "e", "d");
  expect_refused(allocation_status(planned),
                 "at step 4 value \"e\" overwrites a value that another slot of the step reads");
}

TEST(CheckAllocation, RefusesAnInPlaceStepOverAnotherSize) {
  Planned planned = example({.enable_mem_reuse = false});
  planned.graph.values[planned.id("d")].type.shape = Shape{4, 3};
  planned.allocate({.enable_mem_reuse = false});
  put_into(planned, "d", "c");
  expect_refused(allocation_status(planned), "is written over a value of another size");
}

TEST(CheckAllocation, RefusesAViewOfAnotherSize) {
  Planned planned = example({.enable_mem_reuse = false});
  planned.graph.values[planned.id("v")].type.shape = Shape{4, 3};
  planned.allocate({.enable_mem_reuse = false});
  put_into(planned, "v", "a");
  expect_refused(allocation_status(planned), "value \"v\" is a view of another size");
}

TEST(CheckAllocation, RefusesToWriteGraphInputsAndConstants) {
  Planned planned = example({.enable_mem_reuse = false});
  put_into(planned, "f", "x");
  expect_refused(allocation_status(planned), "at step 5 value \"f\" overwrites read-only memory");
  planned = example({.enable_mem_reuse = false});
  planned.notes[0].may_inplace = {{1, 0}};
  put_into(planned, "a", "w");
  expect_refused(allocation_status(planned), "at step 0 value \"a\" overwrites read-only memory");
}

TEST(CheckAllocation, RefusesABufferThatIsTooSmall) {
  Planned planned = example({.enable_mem_reuse = false});
  planned.graph.values[planned.id("f")].type.shape = Shape{5, 5};
  planned.allocate({.enable_mem_reuse = false});
  put_into(planned, "f", "c");  // dead by then
  expect_refused(allocation_status(planned),
                 "at step 5 value \"f\" may not fit the buffer of value \"c\"");
}

TEST(CheckAllocation, AcceptsADeadBufferThatIsLargeEnough) {
  Planned planned = example({.enable_mem_reuse = false});
  put_into(planned, "f", "c");
  EXPECT_THAT(allocation_status(planned), IsOk());
}

TEST(CheckAllocation, RefusesToOverwriteAGraphOutput) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Conv", {"x"}, {"y"})
                    .node("Conv", {"x"}, {"a"})
                    .node("Conv", {"a"}, {"z"})
                    .output("y")
                    .output("z")
                    .build();
  for (graph::Value& value : graph.values) {
    value.type = tensor_type(ElementType::kFloat, Shape{4, 4});
  }
  Planned planned = plan_graph(std::move(graph));
  put_into(planned, "a", "y");
  expect_refused(allocation_status(planned),
                 "at step 1 value \"a\" overwrites value \"y\", which is still needed");
}

TEST(CheckAllocation, RefusesTwoOutputsOfAStepInOneBuffer) {
  GraphBuilder builder;
  builder.input("x").node("Conv", {"x"}, {"a"}).node("Op", {"a"}, {"b", "c"});
  Graph graph = builder.node("Conv", {"b"}, {"y"}).output("y").build();
  for (graph::Value& value : graph.values) {
    value.type = tensor_type(ElementType::kFloat, Shape{4, 4});
  }
  Planned planned = plan_graph(std::move(graph));
  put_into(planned, "b", "a");
  put_into(planned, "c", "a");
  planned.notes[1].may_inplace = {{0, 0}};
  planned.notes[1].aliases = {{0, 1}};
  expect_refused(allocation_status(planned),
                 "at step 1 value \"c\" is a view of value \"a\", which was overwritten");
  planned.notes[1].may_inplace = {{0, 1}};
  planned.notes[1].aliases = {{0, 0}};
  EXPECT_FALSE(allocation_status(planned).ok());
}

TEST(CheckAllocation, RefusesAReadOfWhatIsNotThere) {
  Planned planned = example();
  planned.execution.steps[0].inputs[0] = planned.id("b");
  EXPECT_FALSE(allocation_status(planned).ok());
}

TEST(CheckAllocation, RefusesAWrongListOfBuffers) {
  Planned planned = example();
  planned.allocation.buffers.pop_back();
  expect_refused(allocation_status(planned), "the number of buffers is wrong");
  planned = example();
  --planned.allocation.buffers[0].last_pc;
  expect_refused(allocation_status(planned),
                 "a buffer's lifetime differs from that of the values in it");
  planned = example();
  planned.allocation.buffers[0].bytes = 1;
  expect_refused(allocation_status(planned), "has another size or place");
  planned = example();
  planned.allocation.buffers[0].location = 1;
  expect_refused(allocation_status(planned), "has another size or place");
  planned = example();
  std::swap(planned.allocation.buffers[0], planned.allocation.buffers[1]);
  expect_refused(allocation_status(planned), "the buffers are not sorted");
  planned = example();
  planned.allocation.buffers[1] = planned.allocation.buffers[0];
  EXPECT_FALSE(allocation_status(planned).ok());
}

TEST(CheckAllocation, RefusesOtherWorkspaces) {
  Planned planned = example();
  planned.allocation.workspaces.clear();
  expect_refused(allocation_status(planned), "the workspaces differ from those");
  planned = example();
  ++planned.allocation.workspaces[0].bytes;
  expect_refused(allocation_status(planned), "the workspaces differ from those");
}

}  // namespace
}  // namespace ephost::plan::checker_test
