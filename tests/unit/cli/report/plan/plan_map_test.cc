#include "host/cli/report/plan/plan_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cli/report/plan/critical_path.h"

namespace ephost::cli::plan_map_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PlannedValue value(std::string kind, std::optional<uint64_t> bytes, bool is_allocated_by_runs) {
  return {.name = kind,
          .kind = kind,
          .owns_buffer = kind != "Reuse",
          .bytes = bytes,
          .buffer_bytes = bytes,
          .is_allocated_by_runs = is_allocated_by_runs};
}

TEST(PlanMap, NeedsNoBlockForInputsViewsAndOutputs) {
  const GraphPlan plan{.values = {value("PreExisting", 16, false), value("Reuse", 16, false),
                                  value("AllocateOutput", 16, true)}};
  EXPECT_THAT(memory_notes(plan),
              ElementsAre(HasSubstr("none is needed"), StartsWith("1 value outside of blocks: "
                                                                  "outputs")));
}

TEST(PlanMap, SaysWhatIsKnownAtRunTimeOnly) {
  GraphPlan plan{.values = {value("Allocate", std::nullopt, true)}};
  EXPECT_THAT(memory_notes(plan), ElementsAre(HasSubstr("are known at run time only"),
                                              HasSubstr("1 value outside of blocks: the size is")));
  plan.blocks = {{.memory = "host", .peak_bytes = 64}};
  EXPECT_THAT(memory_notes(plan), ElementsAre(HasSubstr("known at run time only")));
}

TEST(PlanMap, SaysThatMemoryIsNotPlanned) {
  const GraphPlan plan{.values = {value("Allocate", 16, true), value("Allocate", 16, true)}};
  EXPECT_THAT(memory_notes(plan),
              ElementsAre(HasSubstr("memory is not planned"), StartsWith("2 values outside")));
}

TEST(PlanMap, CountsTheConstantsOfKernels) {
  GraphPlan plan{
      .values = {value("AllocateStatically", 1000, false), value("AllocateStatically", 24, false)}};
  plan.blocks = {{.memory = "host", .peak_bytes = 64}};
  EXPECT_THAT(memory_notes(plan),
              ElementsAre("2 constants that kernels read, 1.0 KiB, outside of blocks."));
}

TEST(PlanMap, DrawsWorkspacesWithWhatIsKnownOfTheirInside) {
  GraphPlan plan{.providers = {"Acme"},
                 .steps = {{.name = "partition p",
                            .op = "2 nodes",
                            .partition = "p",
                            .workspace_bytes = 100,
                            .constant_bytes = 7,
                            .inner_values = 3,
                            .inner_bytes = 60,
                            .inner_live_bytes = 40}},
                 .buffers = {{.bytes = 100, .is_workspace = true}},
                 .blocks = {{.memory = "host", .peak_bytes = 128, .alignment = 64}}};
  const MemoryMap map = map_of(plan);
  ASSERT_EQ(map.blocks.size(), 1U);
  ASSERT_EQ(map.blocks[0].boxes.size(), 1U);
  const MapBox& box = map.blocks[0].boxes[0];
  EXPECT_EQ(box.name, "workspace of partition p");
  EXPECT_EQ(box.inner_values, 3U);
  EXPECT_EQ(box.inner_live, 40U);
  ASSERT_EQ(map.steps.size(), 1U);
  EXPECT_EQ(map.steps[0].live, 128U);
  EXPECT_EQ(map.steps[0].workspace, 100U);
  EXPECT_EQ(map.steps[0].weights, 7U);
  EXPECT_THAT(to_html("t", {&map, 1}), HasSubstr("\"insides\":[[0,3,40]]"));
}

// Steps 0 to 5: a copy in, two branches on two streams, of which the second one is longer, a copy
// out that waits for both, and a step of the host that waits for that.
std::vector<PlannedStep> branching() {
  return {{.stream = "npu copy in"},
          {.stream = "npu compute 0", .waits = {0}},
          {.stream = "npu compute 1", .waits = {0}},
          {.stream = "npu compute 1"},
          {.stream = "npu copy out", .waits = {1, 3}},
          {.host_waits = {4}}};
}

TEST(CriticalPath, IsTheLongestChainOfStreamsAndWaits) {
  EXPECT_THAT(critical_path(branching()), ElementsAre(0, 2, 3, 4, 5));
  const std::vector<double> seconds = {1, 5, 1, 1, 1, 1};
  EXPECT_THAT(critical_path(branching(), seconds), ElementsAre(0, 1, 4, 5));
}

// What comes after a step of the host is enqueued once that has ended.
TEST(CriticalPath, GoesThroughTheHostWhereItWaits) {
  const std::vector<PlannedStep> steps = {
      {.stream = "npu compute 0"}, {.host_waits = {0}}, {}, {.stream = "npu compute 1"}};
  EXPECT_THAT(critical_path(steps), ElementsAre(0, 1, 2, 3));
}

TEST(CriticalPath, IsEmptyWhereTheHostRunsAllSteps) {
  EXPECT_THAT(critical_path(std::vector<PlannedStep>(3)), ::testing::IsEmpty());
}

TEST(PlanMap, HasALaneForEachStream) {
  GraphPlan plan{.providers = {"Acme"}, .steps = branching()};
  const MemoryMap map = map_of(plan);
  EXPECT_THAT(map.streams,
              ElementsAre("host", "npu copy in", "npu compute 0", "npu compute 1", "npu copy out"));
  EXPECT_EQ(map.steps[3].lane, 3U);
  EXPECT_EQ(map.steps[5].lane, 0U);
  EXPECT_THAT(map.steps[4].waits, ElementsAre(1, 3));
  EXPECT_FALSE(map.steps[1].is_critical);
  EXPECT_TRUE(map.steps[2].is_critical);
  EXPECT_THAT(to_html("t", {&map, 1}), HasSubstr("\"waits\":[[0,1],[0,2],[1,4],[3,4],[4,5]]"));
}

}  // namespace
}  // namespace ephost::cli::plan_map_test
