#include "host/plan/copies.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/plan/check/checker_example.h"

namespace ephost::plan::copies_test {
namespace {

using test::IsOk;
using testing::allocation_status;
using ::testing::ElementsAre;
using testing::execution_status;
using testing::expect_refused;
using testing::GraphBuilder;
using testing::plan_graph;
using testing::Planned;

constexpr uint32_t kCpu = kHostLocation;
constexpr uint32_t kNpu = 1;

graph::ValueType floats() {
  return graph::testing::tensor_type(graph::ElementType::kFloat, graph::Shape{4, 4});
}

Graph typed(Graph graph) {
  for (graph::Value& value : graph.values) value.type = floats();
  return graph;
}

// "Relu: a -> b" for each step.
std::vector<std::string> steps_of(const Planned& planned) {
  std::vector<std::string> texts;
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::string text;
    for (const ValueId id : ids) {
      text += " " + (id == kNoValue ? "-" : planned.graph.values[id].name);
    }
    return text;
  };
  for (const Step& step : planned.execution.steps) {
    const graph::Node& node = planned.graph.nodes[step.node];
    texts.push_back(node.op_type + ":" + names(step.inputs) + " ->" + names(step.outputs));
  }
  return texts;
}

void expect_proved(const Planned& planned) {
  EXPECT_THAT(execution_status(planned), IsOk());
  EXPECT_THAT(allocation_status(planned), IsOk());
}

// Each step of `graph` in the location of the same index.
Planned placed(Graph graph, const std::vector<uint32_t>& locations,
               const std::vector<Location>& known = {{"npu", 0}}) {
  Planned planned = plan_graph(typed(std::move(graph)));
  for (size_t i = 0; i < locations.size(); ++i) planned.notes[i].location = locations[i];
  planned.place_copies(known);
  planned.allocate();
  expect_proved(planned);
  return planned;
}

GraphBuilder chain() {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  return builder;
}

TEST(PlaceCopies, ChangesNothingWhereAllIsInOneLocation) {
  const Planned planned = placed(chain().output("b").build(), {kCpu, kCpu});
  EXPECT_THAT(steps_of(planned), ElementsAre("Relu: x -> a", "Relu: a -> b"));
  EXPECT_EQ(planned.graph.values.size(), 3U);
}

TEST(PlaceCopies, BringsInputsInAndOutputsOut) {
  const Planned planned = placed(chain().output("b").build(), {kNpu, kNpu});
  EXPECT_THAT(steps_of(planned), ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a",
                                             "Relu: a -> b@npu", "Memcpy: b@npu -> b"));
  EXPECT_EQ(planned.value("a").location, kNpu);
  EXPECT_EQ(planned.value("b").kind, AllocKind::kAllocateOutput);
}

TEST(PlaceCopies, CopiesAValueOnceForAllWhoReadItThere) {
  const Planned planned = placed(GraphBuilder()
                                     .input("x")
                                     .node("Relu", {"x"}, {"a"})
                                     .node("Relu", {"a"}, {"b"})
                                     .node("Add", {"a", "b"}, {"c"})
                                     .node("Add", {"a", "c"}, {"d"})
                                     .output("d")
                                     .build(),
                                 {kCpu, kNpu, kNpu, kCpu});
  EXPECT_THAT(steps_of(planned),
              ElementsAre("Relu: x -> a", "Memcpy: a -> a@npu", "Relu: a@npu -> b",
                          "Add: a@npu b -> c@npu", "Memcpy: c@npu -> c", "Add: a c -> d"));
}

TEST(PlaceCopies, GivesAConstantASecondValueAndNoStep) {
  const Planned planned =
      placed(GraphBuilder()
                 .input("x")
                 .constant("w", graph::testing::float_tensor(std::vector<float>(16)))
                 .node("Add", {"x", "w"}, {"a"})
                 .node("Add", {"a", "w"}, {"b"})
                 .output("b")
                 .build(),
             {kCpu, kNpu});
  EXPECT_THAT(steps_of(planned), ElementsAre("Add: x w -> a", "Memcpy: a -> a@npu",
                                             "Add: a@npu w@npu -> b@npu", "Memcpy: b@npu -> b"));
  EXPECT_EQ(planned.value("w").location, kCpu);
  EXPECT_EQ(planned.value("w@npu").location, kNpu);
  EXPECT_EQ(planned.value("w@npu").kind, AllocKind::kAllocateStatically);
}

