#include "host/plan/placement/valley_search.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/plan/placement/placement_problems.h"

namespace ephost::plan::valley_search_test {
namespace {

constexpr uint64_t kEnough = 100'000'000;

SearchResult search(const Problem& problem, uint64_t capacity, uint64_t work = kEnough) {
  return ValleySearch(problem).run(capacity, work);
}

Problem problem_of(const std::vector<Buffer>& buffers) {
  std::vector<Item> items;
  for (const Buffer& buffer : buffers) items.push_back({buffer.lower, buffer.upper, buffer.size});
  return make_problem(std::move(items));
}

TEST(Problem, LeavesOutSectionsThatAskForNothingMore) {
  const Problem problem = make_problem({{0, 3, 1}, {1, 6, 2}, {2, 3, 4}, {4, 5, 8}});
  EXPECT_EQ(problem.live, (std::vector<uint64_t>{7, 10}));
  EXPECT_EQ(problem.items[0].upper, 1U);
  EXPECT_EQ(problem.items[1].lower, 0U);
  EXPECT_EQ(problem.items[1].upper, 2U);
  EXPECT_EQ(problem.items[3].lower, 1U);
}

TEST(Problem, KeepsApartWhatIsNeverAliveTogether) {
  const Problem problem = make_problem({{0, 5, 3}, {5, 9, 4}});
  EXPECT_EQ(problem.live, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(problem.items[0].upper, problem.items[1].lower);
}

TEST(ValleySearch, FindsAPlacementAtTheCapacityAndNoneBelow) {
  const Problem problem = make_problem({{0, 1, 2},
                                        {0, 2, 1},
                                        {6, 7, 3},
                                        {1, 5, 1},
                                        {2, 6, 2},
                                        {8, 11, 3},
                                        {4, 6, 2},
                                        {6, 10, 1},
                                        {5, 9, 2},
                                        {0, 3, 3}});
  EXPECT_EQ(search(problem, 5), SearchResult::kImpossible);
  EXPECT_EQ(search(problem, 6), SearchResult::kImpossible);
  EXPECT_EQ(search(problem, 7), SearchResult::kFound);
}

TEST(ValleySearch, ServesOneCapacityAfterAnother) {
  const Problem problem = problem_of(testing::perfect_packing(1, 1 << 10, 30, 4));
  ValleySearch search(problem);
  uint64_t work = kEnough;
  EXPECT_EQ(search.run((1 << 10) - 1, work), SearchResult::kImpossible);
  EXPECT_EQ(search.run(1 << 10, work), SearchResult::kFound);
  EXPECT_EQ(packing_of(problem, search.offsets()).peak, 1U << 10);
}

TEST(ValleySearch, GivesUpWhenItsWorkIsDone) {
  const Problem problem = problem_of(testing::perfect_packing(2, 1 << 16, 200, 4));
  uint64_t work = 1;
  EXPECT_EQ(ValleySearch(problem).run(1 << 16, work), SearchResult::kGaveUp);
  EXPECT_EQ(work, 0U);
}

TEST(ValleySearch, SolvesWhatIsIndependentOnItsOwn) {
  // A hundred independent hard parts: as one problem, their alternatives would multiply.
  std::vector<Item> items;
  for (uint32_t knot = 0; knot < 100; ++knot) {
    for (Item item : {Item{0, 1, 2},
                      {0, 2, 1},
                      {6, 7, 3},
                      {1, 5, 1},
                      {2, 6, 2},
                      {8, 11, 3},
                      {4, 6, 2},
                      {6, 10, 1},
                      {5, 9, 2},
                      {0, 3, 3}}) {
      item.lower += 11 * knot;
      item.upper += 11 * knot;
      items.push_back(item);
    }
  }
  const Problem problem = make_problem(std::move(items));
  EXPECT_EQ(search(problem, 7, 1'000'000), SearchResult::kFound);
  EXPECT_EQ(search(problem, 6, 1'000'000), SearchResult::kImpossible);
}

TEST(ValleySearch, TriesOneOfManyTwins) {
  // Twelve equal items and one that is too large for the remaining space.
  std::vector<Item> items(12, Item{0, 2, 2});
  items.push_back({1, 3, 3});
  items.push_back({2, 4, 23});
  items.push_back({3, 5, 4});
  const Problem problem = make_problem(std::move(items));
  EXPECT_EQ(search(problem, 26, 1'000'000), SearchResult::kImpossible);
  EXPECT_EQ(search(problem, 27, 1'000'000), SearchResult::kFound);
}

TEST(FailedStates, RemembersWhileItGrows) {
  FailedStates states;
  const auto key = [](uint64_t i) { return FailedStates::Key{i * 0x9E3779B97F4A7C15, i}; };
  size_t known = 0;
  for (uint64_t i = 1; i <= 10'000; ++i) {
    EXPECT_FALSE(states.contains(key(i)));
    states.add(key(i));
    EXPECT_TRUE(states.contains(key(i)));
  }
  for (uint64_t i = 1; i <= 10'000; ++i) known += states.contains(key(i)) ? 1 : 0;
  EXPECT_GT(known, 6'000U);
  states.clear();
  EXPECT_FALSE(states.contains(key(1)));
}

}  // namespace
}  // namespace ephost::plan::valley_search_test
