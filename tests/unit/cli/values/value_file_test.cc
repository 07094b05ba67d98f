#include "host/cli/values/value_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::cli::value_file_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ValueFile : public ::testing::Test {
 protected:
  test::TempDirectory folder_;
};

Value floats() {
  constexpr std::array<float, 3> kNumbers = {1.5F, -2, 0};
  auto value = Value::of<float>({3, 1}, std::span<const float>(kNumbers));
  EXPECT_THAT(value, IsOk());
  return *value;
}

TEST_F(ValueFile, ReadsEachFormatThatItWrites) {
  for (const char* name : {"x.pb", "x.npy", "x.raw", "x.BIN"}) {
    ASSERT_THAT(write_value(folder_ / name, "tensor", floats()), IsOk());
    const RawLayout layout{ElementType::kFloat, {3, 1}};
    const auto read = read_value(folder_ / name, layout);
    ASSERT_THAT(read, IsOk());
    EXPECT_THAT(read->value.shape(), ElementsAre(3, 1));
    EXPECT_THAT(read->value.elements<float>(), ElementsAre(1.5F, -2, 0));
  }
}

TEST_F(ValueFile, KeepsNameAndStringsInTensorProto) {
  const auto strings = Value::of_strings({2}, {"a", "b"});
  ASSERT_THAT(strings, IsOk());
  EXPECT_EQ(default_extension(*strings), ".pb");
  ASSERT_THAT(write_value(folder_ / "x.pb", "words", *strings), IsOk());
  const auto read = read_value(folder_ / "x.pb");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->name, "words");
  EXPECT_THAT(read->value.strings(), ElementsAre("a", "b"));
}

TEST_F(ValueFile, TakesAnythingButZeroAsTrue) {
  const auto file = folder_.write("x.raw", std::string("\x00\x02\xff", 3));
  const auto read = read_value(file, RawLayout{ElementType::kBool, {3}});
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->value.elements<bool>(), ElementsAre(false, true, true));
}

TEST_F(ValueFile, RefusesARawFileOfAnotherSize) {
  const auto read = read_value(folder_.write("x.raw", "abc"), RawLayout{ElementType::kInt32, {1}});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(read.status().message(), HasSubstr("has 3 bytes, and int32[1] needs 4"));
}

TEST_F(ValueFile, RefusesARawFileOfUnknownLayout) {
  const auto read = read_value(folder_.write("x.raw", "abc"));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("type and shape are not known"));
}

TEST_F(ValueFile, RefusesUnknownExtensions) {
  EXPECT_FALSE(is_value_file("x.txt"));
  const auto read = read_value(folder_.write("x.txt", ""));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("is not a tensor format; use .pb"));
  EXPECT_THAT(write_value(folder_ / "x", "", floats()).message(), HasSubstr("not a tensor format"));
}

TEST_F(ValueFile, NamesAMissingFile) {
  const auto read = read_value(folder_ / "absent.npy");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(read.status().message(), HasSubstr("absent.npy"));
}

TEST_F(ValueFile, RefusesStringsInRawForm) {
  const auto strings = Value::of_strings({1}, {"a"});
  ASSERT_THAT(strings, IsOk());
  EXPECT_THAT(write_value(folder_ / "x.raw", "words", *strings).message(),
              HasSubstr("strings have no raw form"));
}

TEST_F(ValueFile, KeepsSequencesOptionalsAndMaps) {
  const Value keys = *Value::of_strings({3}, {"a", "b", "c"});
  const Value numbers = *Value::of<float>({3}, std::vector<float>{1, 2, 3});
  const Value maps = *Value::sequence({*Value::map(keys, numbers)});
  EXPECT_EQ(default_extension(maps), ".pb");
  ASSERT_THAT(write_value(folder_ / "x.pb", "maps", maps, true), IsOk());
  const auto read = read_value(folder_ / "x.pb", std::nullopt,
                               {.kind = ValueKind::kSequence, .is_optional = true});
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->name, "maps");
  ASSERT_EQ(read->value.parts().size(), 1U);
  const Value map = read->value.parts()[0];
  ASSERT_EQ(map.kind(), ValueKind::kMap);
  EXPECT_THAT(map.parts()[0].strings(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(map.parts()[1].elements<float>(), ElementsAre(1, 2, 3));
  ASSERT_THAT(write_value(folder_ / "none.pb", "none", Value(), true), IsOk());
  const auto none = read_value(folder_ / "none.pb", std::nullopt, {.is_optional = true});
  ASSERT_THAT(none, IsOk());
  EXPECT_FALSE(none->value.has_value());
}

TEST_F(ValueFile, RefusesSequencesInFilesOfTensors) {
  const Value sequence = *Value::sequence({floats()});
  for (const char* name : {"x.npy", "x.raw"}) {
    EXPECT_THAT(write_value(folder_ / name, "s", sequence).message(),
                HasSubstr("\"s\" is seq(float) of 1, and"));
  }
}

}  // namespace
}  // namespace ephost::cli::value_file_test
