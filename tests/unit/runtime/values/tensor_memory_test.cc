#include "host/runtime/values/tensor_memory.h"

#include <gtest/gtest.h>

#include "host/base/memory/shared_memory.h"
#include "host/runtime/memory_pool.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime::tensor_memory_test {
namespace {

constexpr uint64_t kLarge = 1 << 20;

bool is_shared(const AlignedMemory& memory, uint64_t bytes) {
  return SharedRegions::find({memory.get(), bytes}).has_value();
}

TEST(SharedTensorMemory, IsOnlyUsedWhileThereAreWorkers) {
  EXPECT_FALSE(is_shared(allocate_aligned(kLarge, kAlignment, Sharing::kWithWorkers), kLarge));
  const SharedMemoryUse use;
  EXPECT_TRUE(is_shared(allocate_aligned(kLarge, kAlignment, Sharing::kWithWorkers), kLarge));
  EXPECT_FALSE(is_shared(allocate_aligned(kLarge), kLarge));
}

TEST(SharedTensorMemory, IsForMemoryThatIsLargeAndAlignedToAPage) {
  const SharedMemoryUse use;
  EXPECT_FALSE(is_shared(allocate_aligned(100, kAlignment, Sharing::kWithWorkers), 100));
  EXPECT_TRUE(is_shared(allocate_aligned(kLarge, 4096, Sharing::kWithWorkers), kLarge));
  EXPECT_FALSE(is_shared(allocate_aligned(kLarge, 8192, Sharing::kWithWorkers), kLarge));
}

TEST(SharedTensorMemory, IsLimitedInNumberAndThenTheHeapsAgain) {
  const SharedMemoryUse use;
  std::vector<AlignedMemory> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(allocate_aligned(kLarge, kAlignment, Sharing::kWithWorkers));
    ASSERT_NE(all.back(), nullptr);
  }
  EXPECT_TRUE(is_shared(all.front(), kLarge));
  EXPECT_FALSE(is_shared(all.back(), kLarge));
  all.clear();
  EXPECT_TRUE(is_shared(allocate_aligned(kLarge, kAlignment, Sharing::kWithWorkers), kLarge));
}

TEST(SharedTensorMemory, MayOutliveTheWorkers) {
  AlignedMemory memory;
  {
    const SharedMemoryUse use;
    memory = allocate_aligned(kLarge, kAlignment, Sharing::kWithWorkers);
  }
  EXPECT_TRUE(is_shared(memory, kLarge));
  memory[kLarge - 1] = std::byte{1};
}

TEST(SharedTensorMemory, HoldsThePoolsOfFramesAndTheValuesOfTheApplication) {
  const SharedMemoryUse use;
  MemoryPool pool;
  EXPECT_TRUE(SharedRegions::find({pool.take(kLarge), kLarge}));
  const Value value = *ValueAccess::allocate_for_runs(ElementType::kFloat, {1000, 1000});
  EXPECT_TRUE(SharedRegions::find(value.bytes()));
  EXPECT_EQ(value.bytes().back(), std::byte{0});
  const Value copy = value;
  EXPECT_EQ(copy.bytes().data(), value.bytes().data());
}

}  // namespace
}  // namespace ephost::runtime::tensor_memory_test
