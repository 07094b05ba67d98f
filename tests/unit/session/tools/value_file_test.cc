#include "host/session/tools/value_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::session::value_file_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;

class PublicValueFile : public ::testing::Test {
 protected:
  test::TempDirectory folder_;
};

runtime::Value floats(float first) {
  const std::array<float, 2> numbers = {first, -2};
  return *runtime::Value::of<float>({2}, std::span<const float>(numbers));
}

TEST_F(PublicValueFile, ReadsTheTensorAndNameThatItWrote) {
  ASSERT_THAT(write_value_file(folder_ / "x.pb", {"x", floats(1.5F)}), IsOk());
  const Result<runtime::NamedValue> read = read_value_file(folder_ / "x.pb");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->name, "x");
  EXPECT_THAT(read->value.elements<float>(), ElementsAre(1.5F, -2));
}

TEST_F(PublicValueFile, ReadsASequenceWhereTheFormSaysSo) {
  const runtime::Value sequence = *runtime::Value::sequence({floats(1), floats(3)});
  ASSERT_THAT(write_value_file(folder_ / "x.pb", {"x", sequence}), IsOk());
  const auto read = read_value_file(folder_ / "x.pb", {.kind = ValueKind::kSequence});
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->value.parts().size(), 2U);
  EXPECT_THAT(read->value.parts()[1].elements<float>(), ElementsAre(3, -2));
}

TEST_F(PublicValueFile, ReadsAnEmptyOptional) {
  ASSERT_THAT(write_value_file(folder_ / "x.pb", {"x", runtime::Value()}, true), IsOk());
  const auto read = read_value_file(folder_ / "x.pb", {.is_optional = true});
  ASSERT_THAT(read, IsOk());
  EXPECT_FALSE(read->value.has_value());
}

TEST_F(PublicValueFile, RefusesAFileThatHoldsAnotherMessage) {
  const auto read = read_value_file(folder_.write("x.pb", "\xff\xff"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidProtobuf);
}

}  // namespace
}  // namespace ephost::session::value_file_test
