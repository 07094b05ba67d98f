#include "host/plugin/adopt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/status_matchers.h"

namespace ephost::plugin {
namespace adopt_test {

// A table as it may look after two minor versions.
struct Table {
  uint64_t struct_size;
  void (*first)();
  eph_string text;
  uint32_t small;
  uint32_t added_later;
};

}  // namespace adopt_test

template <>
struct RecordLayout<adopt_test::Table> {
  static constexpr std::string_view kName = "Table";
  static constexpr Field kFields[] = {{"struct_size", 0, 8, Need::kCovered},
                                      {"first", 8, 16, Need::kFunction},
                                      {"text", 16, 32},
                                      {"small", 32, 36},
                                      {"added_later", 36, 40}};
};

namespace adopt_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

constexpr CallSite kSite{"AcmeExecutionProvider", "get_table"};

void function() {}

Table table_of_size(uint64_t size) { return {size, &function, EPH_STRING("text"), 6, 7}; }

Result<Table> adopt_at(uint64_t size) {
  const Table table = table_of_size(size);
  return adopt<Table>(&table, kSite);
}

TEST(Adopt, CopiesATableOfTheSameSize) {
  const Table table = table_of_size(sizeof(Table));
  const Result<Table> adopted = adopt<Table>(&table, kSite);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(std::memcmp(&*adopted, &table, sizeof(table)), 0);
}

TEST(Adopt, LeavesWhatAnOlderTableDoesNotCoverAtZero) {
  const Result<Table> adopted = adopt_at(offsetof(Table, text));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->struct_size, offsetof(Table, text));
  EXPECT_EQ(adopted->first, &function);
  EXPECT_EQ(adopted->text.data, nullptr);
  EXPECT_EQ(adopted->added_later, 0U);
}

TEST(Adopt, IgnoresWhatANewerTableHasMore) {
  const struct {
    Table known;
    uint64_t unknown;
  } table{table_of_size(sizeof(Table) + 8), 9};
  const Result<Table> adopted = adopt<Table>(&table, kSite);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->struct_size, sizeof(Table));
  EXPECT_EQ(adopted->added_later, 7U);
}

TEST(Adopt, TakesNoHalfOfAField) {
  const Result<Table> adopted = adopt_at(offsetof(Table, text) + sizeof(char*));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->text.data, nullptr);
  EXPECT_EQ(adopted->struct_size, offsetof(Table, text));
}

TEST(Adopt, TakesAFieldOfFourBytes) {
  const Result<Table> adopted = adopt_at(offsetof(Table, added_later));
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->small, 6U);
  EXPECT_EQ(adopted->added_later, 0U);
}

TEST(Adopt, RefusesANullTable) {
  const Result<Table> adopted = adopt<Table>(nullptr, kSite);
  ASSERT_FALSE(adopted.ok());
  EXPECT_EQ(adopted.status().code(), StatusCode::kEpFail);
  EXPECT_EQ(
      adopted.status().message(),
      "get_table of AcmeExecutionProvider: Table is null; report this to the plugin's vendor");
}

TEST(Adopt, RefusesATableThatEndsBeforeARequiredSlotDoes) {
  for (const uint64_t size : {uint64_t{8}, uint64_t{15}}) {
    const Result<Table> adopted = adopt_at(size);
    ASSERT_FALSE(adopted.ok());
    EXPECT_THAT(adopted.status().message(),
                HasSubstr("Table is too short: its struct_size is " + std::to_string(size) +
                          ", and the required \"first\" ends at 16"));
  }
}

TEST(Adopt, RefusesATableWithoutItsOwnSize) {
  EXPECT_THAT(adopt_at(0).status().message(), HasSubstr("the required \"struct_size\" ends at 8"));
}

TEST(Adopt, RefusesASizeThatIsGarbage) {
  EXPECT_THAT(adopt_at(kMaxRecordSize), IsOk());
  EXPECT_THAT(adopt_at(kMaxRecordSize + 1).status().message(),
              HasSubstr("Table has a struct_size of 65537, and no record is larger than 65536"));
}

TEST(Adopt, NamesTheRequiredSlotThatIsNull) {
  Table table = table_of_size(sizeof(Table));
  table.first = nullptr;
  EXPECT_THAT(adopt<Table>(&table, kSite).status().message(),
              HasSubstr("Table lacks the required function \"first\""));
}

TEST(AdoptArray, ViewsTheEntries) {
  const uint32_t entries[] = {1, 2};
  const auto adopted = adopt_array(entries, 2, 2, kSite, "entries");
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->data(), entries);
  EXPECT_EQ(adopted->size(), 2U);
}

