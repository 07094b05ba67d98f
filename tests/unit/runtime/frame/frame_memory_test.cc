#include "host/runtime/frame/frame_memory.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/frame/frame_parts.h"

namespace ephost::runtime::frame_memory_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::floats;
using testing::Machine;
using testing::typed;

TEST(FrameMemory, PlacesValuesInItsBlock) {
  const Machine machine(testing::line());
  FrameMemory memory(machine.program());
  ASSERT_THAT(memory.bind(nullptr), IsOk());
  const std::byte* const place = memory.place(machine.program().graph().find_value("a"));
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(place) % kAlignment, 0U);
  EXPECT_GE(memory.held_bytes(), 8U);
}

TEST(FrameMemory, HasNoPlaceForAnOpenBuffer) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  ASSERT_THAT(memory.bind(nullptr), IsOk());
  EXPECT_EQ(memory.place(machine.program().graph().find_value("a")), nullptr);
}

TEST(FrameMemory, KnowsWhichPatternIsBound) {
  const Machine machine(testing::line());
  FrameMemory memory(machine.program());
  EXPECT_FALSE(memory.is_bound_to(nullptr));
  ASSERT_THAT(memory.bind(nullptr), IsOk());
  EXPECT_TRUE(memory.is_bound_to(nullptr));
  EXPECT_FALSE(memory.is_bound_to(std::make_shared<TracedPattern>()));
}

TEST(FrameMemory, UsesAReleasedBlockAgain) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  const graph::Graph& graph = machine.program().graph();
  const std::byte* const first = *memory.take(graph.find_value("x"), 100);
  EXPECT_NE(*memory.take(graph.find_value("a"), 100), first);
  memory.release(graph.find_value("x"));
  EXPECT_EQ(*memory.take(graph.find_value("y"), 100), first);
}

TEST(FrameMemory, KeepsFewBlocksForAValueThatAsksAgain) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  const graph::ValueId id = machine.program().graph().find_value("a");
  constexpr uint64_t kMost = 100000;
  for (uint64_t bytes = 100; bytes <= kMost; bytes += 100) {
    ASSERT_THAT(memory.take(id, bytes), IsOk());
    ASSERT_THAT(memory.take(id, 1), IsOk());
  }
  EXPECT_LE(memory.held_bytes(), 5 * kMost);
}

TEST(FrameMemory, KeepsABlockWhereALargerOneFails) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  const graph::Graph& graph = machine.program().graph();
  const std::byte* const first = *memory.take(graph.find_value("a"), 100);
  EXPECT_FALSE(memory.take(graph.find_value("a"), UINT64_MAX / 2).ok());
  EXPECT_NE(*memory.take(graph.find_value("y"), 100), first);
}

TEST(FrameMemory, ReportsTheValueThatItHasNoMemoryFor) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  const graph::ValueId id = machine.program().graph().find_value("a");
  const Result<std::byte*> taken = memory.take(id, UINT64_MAX / 2);
  EXPECT_EQ(taken.status().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(taken.status().message().find("\"a\""), std::string::npos) << taken.status().message();
}

TEST(FrameMemory, ReleasesAnOpenBufferAfterItsLastReader) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  std::vector<std::vector<graph::ValueId>> released(2);
  for (size_t step = 0; step < 2; ++step) {
    memory.for_each_released(step, [&](graph::ValueId root) { released[step].push_back(root); });
  }
  EXPECT_TRUE(released[0].empty());
  EXPECT_EQ(released[1], std::vector{machine.program().graph().find_value("a")});
}

TEST(FrameMemory, OwnsAnAdoptedTensorUntilItIsReleased) {
  const Machine machine(testing::open_line());
  FrameMemory memory(machine.program());
  memory.adopt(1) = *Value::allocate(ElementType::kFloat, {2});
  EXPECT_TRUE(memory.adopt(1).has_value());
  memory.release(1);
  EXPECT_FALSE(memory.adopt(1).has_value());
}

graph::Graph with_workspace() {
  return typed(GraphBuilder()
                   .input("x", floats({2}))
                   .node("Workspace", {"x"}, {"a"})
                   .node("Negate", {"a"}, {"y"})
                   .output("y")
                   .build(),
               floats({2}));
}

TEST(FrameMemory, GivesAWorkspaceToStepsThatWantOne) {
  const Machine machine(with_workspace());
  FrameMemory memory(machine.program());
  ASSERT_THAT(memory.bind(nullptr), IsOk());
  EXPECT_NE(memory.workspace(0, 0), nullptr);
  EXPECT_EQ(memory.workspace(1, 0), nullptr);
}

TEST(FrameMemory, GivesAWorkspaceOutsideOfThePattern) {
  const Machine machine(with_workspace(), {.memory = {.enable_mem_pattern = false}});
  FrameMemory memory(machine.program());
  ASSERT_THAT(memory.bind(nullptr), IsOk());
  EXPECT_NE(memory.workspace(0, 0), nullptr);
}

}  // namespace
}  // namespace ephost::runtime::frame_memory_test
