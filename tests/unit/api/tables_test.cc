// The tables themselves: complete, and honest about their sizes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <regex>
#include <string>
#include <string_view>

#include "tests/unit/api/api_fixture.h"

namespace ephost::tables_test {
namespace {

using test::c_api;

// The slots of a table after its struct_size: pointers, all of them (the golden layout shows it).
template <class Table>
void expect_no_null_slot(const Table& table) {
  EXPECT_EQ(table.struct_size, sizeof(table));
  std::array<uintptr_t, sizeof(Table) / sizeof(uintptr_t)> slots = {};
  static_assert(sizeof(slots) == sizeof(table));
  std::memcpy(slots.data(), &table, sizeof(table));
  for (size_t i = 1; i < slots.size(); ++i) EXPECT_NE(slots[i], 0U) << "slot " << i;
}

TEST(CApiTables, HaveNoNullSlot) {
  const ephost_api& api = c_api();
  expect_no_null_slot(*api.status);
  expect_no_null_slot(*api.value);
  expect_no_null_slot(*api.environment);
  expect_no_null_slot(*api.session_options);
  expect_no_null_slot(*api.session);
  expect_no_null_slot(*api.model);
  expect_no_null_slot(*api.plugin);
  expect_no_null_slot(*api.cache);
  expect_no_null_slot(*api.placement);
}

TEST(CApiTables, AreAllInTheTableOfTables) {
  const ephost_api& api = c_api();
  EXPECT_EQ(api.struct_size, sizeof(api));
  EXPECT_EQ(api.minor, uint32_t{EPHOST_API_MINOR});
  EXPECT_TRUE(std::regex_match(api.version, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << api.version;
  std::array<uintptr_t, sizeof(api) / sizeof(uintptr_t)> words = {};
  std::memcpy(words.data(), &api, sizeof(api));
  // After struct_size, minor and `reserved` come pointers only.
  for (size_t i = offsetof(ephost_api, version) / sizeof(uintptr_t); i < words.size(); ++i) {
    EXPECT_NE(words[i], 0U) << "word " << i;
  }
}

TEST(CApiTables, ReleaseNothingForNull) {
  const ephost_api& api = c_api();
  api.status->release(nullptr);
  api.value->release(nullptr);
  api.environment->release(nullptr);
  api.session_options->release(nullptr);
  api.session->release(nullptr);
  api.session->release_binding(nullptr);
  api.release_report(nullptr);
  api.release_text(nullptr);
  EXPECT_EQ(api.value->retain(nullptr), nullptr);
}

TEST(CApiStatus, IsSuccessWhereNull) {
  const ephost_status_api& status = *c_api().status;
  EXPECT_EQ(status.code(nullptr), EPHOST_OK);
  EXPECT_STREQ(status.message(nullptr), "");
  EXPECT_EQ(status.create(EPHOST_OK, "ignored"), nullptr);
}

TEST(CApiStatus, KeepsCodeAndMessage) {
  const ephost_status_api& status = *c_api().status;
  ephost_status* made = status.create(EPHOST_NOT_FOUND, "no such thing");
  EXPECT_EQ(status.code(made), EPHOST_NOT_FOUND);
  EXPECT_STREQ(status.message(made), "no such thing");
  status.release(made);
  made = status.create(EPHOST_FAIL, nullptr);
  EXPECT_STREQ(status.message(made), "");
  status.release(made);
}

TEST(CApiStatus, NamesItsCodes) {
  const ephost_status_api& status = *c_api().status;
  EXPECT_STREQ(status.code_name(EPHOST_INVALID_GRAPH), "INVALID_GRAPH");
  EXPECT_STREQ(status.code_name(EPHOST_NOT_FOUND), "NOT_FOUND");
  EXPECT_STREQ(status.code_name(EPHOST_OUT_OF_MEMORY), "OUT_OF_MEMORY");
  EXPECT_STREQ(status.code_name(EPHOST_DEVICE_LOST), "DEVICE_LOST");
  EXPECT_STREQ(status.code_name(EPHOST_CANCELLED), "CANCELLED");
  EXPECT_STREQ(status.code_name(EPHOST_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
  EXPECT_STREQ(status.code_name(999), "UNKNOWN_CODE");
}

TEST(CApiNames, AreEmptyOrUndefinedForNumbersWithoutMeaning) {
  EXPECT_STREQ(c_api().environment->policy_name(-1), "");
  EXPECT_STREQ(c_api().value->element_type_name(1000), "undefined");
  EXPECT_EQ(c_api().value->element_bits(-1), 0U);
}

}  // namespace
}  // namespace ephost::tables_test