TEST(AdoptArray, TakesANullPointerWithoutEntries) {
  EXPECT_THAT(adopt_array<uint32_t>(nullptr, 0, 2, kSite, "entries"), IsOk());
}

TEST(AdoptArray, RefusesEntriesAtANullPointer) {
  EXPECT_THAT(adopt_array<uint32_t>(nullptr, 1, 2, kSite, "entries").status().message(),
              HasSubstr("get_table of AcmeExecutionProvider: entries has 1 entries at a null"));
}

TEST(AdoptArray, RefusesMoreEntriesThanThereCanBe) {
  const uint32_t entries[] = {1, 2, 3};
  EXPECT_THAT(adopt_array(entries, 3, 2, kSite, "entries").status().message(),
              HasSubstr("entries has 3 entries, and at most 2 are allowed"));
}

TEST(Fill, FillsTheFieldsThatTheReaderKnows) {
  Table out = {};
  out.struct_size = offsetof(Table, small);
  EXPECT_EQ(fill(table_of_size(sizeof(Table)), &out), EPH_OK);
  EXPECT_EQ(out.struct_size, offsetof(Table, small));
  EXPECT_EQ(out.text.size, 4U);
  EXPECT_EQ(out.small, 0U);
}

TEST(Fill, LeavesTheSmallerOfBothSizes) {
  struct {
    Table known = {};
    uint64_t added = 77;
  } newer;
  newer.known.struct_size = sizeof(newer);
  EXPECT_EQ(fill(table_of_size(sizeof(Table)), &newer.known), EPH_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(Table));
  EXPECT_EQ(newer.added, 77U);
}

TEST(Fill, SaysWhyItRefuses) {
  Table out = {};
  out.struct_size = 7;
  EXPECT_EQ(why_not_filled<Table>(nullptr), "the Table is null");
  EXPECT_EQ(why_not_filled(&out), "the Table has a struct_size of 7; set it to sizeof(Table)");
}

TEST(Fill, FillsNoHalfOfAField) {
  Table out = {};
  out.struct_size = offsetof(Table, text) + sizeof(char*);
  EXPECT_EQ(fill(table_of_size(sizeof(Table)), &out), EPH_OK);
  EXPECT_EQ(out.text.data, nullptr);
}

TEST(Fill, RefusesANullPointerAndASizeThatIsNone) {
  EXPECT_EQ(fill<Table>(table_of_size(0), nullptr), EPH_INVALID_ARGUMENT);
  for (const uint64_t size : {uint64_t{0}, uint64_t{7}, UINT64_MAX}) {
    Table out = {};
    out.struct_size = size;
    EXPECT_EQ(fill(table_of_size(0), &out), EPH_INVALID_ARGUMENT);
    EXPECT_EQ(out.first, nullptr);
  }
}

void destroy(eph_computation*) noexcept {}
int32_t compute(eph_computation*, void*, eph_run*, eph_error*) noexcept { return EPH_OK; }
int32_t create_state(eph_computation*, void**, eph_error*) noexcept { return EPH_OK; }

TEST(AdoptComputation, TakesOneWithoutOptionalSlots) {
  const eph_computation_api table{sizeof(table), &destroy, &compute, nullptr, nullptr, nullptr};
  const Result<eph_computation_api> adopted = adopt_computation(&table, kSite);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->compute, &compute);
}

TEST(AdoptComputation, TakesATableThatEndsAfterTheRequiredSlots) {
  const eph_computation_api table{24, &destroy, &compute, nullptr, &create_state, nullptr};
  const Result<eph_computation_api> adopted = adopt_computation(&table, kSite);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->create_state, nullptr);
}

TEST(AdoptComputation, RefusesOneThatCannotCompute) {
  const eph_computation_api table{sizeof(table), &destroy, nullptr, nullptr, nullptr, nullptr};
  EXPECT_THAT(adopt_computation(&table, kSite).status().message(),
              HasSubstr("eph_computation_api lacks the required function \"compute\""));
}

TEST(AdoptComputation, RefusesAStateThatIsNeverReleased) {
  const eph_computation_api table{sizeof(table), &destroy,      &compute,
                                  nullptr,       &create_state, nullptr};
  EXPECT_THAT(adopt_computation(&table, kSite).status().message(),
              HasSubstr("\"create_state\" without \"release_state\""));
}

}  // namespace
}  // namespace adopt_test
}  // namespace ephost::plugin
