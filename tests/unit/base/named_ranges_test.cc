#include "host/base/named_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ephost::named_ranges_test {
namespace {

uintptr_t address_of(const char* place) { return reinterpret_cast<uintptr_t>(place); }

TEST(NamedRanges, HaveNamesWhileTheyLive) {
  const char memory[8] = {};
  {
    const NamedRange range(memory, 4, "behind output 0");
    EXPECT_EQ(find_named_range(address_of(memory)).name, "behind output 0");
    EXPECT_EQ(find_named_range(address_of(memory + 3)).name, "behind output 0");
    EXPECT_EQ(find_named_range(address_of(memory + 4)).name, "");
  }
  EXPECT_EQ(find_named_range(address_of(memory)).name, "");
}

TEST(NamedRanges, KeepTheirNamesWhenTheyMove) {
  const char memory[8] = {};
  NamedRange first(memory, 8, "first");
  NamedRange second = std::move(first);
  EXPECT_EQ(find_named_range(address_of(memory)).name, "first");
  second = NamedRange(memory, 8, "second");
  EXPECT_EQ(find_named_range(address_of(memory)).name, "second");
}

TEST(NamedRanges, SayWhoseMemoryItIs) {
  const char memory[8] = {};
  const NamedRange guard(memory, 4, "behind output 0");
  const NamedRange lent(memory + 4, 4, "in the model", RangeOwner::kApplication);
  EXPECT_EQ(find_named_range(address_of(memory)).owner, RangeOwner::kHost);
  EXPECT_EQ(find_named_range(address_of(memory + 4)).owner, RangeOwner::kApplication);
}

TEST(NamedRanges, CutLongNames) {
  const char memory[8] = {};
  const NamedRange range(memory, 8, std::string(1000, 'x'));
  EXPECT_EQ(find_named_range(address_of(memory)).name, std::string(160, 'x'));
}

TEST(NamedRanges, GoWithoutNamesWhereThereAreTooMany) {
  const std::vector<char> memory(5000);
  std::vector<NamedRange> ranges;
  for (const char& one : memory) ranges.emplace_back(&one, 1, "one of many");
  EXPECT_EQ(find_named_range(address_of(&memory.front())).name, "one of many");
  EXPECT_EQ(find_named_range(address_of(&memory.back())).name, "");
  ranges.clear();
  const NamedRange again(&memory.back(), 1, "again");
  EXPECT_EQ(find_named_range(address_of(&memory.back())).name, "again");
}

}  // namespace
}  // namespace ephost::named_ranges_test
