// Every record of the ABI's headers, as a plugin may hand it over: null, short, or from a later
// minor version. The build writes the list of records (abi_records.inc) from the headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>

#include "host/plugin/adopt.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/bridge/crossings.h"

namespace ephost::bridge::testing::records_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

using AllRecords = ::testing::Types<
#include "abi_records.inc"
    >;

template <Way... kWays>
consteval bool is_one_of(Way way) {
  return ((way == kWays) || ...);
}

// Those of `List` that cross the ABI in one of these ways.
template <class Tuple>
struct AsTypes;
template <class... Records>
struct AsTypes<std::tuple<Records...>> {
  using Type = ::testing::Types<Records...>;
};
template <class List, Way... kWays>
struct SelectFrom;
template <class... Records, Way... kWays>
struct SelectFrom<::testing::Types<Records...>, kWays...> {
  using Type = typename AsTypes<decltype(std::tuple_cat(
      std::conditional_t<is_one_of<kWays...>(Crossing<Records>::kWay), std::tuple<Records>,
                         std::tuple<>>()...))>::Type;
};
template <Way... kWays>
using Select = typename SelectFrom<AllRecords, kWays...>::Type;

using SizedRecords =
    Select<Way::kFromPlugin, Way::kOffered, Way::kFilledByPlugin, Way::kFilledByHost>;
using RequiredRecords = Select<Way::kFromPlugin, Way::kFilledByHost>;
using OfferedTables = Select<Way::kOffered>;
using ArrayEntries = Select<Way::kArray>;

void expect_refusal(const Status& status, std::string_view slot, std::string_view record) {
  ASSERT_FALSE(status.ok());
  if (slot.empty()) return;
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_THAT(status.message(), HasSubstr(std::string(slot) + " of " + std::string(kProvider)));
  EXPECT_THAT(status.message(), HasSubstr(std::string(record) + " "));
  EXPECT_THAT(status.message(), HasSubstr("report this to the plugin's vendor"));
}

template <class Record>
class EveryRecord : public ::testing::Test {};
TYPED_TEST_SUITE(EveryRecord, AllRecords);

TYPED_TEST(EveryRecord, HasAFixture) {
  EXPECT_NE(Crossing<TypeParam>::kWay, Way::kNone) << "see tests/unit/bridge/crossings.h";
}

template <class Record>
class SizedRecord : public ::testing::Test {
 protected:
  // Hands over a sound record that claims `size`, with bytes after it that must not be read.
  static Status with_size(uint64_t size) {
    struct {
      Record record = Crossing<Record>::sound();
      unsigned char beyond[64];
    } given;
    std::memset(given.beyond, 0xff, sizeof(given.beyond));
    given.record.struct_size = size;
    return Crossing<Record>::hand_over(&given);
  }
  static void expect_refused(const Status& status) {
    expect_refusal(status, Crossing<Record>::kSlot, plugin::RecordLayout<Record>::kName);
  }
};
TYPED_TEST_SUITE(SizedRecord, SizedRecords);

TYPED_TEST(SizedRecord, IsTakenAtItsOwnSize) {
  const Status status = this->with_size(sizeof(TypeParam));
  EXPECT_THAT(status, IsOk());
}

TYPED_TEST(SizedRecord, IsTakenFromALaterMinorVersion) {
  const Status status = this->with_size(sizeof(TypeParam) + 64);
  EXPECT_THAT(status, IsOk());
}

TYPED_TEST(SizedRecord, IsRefusedWithoutItsRequiredFields) {
  size_t required = 0;
  for (const plugin::Field& field : plugin::RecordLayout<TypeParam>::kFields) {
    if (field.need != plugin::Need::kOptional) required = field.end;
  }
  this->expect_refused(this->with_size(required - 1));
  this->expect_refused(this->with_size(0));
}

TYPED_TEST(SizedRecord, IsRefusedWhereItsSizeIsGarbage) {
  this->expect_refused(this->with_size(UINT64_MAX));
}

template <class Record>
class RequiredRecord : public ::testing::Test {};
TYPED_TEST_SUITE(RequiredRecord, RequiredRecords);

TYPED_TEST(RequiredRecord, IsRefusedWhereItIsNull) {
  (void)Crossing<TypeParam>::sound();
  expect_refusal(Crossing<TypeParam>::hand_over(nullptr), Crossing<TypeParam>::kSlot,
                 plugin::RecordLayout<TypeParam>::kName);
}

template <class Record>
class OfferedTable : public ::testing::Test {};
TYPED_TEST_SUITE(OfferedTable, OfferedTables);

TYPED_TEST(OfferedTable, MayBeNull) {
  EXPECT_THAT(Crossing<TypeParam>::hand_over(nullptr), IsOk());
}

template <class Record>
class ArrayEntry : public ::testing::Test {};
TYPED_TEST_SUITE(ArrayEntry, ArrayEntries);

TYPED_TEST(ArrayEntry, IsRefusedAtANullPointer) {
  expect_refusal(Crossing<TypeParam>::hand_over(nullptr, 1), Crossing<TypeParam>::kSlot, "has 1");
}

TYPED_TEST(ArrayEntry, IsRefusedInGarbageCounts) {
  const TypeParam entry = {};
  expect_refusal(Crossing<TypeParam>::hand_over(&entry, uint64_t{1} << 60),
                 Crossing<TypeParam>::kSlot, "has 1152921504606846976");
}

}  // namespace
}  // namespace ephost::bridge::testing::records_test
