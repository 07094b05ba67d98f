#include "host/runtime/pattern_cache.h"

#include <gtest/gtest.h>

namespace ephost::runtime::pattern_cache_test {
namespace {

std::shared_ptr<const TracedPattern> pattern() { return std::make_shared<TracedPattern>(); }

TEST(PatternCache, FindsWhatWasInserted) {
  PatternCache cache(2);
  const auto inserted = pattern();
  cache.insert({1, 3}, inserted);
  EXPECT_EQ(cache.find({1, 3}), inserted);
  EXPECT_EQ(cache.find({1, 4}), nullptr);
}

TEST(PatternCache, ReplacesAPatternOfTheSameShapes) {
  PatternCache cache(2);
  cache.insert({1}, pattern());
  const auto second = pattern();
  cache.insert({1}, second);
  EXPECT_EQ(cache.find({1}), second);
}

TEST(PatternCache, ForgetsTheLeastRecentlyUsed) {
  PatternCache cache(2);
  cache.insert({1}, pattern());
  cache.insert({2}, pattern());
  EXPECT_NE(cache.find({1}), nullptr);
  cache.insert({3}, pattern());
  EXPECT_EQ(cache.find({2}), nullptr);
  EXPECT_NE(cache.find({1}), nullptr);
}

TEST(PatternCache, CanForgetAll) {
  PatternCache cache(2);
  cache.insert({1}, pattern());
  const auto used = cache.find({1});
  cache.clear();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.find({1}), nullptr);
  EXPECT_NE(used, nullptr);
  cache.insert({1}, pattern());
  EXPECT_NE(cache.find({1}), nullptr);
}

}  // namespace
}  // namespace ephost::runtime::pattern_cache_test