TEST(PlaceCopies, PassesThroughHostMemoryOnlyBetweenOwners) {
  const std::vector<Location> known = {{"npu", 0}, {"sram", 0}, {"gpu", 1}};
  const auto graph = [] { return chain().node("Relu", {"b"}, {"c"}).output("c").build(); };
  EXPECT_THAT(steps_of(placed(graph(), {1, 2, 0}, known)),
              ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a", "Memcpy: a -> a@sram",
                          "Relu: a@sram -> b@sram", "Memcpy: b@sram -> b", "Relu: b -> c"));
  EXPECT_THAT(steps_of(placed(graph(), {1, 3, 0}, known)),
              ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a@npu", "Memcpy: a@npu -> a",
                          "Memcpy: a -> a@gpu", "Relu: a@gpu -> b@gpu", "Memcpy: b@gpu -> b",
                          "Relu: b -> c"));
}

TEST(PlaceCopies, ObeysTheLocationsOfSlots) {
  Planned planned = plan_graph(typed(GraphBuilder()
                                         .input("x")
                                         .input("shape")
                                         .node("Reshape", {"x", "shape"}, {"y"})
                                         .output("y")
                                         .build()));
  planned.notes[0] = {
      .location = kNpu, .input_locations = {{1, kCpu}}, .output_locations = {{0, kCpu}}};
  planned.place_copies({{"npu", 0}});
  planned.allocate();
  expect_proved(planned);
  EXPECT_THAT(steps_of(planned), ElementsAre("Memcpy: x -> x@npu", "Reshape: x@npu shape -> y"));
}

TEST(PlaceCopies, LeavesTextInHostMemory) {
  Graph graph = typed(chain().output("b").build());
  graph.values[graph.find_value("a")].type.element = graph::ElementType::kString;
  Planned planned = plan_graph(std::move(graph));
  planned.notes[0].location = planned.notes[1].location = kNpu;
  planned.place_copies({{"npu", 0}});
  planned.allocate();
  expect_proved(planned);
  EXPECT_THAT(steps_of(planned), ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a",
                                             "Relu: a -> b@npu", "Memcpy: b@npu -> b"));
}

TEST(PlaceCopies, SharesBuffersWithinALocationOnly) {
  const Planned planned =
      placed(chain().node("Relu", {"b"}, {"c"}).node("Relu", {"c"}, {"d"}).output("d").build(),
             {kCpu, kCpu, kNpu, kNpu});
  EXPECT_EQ(planned.place("b"), "Reuse a");
  EXPECT_EQ(planned.place("b@npu"), "Allocate");
  EXPECT_EQ(planned.place("c"), "Reuse b@npu");
  EXPECT_EQ(planned.place("d@npu"), "Reuse b@npu");
  EXPECT_EQ(planned.place("d"), "AllocateOutput");
}

TEST(PlaceCopies, RefusesLocationsThatDoNotExist) {
  Planned planned = plan_graph(typed(chain().output("b").build()));
  std::vector<StepLocations> steps(2);
  const std::vector<Location> none;
  const CopyTargets targets = {planned.graph, planned.partitioning, planned.execution, steps};
  steps[1].inputs = {{0, 1}};
  EXPECT_EQ(plan::place_copies(targets, none, 2).status().code(), StatusCode::kInvalidArgument);
  steps.pop_back();
  EXPECT_EQ(plan::place_copies(targets, none, 2).status().code(), StatusCode::kInvalidArgument);
}

TEST(PlanAllocation, RefusesStepsThatReadElsewhere) {
  Planned planned = plan_graph(typed(chain().output("b").build()));
  planned.notes[0].location = kNpu;
  const auto traits = testing::to_traits(planned.notes);
  const auto allocation = plan_allocation(planned.graph, planned.execution, traits);
  EXPECT_THAT(allocation.status().message(),
              ::testing::HasSubstr("\"x\" of step 0 is read in location 1 but lies in 0"));
}

Planned copied() { return placed(chain().output("b").build(), {kNpu, kCpu}); }

TEST(CheckExecution, RefusesAMissingCopy) {
  Planned planned = copied();
  ASSERT_EQ(steps_of(planned)[2], "Memcpy: a@npu -> a");
  std::swap(planned.execution.steps[2], planned.execution.steps[3]);
  expect_refused(execution_status(planned), "reads value \"a\" before it is produced");
  planned.execution.steps.erase(planned.execution.steps.begin() + 3);
  EXPECT_FALSE(execution_status(planned).ok());
}

TEST(CheckExecution, RefusesACopyOfAnotherValue) {
  Planned planned = copied();
  Step& copy = planned.execution.steps[2];
  copy.inputs[0] = planned.id("x@npu");
  expect_refused(execution_status(planned), "has different slots than its node");
  planned.graph.nodes[copy.node].inputs[0] = planned.id("x@npu");
  expect_refused(execution_status(planned), "a copy turns value \"x\" into value \"a\"");
}

TEST(CheckAllocation, RefusesAReaderInAnotherLocation) {
  Planned planned = copied();
  planned.notes[3].location = kNpu;
  planned.notes[3].output_locations = {{0, kCpu}};
  expect_refused(allocation_status(planned), "\"a\" is read in a location other than its own");
}

