#include "plugins/dnnl/executor/workspace_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace ephost_dnnl::workspace_plan_test {
namespace {

// Whether no two buffers that live at the same time share a byte, and all are aligned and inside.
bool is_valid(const std::vector<BufferLifetime>& buffers, const WorkspacePlan& plan) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (plan.offsets[i] % kBufferAlignment != 0) return false;
    if (plan.offsets[i] + buffers[i].size > plan.size) return false;
    for (std::size_t k = 0; k < i; ++k) {
      const bool meet_in_time =
          buffers[i].first <= buffers[k].last && buffers[k].first <= buffers[i].last;
      const bool meet_in_space = plan.offsets[i] < plan.offsets[k] + buffers[k].size &&
                                 plan.offsets[k] < plan.offsets[i] + buffers[i].size;
      if (meet_in_time && meet_in_space) return false;
    }
  }
  return true;
}

TEST(WorkspacePlan, NeedsNothingForNoBuffers) { EXPECT_EQ(plan_workspace({}).size, 0U); }

TEST(WorkspacePlan, ReusesTheMemoryOfDeadBuffers) {
  // A chain: each buffer is read by the step that writes the next.
  const std::vector<BufferLifetime> chain = {{640, 0, 1}, {640, 1, 2}, {640, 2, 3}, {640, 3, 4}};
  const WorkspacePlan plan = plan_workspace(chain);
  EXPECT_TRUE(is_valid(chain, plan));
  EXPECT_EQ(plan.size, 1280U);
}

TEST(WorkspacePlan, KeepsBuffersApartThatTouchInOneStep) {
  const std::vector<BufferLifetime> touching = {{100, 0, 1}, {100, 1, 2}};
  const WorkspacePlan plan = plan_workspace(touching);
  EXPECT_TRUE(is_valid(touching, plan));
  EXPECT_EQ(plan.size, 256U);
}

TEST(WorkspacePlan, IsValidForRandomLifetimes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLifetime> buffers;
    for (uint32_t i = 0; i < 1 + random() % 40; ++i) {
      const auto first = static_cast<uint32_t>(random() % 30);
      buffers.push_back({1 + random() % 5000, first, first + static_cast<uint32_t>(random() % 10)});
    }
    ASSERT_TRUE(is_valid(buffers, plan_workspace(buffers))) << "round " << round;
  }
}

}  // namespace
}  // namespace ephost_dnnl::workspace_plan_test
