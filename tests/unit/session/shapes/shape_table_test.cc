#include "host/session/shapes/shape_table.h"

#include <gtest/gtest.h>

namespace ephost::session::shape_table_test {
namespace {

using Extents = std::vector<int64_t>;
using Table = ShapeTable<int>;

std::shared_ptr<int> item(int number) { return std::make_shared<int>(number); }

TEST(ShapeTable, FindsWhatItHas) {
  Table table(2);
  EXPECT_EQ(table.find(Extents{1, 2}), nullptr);
  table.find_or_add(Extents{1, 2}).runs = 3;
  ASSERT_NE(table.find(Extents{1, 2}), nullptr);
  EXPECT_EQ(table.find(Extents{1, 2})->runs, 3U);
  EXPECT_EQ(table.find(Extents{2, 1}), nullptr);
  EXPECT_EQ(table.find_or_add(Extents{1, 2}).runs, 3U);
}

TEST(ShapeTable, DropsTheItemThatWasNotUsedForTheLongestTime) {
  Table table(2);
  EXPECT_EQ(table.publish(Extents{1}, item(1), 0), nullptr);
  EXPECT_EQ(table.publish(Extents{2}, item(2), 0), nullptr);
  ASSERT_NE(table.find(Extents{1}), nullptr);
  const std::shared_ptr<int> dropped = table.publish(Extents{3}, item(3), 0);
  ASSERT_NE(dropped, nullptr);
  EXPECT_EQ(*dropped, 2);
  EXPECT_EQ(table.find(Extents{2}), nullptr);
  EXPECT_EQ(*table.find(Extents{1})->item, 1);
  EXPECT_EQ(*table.find(Extents{3})->item, 3);
}

TEST(ShapeTable, ReplacesTheShapeThatWasSeenByTheItem) {
  Table table(2);
  table.find_or_add(Extents{1}).state = Table::State::kMaking;
  EXPECT_EQ(table.publish(Extents{1}, item(1), 0.5), nullptr);
  EXPECT_TRUE(table.others().empty());
  ASSERT_EQ(table.ready().size(), 1U);
  EXPECT_EQ(table.ready()[0].state, Table::State::kReady);
  EXPECT_EQ(table.ready()[0].seconds, 0.5);
  EXPECT_EQ(table.ready()[0].runs, 0U);
}

TEST(ShapeTable, RemembersABoundedNumberOfOtherShapes) {
  Table table(1);
  for (int64_t i = 0; i < 1000; ++i) {
    table.find_or_add(Extents{i});
    ASSERT_LE(table.others().size(), Table::kMaxOthers);
    ASSERT_NE(table.find(Extents{i}), nullptr);
  }
  EXPECT_EQ(table.find(Extents{0}), nullptr);
}

TEST(ShapeTable, KeepsShapesThatSomebodyMakesAnItemFor) {
  Table table(1);
  table.find_or_add(Extents{-1}).state = Table::State::kMaking;
  for (int64_t i = 0; i < 1000; ++i) table.find_or_add(Extents{i});
  ASSERT_NE(table.find(Extents{-1}), nullptr);
}

TEST(ShapeTable, AsksForMoreRunsAsLongAsItemsGoBeforeTheyAreWorthwhile) {
  Table table(1);
  EXPECT_EQ(table.publish(Extents{0}, item(0), 0), nullptr);
  EXPECT_EQ(table.backoff(), 0U);
  for (int64_t i = 1; i <= 100; ++i) {
    EXPECT_NE(table.publish(Extents{i}, item(1), 0), nullptr);
    ASSERT_EQ(table.backoff(), std::min<uint32_t>(static_cast<uint32_t>(i), Table::kMaxBackoff));
  }
  table.find(Extents{100})->runs = Table::kWorthwhileRuns;
  EXPECT_NE(table.publish(Extents{0}, item(1), 0), nullptr);
  EXPECT_EQ(table.backoff(), 0U);
}

TEST(ShapeTable, ForgetsWhatIsDropped) {
  Table table(2);
  const std::shared_ptr<int> kept = item(1);
  EXPECT_EQ(table.publish(Extents{1}, kept, 0), nullptr);
  EXPECT_EQ(table.drop(*kept), kept);
  EXPECT_EQ(table.drop(*kept), nullptr);
  EXPECT_EQ(table.find(Extents{1}), nullptr);
}

}  // namespace
}  // namespace ephost::session::shape_table_test