TEST(CheckAllocation, RefusesACopyFromAnotherLocation) {
  Planned planned = copied();
  planned.notes[2].input_locations = {{0, kCpu}};
  expect_refused(allocation_status(planned), "\"a@npu\" is read in a location other than its own");
}

TEST(CheckAllocation, RefusesAGraphInputOnADevice) {
  Planned planned = copied();
  planned.notes[0].input_locations = {{0, kNpu}};
  testing::plan_of(planned, "x").location = kNpu;
  expect_refused(allocation_status(planned),
                 "\"x\" belongs to the caller but is not in host memory");
}

TEST(CheckAllocation, RefusesACopyIntoABufferThatIsStillRead) {
  Planned planned =
      placed(chain().node("Add", {"a", "b"}, {"c"}).output("c").build(), {kNpu, kNpu, kNpu});
  ASSERT_THAT(allocation_status(planned), IsOk());
  testing::put_into(planned, "a", "x@npu");
  EXPECT_THAT(allocation_status(planned), IsOk()) << "x@npu is dead when a is produced";
  planned.notes[1].may_inplace.clear();
  EXPECT_FALSE(allocation_status(planned).ok());
}

// The application may bring one piece of memory for both ends.
TEST(Sharing, KeepsApartWhatMustShareBetweenAGraphInputAndAGraphOutput) {
  for (const bool must_share : {false, true}) {
    for (const bool is_output : {false, true}) {
      Planned planned = plan_graph(typed(chain().output(is_output ? "a" : "b").build()));
      for (size_t i = 0; i < 2; ++i) planned.notes[i].location = kNpu;
      if (must_share) planned.notes[0].must_share = {{0, 0}};
      planned.place_copies(std::vector<Location>{{"npu", 0}});
      planned.allocate();
      expect_proved(planned);
      const auto& values = planned.allocation.values;
      const ValueId a = planned.id(is_output ? "a@npu" : "a");
      const bool share = values[planned.id("x@npu")].reused == values[a].reused;
      EXPECT_EQ(share, !must_share || !is_output);
    }
  }
}

TEST(MemoryPattern, AlignsEachBlockAsItsLocationWants) {
  Planned planned =
      placed(chain().node("Add", {"a", "b"}, {"c"}).output("c").build(), {kNpu, kCpu, kNpu});
  const auto pattern = plan_memory(planned.allocation, {}, {.alignments = {64, 4096}});
  ASSERT_THAT(pattern, IsOk());
  EXPECT_THAT(check_memory(planned.allocation, *pattern), IsOk());
  ASSERT_EQ(pattern->blocks.size(), 2U);
  EXPECT_EQ(pattern->blocks[1].alignment, 4096U);
  EXPECT_EQ(pattern->blocks[1].bytes % 4096, 0U);
  EXPECT_EQ(pattern->offsets[planned.id("b@npu")] % 4096, 0U);
  MemoryPattern wrong = *pattern;
  wrong.blocks[1].alignment = 32;
  EXPECT_FALSE(check_memory(planned.allocation, wrong).ok());
}

// Steps in locations, and what serves each of them as well.
Planned accepting(Graph graph, const std::vector<uint32_t>& locations,
                  const std::vector<std::vector<uint32_t>>& accepted,
                  const std::vector<Location>& known = {{"npu", 0}}) {
  Planned planned = plan_graph(typed(std::move(graph)));
  for (size_t i = 0; i < locations.size(); ++i) {
    planned.notes[i].location = locations[i];
    planned.notes[i].accepted = accepted[i];
  }
  planned.place_copies(known);
  planned.allocate();
  expect_proved(planned);
  return planned;
}

TEST(UseAcceptedLocations, LeavesInputsWhereTheyAreProduced) {
  const Planned planned = accepting(chain().output("b").build(), {kCpu, kNpu}, {{}, {kCpu}});
  EXPECT_THAT(steps_of(planned), ElementsAre("Relu: x -> a", "Relu: a -> b"));
}

TEST(UseAcceptedLocations, WritesOutputsWhereTheyAreRead) {
  const Planned planned = accepting(chain().node("Relu", {"b"}, {"c"}).output("c").build(),
                                    {kNpu, kNpu, kCpu}, {{kCpu}, {kCpu}, {}});
  EXPECT_THAT(steps_of(planned), ElementsAre("Relu: x -> a", "Relu: a -> b", "Relu: b -> c"));
  EXPECT_EQ(planned.value("a").location, kNpu);
  EXPECT_EQ(planned.value("b").location, kCpu);
}

