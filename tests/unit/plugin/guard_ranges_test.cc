#include "host/plugin/calls/guard_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ephost::plugin::guard_ranges_test {
namespace {

uintptr_t address_of(const char* place) { return reinterpret_cast<uintptr_t>(place); }

TEST(GuardRanges, HaveNamesWhileTheyLive) {
  const char memory[8] = {};
  {
    const GuardRange range(memory, 4, "behind output 0");
    EXPECT_EQ(name_of_guard_range(address_of(memory)), "behind output 0");
    EXPECT_EQ(name_of_guard_range(address_of(memory + 3)), "behind output 0");
    EXPECT_EQ(name_of_guard_range(address_of(memory + 4)), "");
  }
  EXPECT_EQ(name_of_guard_range(address_of(memory)), "");
}

TEST(GuardRanges, KeepTheirNamesWhenTheyMove) {
  const char memory[8] = {};
  GuardRange first(memory, 8, "first");
  GuardRange second = std::move(first);
  EXPECT_EQ(name_of_guard_range(address_of(memory)), "first");
  second = GuardRange(memory, 8, "second");
  EXPECT_EQ(name_of_guard_range(address_of(memory)), "second");
}

TEST(GuardRanges, CutLongNames) {
  const char memory[8] = {};
  const GuardRange range(memory, 8, std::string(1000, 'x'));
  EXPECT_EQ(name_of_guard_range(address_of(memory)), std::string(160, 'x'));
}

TEST(GuardRanges, GoWithoutNamesWhereThereAreTooMany) {
  const std::vector<char> memory(5000);
  std::vector<GuardRange> ranges;
  for (const char& one : memory) ranges.emplace_back(&one, 1, "one of many");
  EXPECT_EQ(name_of_guard_range(address_of(&memory.front())), "one of many");
  EXPECT_EQ(name_of_guard_range(address_of(&memory.back())), "");
  ranges.clear();
  const GuardRange again(&memory.back(), 1, "again");
  EXPECT_EQ(name_of_guard_range(address_of(&memory.back())), "again");
}

}  // namespace
}  // namespace ephost::plugin::guard_ranges_test
