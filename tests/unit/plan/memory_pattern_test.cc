#include "host/plan/memory_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "host/plan/checker.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::plan_graph;
using testing::Planned;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

Placement place_soundly(const std::vector<Buffer>& buffers, uint64_t alignment) {
  const auto placement = place_buffers(buffers, alignment);
  EXPECT_TRUE(placement.ok()) << placement.status().to_string();
  if (!placement.ok()) return {};
  const Status status = check_placement(buffers, *placement, alignment);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return *placement;
}

TEST(PlaceBuffers, StacksWhatLivesTogetherAndSharesWhatDoesNot) {
  const Placement placement = place_soundly({{0, 2, 100}, {1, 3, 50}, {2, 4, 100}}, 1);
  EXPECT_EQ(placement.peak, 150U);
  EXPECT_EQ(placement.lower_bound, 150U);
  EXPECT_TRUE(placement.proved_optimal);
  EXPECT_EQ(placement.offsets[0], placement.offsets[2]);
}

TEST(PlaceBuffers, RoundsSizesUpToTheAlignment) {
  const Placement placement = place_soundly({{0, 1, 65}, {0, 1, 1}, {0, 1, 64}}, 64);
  EXPECT_EQ(placement.peak, 256U);
  EXPECT_EQ(placement.lower_bound, 256U);
  for (const uint64_t offset : placement.offsets) EXPECT_EQ(offset % 64, 0U);
}

TEST(PlaceBuffers, NeedsNothingForNoBuffersAndForNoBytes) {
  EXPECT_EQ(place_soundly({}, 64).peak, 0U);
  EXPECT_TRUE(place_soundly({}, 64).proved_optimal);
  const Placement placement = place_soundly({{0, 9, 0}, {3, 4, 10}}, 64);
  EXPECT_EQ(placement.peak, 64U);
}

TEST(PlaceBuffers, AdmitsThatTheBoundIsNotMet) {
  // Exhaustive search finds no placement in 6 bytes, though no more than 6 live at any time.
  const Placement placement = place_soundly({{0, 1, 2},
                                             {0, 2, 1},
                                             {6, 7, 3},
                                             {1, 5, 1},
                                             {2, 6, 2},
                                             {8, 11, 3},
                                             {4, 6, 2},
                                             {6, 10, 1},
                                             {5, 9, 2},
                                             {0, 3, 3}},
                                            1);
  EXPECT_EQ(placement.lower_bound, 6U);
  EXPECT_EQ(placement.peak, 7U);
  EXPECT_FALSE(placement.proved_optimal);
}

TEST(PlaceBuffers, TakesTimesUpToTheLargest) {
  const uint32_t last = std::numeric_limits<uint32_t>::max();
  EXPECT_EQ(place_soundly({{0, last, 8}, {last - 1, last, 8}, {0, 1, 8}}, 1).peak, 16U);
}

TEST(PlaceBuffers, RefusesABufferThatNeverLives) {
  const auto result = place_buffers(std::vector<Buffer>{{0, 1, 1}, {5, 5, 1}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(),
            "cannot place buffers: buffer #1 lives from 5 to 5; its end must be after its start");
}

TEST(PlaceBuffers, RefusesSizesThatAddUpToMoreThan64Bits) {
  const auto sum = place_buffers(std::vector<Buffer>{{0, 1, kHuge / 2}, {5, 6, kHuge / 2 + 2}}, 1);
  ASSERT_FALSE(sum.ok());
  EXPECT_THAT(sum.status().message(), HasSubstr("sizes up to buffer #1 add up to more than 64"));
  EXPECT_FALSE(place_buffers(std::vector<Buffer>{{0, 1, kHuge}}, 64).ok());
}

TEST(PlaceBuffers, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  for (const uint64_t alignment : {0U, 3U, 48U}) {
    const auto result = place_buffers(std::vector<Buffer>{{0, 1, 1}}, alignment);
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.status().message(), HasSubstr("is not a power of two"));
  }
}

enum class Lives { kShort, kMixed, kLong };

