#include "host/runtime/memory_pool.h"

#include <gtest/gtest.h>

#include <limits>

namespace ephost::runtime::memory_pool_test {
namespace {

TEST(MemoryPool, ReusesABlockThatWasGivenBack) {
  MemoryPool pool;
  std::byte* const first = pool.take(1000);
  pool.give_back(first);
  EXPECT_EQ(pool.take(900), first);
}

TEST(MemoryPool, DoesNotWasteALargeBlockOnASmallNeed) {
  MemoryPool pool;
  std::byte* const large = pool.take(100000);
  pool.give_back(large);
  EXPECT_NE(pool.take(64), large);
}

TEST(MemoryPool, KeepsTakenBlocksApart) {
  MemoryPool pool;
  EXPECT_NE(pool.take(64), pool.take(64));
}

TEST(MemoryPool, ReleasesWhatTheLastRunDidNotUse) {
  MemoryPool pool;
  std::byte* const kept = pool.take(1000);
  pool.end_run();
  EXPECT_EQ(pool.take(1000), kept);
}

TEST(MemoryPool, GivesNothingForAnImpossibleSize) {
  MemoryPool pool;
  EXPECT_EQ(pool.take(std::numeric_limits<uint64_t>::max()), nullptr);
}

TEST(ScratchArena, GivesAlignedBlocksThatDoNotOverlap) {
  ScratchArena arena;
  std::byte* const a = arena.take(10);
  std::byte* const b = arena.take(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % kAlignment, 0U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % kAlignment, 0U);
  EXPECT_GE(std::abs(b - a), 10);
}

TEST(ScratchArena, ServesTheSameStepFromOneBlockTheNextTime) {
  ScratchArena arena;
  EXPECT_NE(arena.take(100), nullptr);
  EXPECT_NE(arena.take(5000), nullptr);
  arena.end_step();
  std::byte* const first = arena.take(100);
  EXPECT_EQ(arena.take(5000), first + 128);
}

TEST(ScratchArena, GivesNothingForAnImpossibleSize) {
  ScratchArena arena;
  EXPECT_EQ(arena.take(std::numeric_limits<uint64_t>::max()), nullptr);
}

}  // namespace
}  // namespace ephost::runtime::memory_pool_test
