#include "host/base/memory/memory_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace ephost::memory_pages_test {
namespace {

using Access = MemoryPages::Access;

TEST(MemoryPages, AreWholeAndZeroAndMoveTheirAddress) {
  const size_t page = MemoryPages::page_size();
  MemoryPages pages(page + 1);
  EXPECT_EQ(pages.size(), 2 * page);
  EXPECT_TRUE(std::all_of(pages.data(), pages.data() + pages.size(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  std::byte* const place = pages.data();
  const MemoryPages moved = std::move(pages);
  EXPECT_EQ(moved.data(), place);
  EXPECT_EQ(MemoryPages().data(), nullptr);
  EXPECT_THROW(MemoryPages(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(MemoryPages(SIZE_MAX / 2), std::bad_alloc);
}

TEST(MemoryPagesDeathTest, CrashWhereAccessWasTakenAway) {
  const size_t page = MemoryPages::page_size();
  MemoryPages pages(2 * page);
  const std::span<std::byte> second(pages.data() + page, page);
  ASSERT_TRUE(MemoryPages::set_access(second, Access::kRead));
  EXPECT_EQ(second[0], std::byte{0});
  EXPECT_DEATH(second[0] = std::byte{1}, "");
  ASSERT_TRUE(MemoryPages::set_access(second, Access::kReadWrite));
  second[0] = std::byte{1};
  ASSERT_TRUE(pages.retire());
  EXPECT_DEATH(pages.data()[0] = std::byte{1}, "");
  // What lay there is gone.
  ASSERT_TRUE(MemoryPages::set_access(second, Access::kRead));
  EXPECT_EQ(second[0], std::byte{0});
}

}  // namespace
}  // namespace ephost::memory_pages_test
