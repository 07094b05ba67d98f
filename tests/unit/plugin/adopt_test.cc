#include "host/plugin/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace ephost::plugin {
namespace {

using ::testing::HasSubstr;

// A table as it may look after two minor versions.
struct Table {
  uint64_t struct_size;
  void (*first)();
  void (*second)();
  uint64_t added_later;
};

void function() {}

constexpr std::array<RequiredSlot, 1> kFirst{{{"first", offsetof(Table, first)}}};

TEST(Adopt, CopiesATableOfTheSameSize) {
  const Table table{sizeof(Table), &function, &function, 7};
  const Result<Table> adopted = adopt(&table, "table", kFirst);
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(std::memcmp(&*adopted, &table, sizeof(table)), 0);
}

TEST(Adopt, LeavesWhatAnOlderTableDoesNotCoverAtZero) {
  const Table table{offsetof(Table, second), &function, &function, 7};
  const Result<Table> adopted = adopt(&table, "table", kFirst);
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(adopted->struct_size, offsetof(Table, second));
  EXPECT_EQ(adopted->first, &function);
  EXPECT_EQ(adopted->second, nullptr);
  EXPECT_EQ(adopted->added_later, 0U);
}

TEST(Adopt, IgnoresWhatANewerTableHasMore) {
  const struct {
    Table known;
    uint64_t unknown;
  } table{{sizeof(Table) + 8, &function, &function, 7}, 9};
  const Result<Table> adopted = adopt(&table.known, "table", kFirst);
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(adopted->struct_size, sizeof(Table));
  EXPECT_EQ(adopted->added_later, 7U);
}

TEST(Adopt, TakesNoHalfOfASlot) {
  const Table table{offsetof(Table, second) + 4, &function, &function, 7};
  const Result<Table> adopted = adopt(&table, "table", kFirst);
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(adopted->second, nullptr);
}

TEST(Adopt, RefusesANullTable) {
  const Result<Table> adopted = adopt<Table>(nullptr, "table", kFirst);
  ASSERT_FALSE(adopted.ok());
  EXPECT_EQ(adopted.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(adopted.status().message(), HasSubstr("the plugin's table is null"));
}

TEST(Adopt, RefusesATableThatEndsBeforeARequiredSlotDoes) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{8}, uint64_t{15}}) {
    const Table table{size, &function, &function, 7};
    const Result<Table> adopted = adopt(&table, "table", kFirst);
    ASSERT_FALSE(adopted.ok());
    EXPECT_THAT(adopted.status().message(),
                HasSubstr("too short: struct_size is " + std::to_string(size)));
    EXPECT_THAT(adopted.status().message(), HasSubstr("\"first\" ends at 16"));
  }
}

TEST(Adopt, NamesTheRequiredSlotThatIsNull) {
  const Table table{sizeof(Table), nullptr, &function, 7};
  const Result<Table> adopted = adopt(&table, "table", kFirst);
  ASSERT_FALSE(adopted.ok());
  EXPECT_THAT(adopted.status().message(), HasSubstr("the required \"first\""));
  EXPECT_THAT(adopted.status().message(), HasSubstr("is null"));
}

void destroy(eph_computation*) noexcept {}
int32_t compute(eph_computation*, void*, eph_run*, eph_error*) noexcept { return EPH_OK; }
int32_t create_state(eph_computation*, void**, eph_error*) noexcept { return EPH_OK; }

TEST(AdoptComputation, TakesOneWithoutOptionalSlots) {
  const eph_computation_api table{sizeof(table), &destroy, &compute, nullptr, nullptr, nullptr};
  const Result<eph_computation_api> adopted = adopt_computation(&table);
  ASSERT_TRUE(adopted.ok()) << adopted.status().message();
  EXPECT_EQ(adopted->compute, &compute);
}

TEST(AdoptComputation, TakesATableThatEndsAfterTheRequiredSlots) {
  const eph_computation_api table{24, &destroy, &compute, nullptr, &create_state, nullptr};
  const Result<eph_computation_api> adopted = adopt_computation(&table);
  ASSERT_TRUE(adopted.ok()) << adopted.status().message();
  EXPECT_EQ(adopted->create_state, nullptr);
}

TEST(AdoptComputation, RefusesOneThatCannotCompute) {
  const eph_computation_api table{sizeof(table), &destroy, nullptr, nullptr, nullptr, nullptr};
  EXPECT_THAT(adopt_computation(&table).status().message(),
              HasSubstr("the required \"compute\" of the plugin's table eph_computation_api"));
}

TEST(AdoptComputation, RefusesAStateThatIsNeverReleased) {
  const eph_computation_api table{sizeof(table), &destroy,      &compute,
                                  nullptr,       &create_state, nullptr};
  EXPECT_THAT(adopt_computation(&table).status().message(),
              HasSubstr("\"create_state\" without \"release_state\""));
}

}  // namespace
}  // namespace ephost::plugin
