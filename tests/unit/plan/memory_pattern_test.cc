#include "host/plan/memory_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/check/checker.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::memory_pattern_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::plan_graph;
using testing::Planned;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

// x -> a -> b -> c -> y by convolutions; float [4, 4] by default.
Planned row() {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Conv", {"x"}, {"a"})
                    .node("Conv", {"a"}, {"b"})
                    .node("Conv", {"b"}, {"c"})
                    .node("Conv", {"c"}, {"y"})
                    .output("y")
                    .build();
  for (graph::Value& value : graph.values) {
    value.type = tensor_type(ElementType::kFloat, Shape{4, 4});
  }
  return plan_graph(std::move(graph));
}

MemoryPattern pattern_of(const Planned& planned,
                         std::span<const std::optional<uint64_t>> sizes = {},
                         const MemoryOptions& options = {}) {
  const auto pattern = plan_memory(planned.allocation, sizes, options);
  EXPECT_THAT(pattern, IsOk());
  if (!pattern.ok()) return {};
  const Status status = check_memory(planned.allocation, *pattern, sizes);
  EXPECT_THAT(status, IsOk());
  return *pattern;
}

TEST(MemoryPattern, PutsIntermediateValuesIntoOneBlock) {
  const Planned planned = row();
  const MemoryPattern pattern = pattern_of(planned);
  ASSERT_EQ(pattern.blocks.size(), 1U);
  EXPECT_EQ(pattern.blocks[0].bytes, 128U);
  EXPECT_TRUE(pattern.blocks[0].proved_optimal);
  EXPECT_EQ(pattern.offsets[planned.id("x")], kNoOffset);
  EXPECT_EQ(pattern.offsets[planned.id("y")], kNoOffset);
  EXPECT_EQ(pattern.offsets[planned.id("a")], pattern.offsets[planned.id("c")]);
}

TEST(MemoryPattern, GivesReusedValuesTheirRootsOffset) {
  Planned planned = row();
  planned.notes[1] = testing::notes_of("Relu");
  planned.allocate();
  const MemoryPattern pattern = pattern_of(planned);
  EXPECT_EQ(planned.place("b"), "Reuse a");
  EXPECT_NE(pattern.offsets[planned.id("b")], kNoOffset);
  EXPECT_EQ(pattern.offsets[planned.id("b")], pattern.offsets[planned.id("a")]);
}

TEST(MemoryPattern, PlacesWorkspacesBesideTheValuesOfTheirStep) {
  Planned planned = row();
  planned.notes[1].workspace_bytes = 1000;
  planned.allocate();
  const MemoryPattern pattern = pattern_of(planned);
  EXPECT_EQ(pattern.blocks[0].bytes, 128U + 1024U);
  EXPECT_NE(pattern.workspace_offsets[1], kNoOffset);
  EXPECT_EQ(pattern.workspace_offsets[0], kNoOffset);
}

TEST(MemoryPattern, HasABlockForEachLocation) {
  Planned planned = row();
  planned.notes[1].location = 2;
  planned.notes[1].input_locations = {{0, kHostLocation}};
  planned.notes[2].input_locations = {{0, 2}};
  planned.allocate();
  const MemoryPattern pattern = pattern_of(planned);
  ASSERT_EQ(pattern.blocks.size(), 2U);
  EXPECT_EQ(pattern.blocks[0].location, 0U);
  EXPECT_EQ(pattern.blocks[1].location, 2U);
  EXPECT_EQ(pattern.blocks[1].bytes, 64U);
}

TEST(MemoryPattern, OmitsValuesOfUnknownSize) {
  Planned planned = row();
  planned.graph.values[planned.id("b")].type.shape = Shape{graph::symbolic_dim(0), 4};
  planned.allocate();
  const MemoryPattern pattern = pattern_of(planned);
  EXPECT_EQ(pattern.offsets[planned.id("b")], kNoOffset);
  EXPECT_EQ(pattern.blocks[0].bytes, 64U);
}

TEST(MemoryPattern, PlansWithSizesThatWereTraced) {
  Planned planned = row();
  planned.graph.values[planned.id("b")].type.shape = Shape{graph::symbolic_dim(0), 4};
  planned.allocate();
  std::vector<std::optional<uint64_t>> sizes(planned.graph.values.size(), 640);
  sizes[planned.id("c")].reset();
  const MemoryPattern pattern = pattern_of(planned, sizes);
  EXPECT_EQ(pattern.blocks[0].bytes, 1280U);
  EXPECT_EQ(pattern.offsets[planned.id("c")], kNoOffset);
}

TEST(MemoryPattern, GivesABufferTheLargestSizeInIt) {
  Planned planned = row();
  planned.notes[1] = testing::notes_of("Relu");
  planned.allocate();
  std::vector<std::optional<uint64_t>> sizes(planned.graph.values.size(), 64);
  sizes[planned.id("b")] = 256;
  EXPECT_EQ(pattern_of(planned, sizes).blocks[0].bytes, 256U + 64U);
}

TEST(MemoryPattern, IsEmptyWhenTurnedOff) {
  const Planned planned = row();
  const MemoryPattern pattern = pattern_of(planned, {}, {.enable_mem_pattern = false});
  EXPECT_TRUE(pattern.blocks.empty());
  EXPECT_THAT(pattern.offsets, ::testing::Each(kNoOffset));
}

TEST(MemoryPattern, RefusesSizesOfAnotherGraph) {
  const Planned planned = row();
  const std::vector<std::optional<uint64_t>> sizes(2);
  const auto pattern = plan_memory(planned.allocation, sizes);
  ASSERT_FALSE(pattern.ok());
  EXPECT_EQ(pattern.status().message(), "cannot plan memory: there are 5 values but 2 sizes");
}

TEST(MemoryPattern, RefusesSizesThatAddUpToMoreThan64Bits) {
  const Planned planned = row();
  const std::vector<std::optional<uint64_t>> sizes(planned.graph.values.size(), kHuge - 100);
  EXPECT_FALSE(plan_memory(planned.allocation, sizes).ok());
}

}  // namespace
}  // namespace ephost::plan::memory_pattern_test