TEST(UseAcceptedLocations, CopiesWhatSomeReaderNeedsElsewhere) {
  // The first step's output is read by one that accepts host memory and one that does not.
  const Planned planned = accepting(GraphBuilder()
                                        .input("x")
                                        .node("Relu", {"x"}, {"a"})
                                        .node("Relu", {"a"}, {"b"})
                                        .node("Add", {"a", "b"}, {"c"})
                                        .output("c")
                                        .build(),
                                    {kNpu, kNpu, kCpu}, {{}, {kCpu}, {}});
  EXPECT_THAT(steps_of(planned),
              ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a@npu", "Relu: a@npu -> b",
                          "Memcpy: a@npu -> a", "Add: a b -> c"));
}

TEST(UseAcceptedLocations, ReadsConstantsInHostMemory) {
  const Planned planned =
      accepting(GraphBuilder()
                    .input("x")
                    .constant("w", graph::testing::float_tensor(std::vector<float>(16)))
                    .node("Add", {"x", "w"}, {"a"})
                    .output("a")
                    .build(),
                {kNpu}, {{kCpu}});
  EXPECT_THAT(steps_of(planned), ElementsAre("Add: x w -> a"));
}

TEST(UseAcceptedLocations, LeavesListedSlotsWhereTheyAreWanted) {
  Planned planned = plan_graph(typed(
      GraphBuilder().input("x").input("y").node("Add", {"x", "y"}, {"a"}).output("a").build()));
  planned.notes[0].location = kNpu;
  planned.notes[0].accepted = {kCpu};
  planned.notes[0].input_locations = {{1, kNpu}};
  planned.notes[0].output_locations = {{0, kNpu}};
  planned.place_copies({{"npu", 0}});
  EXPECT_THAT(steps_of(planned),
              ElementsAre("Memcpy: y -> y@npu", "Add: x y@npu -> a@npu", "Memcpy: a@npu -> a"));
}

TEST(UseAcceptedLocations, GoesFromOneMemoryToAnother) {
  const std::vector<Location> known = {{"npu", 0}, {"sram", 0}, {"gpu", 1}};
  const Planned planned = accepting(chain().node("Relu", {"b"}, {"c"}).output("c").build(),
                                    {1, 2, 3}, {{2}, {kCpu}, {kCpu}}, known);
  EXPECT_THAT(steps_of(planned), ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a",
                                             "Relu: a -> b", "Relu: b -> c"));
  EXPECT_EQ(planned.value("a").location, 2U);
  EXPECT_EQ(planned.value("b").location, kCpu);
}

// a of npu is read by a step of gpu.
Planned across(const std::vector<Location>& known, bool is_served, bool is_listed = false) {
  Planned planned = plan_graph(typed(chain().node("Relu", {"b"}, {"c"}).output("c").build()));
  for (uint32_t i = 0; i < 3; ++i) {
    planned.notes[i].location = i == 0 ? 1 : 2;
    planned.notes[i].is_served = is_served;
  }
  if (is_listed) planned.notes[1].input_locations = {{0, 2}};
  planned.place_copies(known);
  planned.allocate();
  expect_proved(planned);
  return planned;
}

TEST(PlaceCopies, CopiesDirectlyBetweenPeers) {
  const std::vector<std::string> through_host = {
      "Memcpy: x -> x@npu", "Relu: x@npu -> a@npu", "Memcpy: a@npu -> a", "Memcpy: a -> a@gpu",
      "Relu: a@gpu -> b",   "Relu: b -> c@gpu",     "Memcpy: c@gpu -> c"};
  const auto steps = [](uint32_t npu, uint32_t gpu) {
    return steps_of(across({{"npu", 0, npu}, {"gpu", 1, gpu}}, false));
  };
  EXPECT_EQ(steps(0, 0), through_host);
  EXPECT_EQ(steps(1, 2), through_host);
  EXPECT_THAT(steps(3, 3),
              ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a", "Memcpy: a -> a@gpu",
                          "Relu: a@gpu -> b", "Relu: b -> c@gpu", "Memcpy: c@gpu -> c"));
}

TEST(UseAcceptedLocations, ReadsWhereAddressesAreShared) {
  const std::vector<Location> known = {{"npu", 0, 0, {2}}, {"gpu", 1, 0, {1}}};
  for (const bool is_listed : {false, true}) {
    const Planned planned = across(known, true, is_listed);
    EXPECT_THAT(steps_of(planned),
                ElementsAre("Memcpy: x -> x@npu", "Relu: x@npu -> a", "Relu: a -> b",
                            "Relu: b -> c@gpu", "Memcpy: c@gpu -> c"));
    EXPECT_EQ(planned.value("a").location, 1U);
    EXPECT_EQ(planned.value("b").location, 2U);
  }
  EXPECT_EQ(across(known, false).execution.steps.size(), 7U);
  // Only values of npu serve for gpu, not the other way round.
  EXPECT_EQ(across({{"npu", 0, 0, {2}}, {"gpu", 1}}, true).execution.steps.size(), 7U);
}

}  // namespace
}  // namespace ephost::plan::copies_test