std::vector<Buffer> random_buffers(uint64_t seed, size_t count, uint32_t times, Lives lives) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> buffers(count);
  for (Buffer& buffer : buffers) {
    const bool is_long = lives == Lives::kLong || (lives == Lives::kMixed && random() % 50 == 0);
    buffer.lower = static_cast<uint32_t>(random() % times);
    buffer.upper = buffer.lower + 1 + static_cast<uint32_t>(random() % (is_long ? times : 8));
    buffer.size = random() % 4 == 0 ? random() % 1'000'000 : random() % 5'000;
  }
  return buffers;
}

TEST(PlaceBuffers, IsSoundOnThousandsOfRandomProblems) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const auto lives = static_cast<Lives>(seed % 3);
    const size_t count = 1 + seed % 97;
    place_soundly(random_buffers(seed, count, 1 + seed % 41, lives), uint64_t{1} << (seed % 8));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// Cuts a block of memory over time into pieces at random, so that the bound can be met exactly.
std::vector<Buffer> perfect_packing(uint64_t seed, uint64_t size, uint32_t times) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> done;
  std::vector<Buffer> open = {{0, times, size}};
  while (!open.empty()) {
    Buffer piece = open.back();
    open.pop_back();
    const bool small = piece.size < 8 || piece.upper - piece.lower < 3;
    if (small || random() % 8 == 0) {
      done.push_back(piece);
    } else if (random() % 2 == 0) {
      const uint64_t part = 1 + random() % (piece.size - 1);
      open.push_back({piece.lower, piece.upper, part});
      open.push_back({piece.lower, piece.upper, piece.size - part});
    } else {
      const auto cut =
          static_cast<uint32_t>(piece.lower + 1 + random() % (piece.upper - piece.lower - 1));
      open.push_back({piece.lower, cut, piece.size});
      open.push_back({cut, piece.upper, piece.size});
    }
  }
  return done;
}

TEST(PlaceBuffers, ComesCloseToPerfectPackings) {
  double worst = 1;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Placement placement = place_soundly(perfect_packing(seed, 1 << 16, 40), 1);
    EXPECT_EQ(placement.lower_bound, uint64_t{1} << 16);
    worst = std::max(
        worst, static_cast<double>(placement.peak) / static_cast<double>(placement.lower_bound));
  }
  EXPECT_LE(worst, 1.2);
}

TEST(PlaceBuffers, PlacesTwentyThousandBuffers) {
  place_soundly(random_buffers(1, 20'000, 20'000, Lives::kShort), 64);
  place_soundly(random_buffers(2, 20'000, 10'000, Lives::kMixed), 64);
  place_soundly(random_buffers(3, 20'000, 10'000, Lives::kLong), 64);
}

TEST(PlaceBuffers, PlacesAHundredThousandBuffersThatAllLiveLong) {
  place_soundly(random_buffers(4, 100'000, 100'000, Lives::kLong), 64);
}

TEST(PlaceBuffers, GivesTheSameAnswerTwice) {
  const std::vector<Buffer> buffers = random_buffers(5, 2'000, 300, Lives::kMixed);
  EXPECT_EQ(place_buffers(buffers)->offsets, place_buffers(buffers)->offsets);
}

// x -> a -> b -> c -> y by convolutions; float [4, 4] unless told otherwise.
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
  EXPECT_TRUE(pattern.ok()) << pattern.status().to_string();
  if (!pattern.ok()) return {};
  const Status status = check_memory(planned.allocation, *pattern, sizes);
  EXPECT_TRUE(status.ok()) << status.to_string();
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
  planned.allocate();
  const MemoryPattern pattern = pattern_of(planned);
  ASSERT_EQ(pattern.blocks.size(), 2U);
  EXPECT_EQ(pattern.blocks[0].location, 0U);
  EXPECT_EQ(pattern.blocks[1].location, 2U);
  EXPECT_EQ(pattern.blocks[1].bytes, 64U);
}

TEST(MemoryPattern, LeavesOutWhatHasNoKnownSize) {
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
  EXPECT_EQ(pattern.status().message(), "cannot place buffers: there are 5 values but 2 sizes");
}

TEST(MemoryPattern, RefusesSizesThatAddUpToMoreThan64Bits) {
  const Planned planned = row();
  const std::vector<std::optional<uint64_t>> sizes(planned.graph.values.size(), kHuge - 100);
  EXPECT_FALSE(plan_memory(planned.allocation, sizes).ok());
}

}  // namespace
}  // namespace ephost::plan
