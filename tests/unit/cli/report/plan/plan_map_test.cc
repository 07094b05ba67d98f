#include "host/cli/report/plan/plan_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ephost::cli::plan_map_test
