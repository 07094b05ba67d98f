// The checkers of memory patterns and placements detect every kind of damage.
#include "tests/support/status_matchers.h"
#include "tests/unit/plan/check/checker_example.h"

namespace ephost::plan::memory_checker_test {
namespace {

using test::IsOk;
using testing::example;
using testing::expect_refused;
using testing::Planned;

MemoryPattern pattern_of(const Planned& planned) { return *plan_memory(planned.allocation); }

TEST(CheckMemory, AcceptsTheExample) {
  const Planned planned = example();
  EXPECT_THAT(check_memory(planned.allocation, pattern_of(planned)), IsOk());
}

TEST(CheckMemory, RefusesBuffersThatOverlap) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  for (const char* name : {"c", "d", "e"}) {
    pattern.offsets[planned.id(name)] = pattern.offsets[planned.id("a")];
  }
  expect_refused(check_memory(planned.allocation, pattern), "overlaps the buffer of value");
}

TEST(CheckMemory, RefusesAWorkspaceOverAValue) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.workspace_offsets[5] = pattern.offsets[planned.id("e")];
  EXPECT_FALSE(check_memory(planned.allocation, pattern).ok());
}

TEST(CheckMemory, RefusesAReusedValueElsewhere) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.offsets[planned.id("d")] += 4096;
  expect_refused(check_memory(planned.allocation, pattern), "is not where its buffer is");
}

TEST(CheckMemory, RefusesValuesThatAreMissingOrShouldNotBeThere) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.offsets[planned.id("a")] = kNoOffset;
  expect_refused(check_memory(planned.allocation, pattern), "is missing from its block");
  pattern = pattern_of(planned);
  pattern.offsets[planned.id("y")] = 0;
  expect_refused(check_memory(planned.allocation, pattern), "should not be in a block");
}

TEST(CheckMemory, RefusesWorkspacesThatAreMissingOrShouldNotBeThere) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.workspace_offsets[5] = kNoOffset;
  expect_refused(check_memory(planned.allocation, pattern), "the workspace of step 5 is missing");
  pattern = pattern_of(planned);
  pattern.workspace_offsets[1] = 0;
  expect_refused(check_memory(planned.allocation, pattern), "a step without a workspace has one");
}

TEST(CheckMemory, RefusesAnOffsetThatIsNotAligned) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.workspace_offsets[5] += 32;
  expect_refused(check_memory(planned.allocation, pattern),
                 "the workspace of step 5 is not aligned");
}

TEST(CheckMemory, RefusesABlockOfAnotherSizeAndWrongClaims) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.blocks[0].bytes -= 64;
  expect_refused(check_memory(planned.allocation, pattern), "the peak is");
  pattern = pattern_of(planned);
  pattern.blocks[0].lower_bound -= 64;
  expect_refused(check_memory(planned.allocation, pattern), "the lower bound is");
  pattern = pattern_of(planned);
  pattern.blocks[0].proved_optimal = !pattern.blocks[0].proved_optimal;
  expect_refused(check_memory(planned.allocation, pattern),
                 "it is optimal, but is not marked as optimal");
}

TEST(CheckMemory, RefusesMissingAndIdleBlocks) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.blocks[0].location = 1;
  expect_refused(check_memory(planned.allocation, pattern), "location 0 has no block");
  pattern = pattern_of(planned);
  pattern.blocks.push_back({.location = 1});
  expect_refused(check_memory(planned.allocation, pattern), "there are unused blocks");
}

TEST(CheckMemory, RefusesAPatternOfAnotherPlan) {
  const Planned planned = example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.offsets.pop_back();
  expect_refused(check_memory(planned.allocation, pattern),
                 "it belongs to another allocation plan");
  pattern = pattern_of(planned);
  pattern.alignment = 48;
  expect_refused(check_memory(planned.allocation, pattern), "the alignment is not a power of two");
}

const std::vector<Buffer>& buffers() {
  static const std::vector<Buffer> kBuffers = {{0, 2, 100}, {1, 3, 50}, {2, 4, 100}};
  return kBuffers;
}

TEST(CheckPlacement, AcceptsAPlacement) {
  EXPECT_THAT(check_placement(buffers(), *place_buffers(buffers(), {.alignment = 1}), 1), IsOk());
}

TEST(CheckPlacement, RefusesBuffersThatOverlap) {
  const Placement placement = {{0, 99, 0}, 149, 150, false, 150};
  expect_refused(check_placement(buffers(), placement, 1), "buffer #1 overlaps buffer #0");
  const Placement below = {{50, 1, 50}, 150, 150, true, 150};
  expect_refused(check_placement(buffers(), below, 1), "buffer #1 overlaps buffer #0");
  const Placement equal = {{0, 0, 0}, 100, 150, false, 150};
  expect_refused(check_placement(buffers(), equal, 1), "buffer #1 overlaps buffer #0");
}

TEST(CheckPlacement, RefusesWrongClaims) {
  expect_refused(check_placement(buffers(), {{0, 100, 0}, 151, 150, false, 150}, 1),
                 "the peak is 150 bytes, not 151");
  expect_refused(check_placement(buffers(), {{0, 100, 0}, 150, 149, true, 150}, 1),
                 "the lower bound is 150 bytes, not 149");
}

TEST(CheckPlacement, RefusesClaimsOfOptimalityThatDoNotGoWithTheBounds) {
  const auto check = [](uint64_t top, bool is_optimal, uint64_t proved_bound) {
    return check_placement(buffers(), {{0, top - 50, 0}, top, 150, is_optimal, proved_bound}, 1);
  };
  EXPECT_THAT(check(151, true, 151), IsOk());
  EXPECT_THAT(check(152, false, 151), IsOk());
  expect_refused(check(150, false, 150), "a bound of 150 bytes contradicts it");
  expect_refused(check(151, true, 150), "a bound of 150 bytes contradicts it");
  expect_refused(check(151, false, 152), "a bound of 152 bytes contradicts it");
  expect_refused(check(151, false, 149), "a bound of 149 bytes contradicts it");
}

TEST(CheckPlacement, RefusesOffsetsOffTheAlignmentAndBeyond64Bits) {
  expect_refused(check_placement(buffers(), {{0, 100, 0}, 150, 150, true, 150}, 64),
                 "buffer #1 is not aligned");
  const uint64_t top = ~uint64_t{0} - 63;
  expect_refused(check_placement(buffers(), {{0, top, 0}, 150, 150, true, 150}, 64),
                 "buffer #1 ends beyond 64 bits");
  expect_refused(check_placement(buffers(), {{0, 128, 0}, 192, 192, true, 192}, 3),
                 "the alignment is not a power of two");
}

TEST(CheckPlacement, RefusesThePlacementOfOtherBuffers) {
  expect_refused(check_placement(buffers(), {{0, 100}, 150, 150, true, 150}, 1),
                 "it belongs to other buffers");
  const std::vector<Buffer> dead = {{3, 3, 1}};
  expect_refused(check_placement(dead, {{0}, 1, 1, true, 1}, 1), "buffer #0 never lives");
}

}  // namespace
}  // namespace ephost::plan::memory_checker_test
