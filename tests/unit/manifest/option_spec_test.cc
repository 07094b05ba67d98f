#include "host/manifest/option_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "host/manifest/manifest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::option_spec_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Manifest> manifest_with_option(std::string_view option) {
  return parse_manifest(testing::small_manifest("A", "a", "1.0.0", "linux-x86_64: liba.so") +
                            "options:\n  - { " + std::string(option) + " }\n",
                        "a.yaml");
}

std::string error_of(std::string_view option) {
  const Result<Manifest> result = manifest_with_option(option);
  return result.ok() ? "accepted" : result.status().message();
}

TEST(OptionSpec, ReadsEachType) {
  const Result<Manifest> manifest = parse_manifest(testing::kSample, "a.yaml");
  ASSERT_THAT(manifest, IsOk());
  const std::vector<OptionSpec>& options = manifest->options;
  ASSERT_EQ(options.size(), 5U);
  EXPECT_EQ(options[0].type, OptionType::kInt);
  EXPECT_EQ(options[0].default_value, OptionValue(int64_t{4}));
  EXPECT_EQ(options[0].range->second, OptionValue(int64_t{16}));
  EXPECT_EQ(options[0].help, "Cores to use.");
  EXPECT_EQ(options[1].type, OptionType::kEnum);
  EXPECT_THAT(options[1].choices, ElementsAre("fast", "exact"));
  EXPECT_EQ(options[2].default_value, OptionValue(0.5));
  EXPECT_EQ(options[2].range->second, OptionValue(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(options[3].default_value, OptionValue(false));
  EXPECT_EQ(options[4].default_value, OptionValue(std::string()));
}

TEST(OptionSpec, TakesAWholeNumberForAFloat) {
  const Result<Manifest> manifest = manifest_with_option("name: x, type: float, default: 1");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->options[0].default_value, OptionValue(1.0));
}

TEST(OptionSpec, RefusesAnUnknownType) {
  EXPECT_EQ(error_of("name: x, type: integer, default: 1"),
            "a.yaml:9:22: key \"options[0].type\": the type \"integer\" is not known; write one of "
            "string, int, float, bool, enum");
}

TEST(OptionSpec, HasTheScopeOfTheSessionUnlessItSaysSo) {
  EXPECT_EQ(manifest_with_option("name: x, type: int, default: 1")->options[0].scope,
            OptionScope::kSession);
  EXPECT_EQ(
      manifest_with_option("name: x, type: int, scope: dynamic, default: 1")->options[0].scope,
      OptionScope::kDynamic);
  EXPECT_THAT(error_of("name: x, type: int, scope: always, default: 1"),
              HasSubstr("the scope \"always\" is not known; write one of session, run, dynamic"));
}

TEST(OptionSpec, NamesTheKeyThatIsMissing) {
  EXPECT_THAT(error_of("type: int, default: 1"), HasSubstr("the key \"name\" is missing"));
  EXPECT_THAT(error_of("name: x, default: 1"), HasSubstr("the key \"type\" is missing"));
  EXPECT_THAT(error_of("name: x, type: int"),
              HasSubstr("key \"options[0]\": the key \"default\" is missing"));
}

TEST(OptionSpec, RefusesABadName) {
  EXPECT_THAT(error_of("name: \"a b\", type: int, default: 1"), HasSubstr("is not allowed"));
}

TEST(OptionSpec, RefusesADefaultOfAnotherType) {
  EXPECT_THAT(error_of("name: x, type: int, default: many"),
              HasSubstr("key \"options[0].default\": expected a whole number"));
  EXPECT_THAT(error_of("name: x, type: int, default: 1.5"), HasSubstr("found the number 1.5"));
  EXPECT_THAT(error_of("name: x, type: int, default: 99999999999999999999"),
              HasSubstr("at most 64 bits"));
  EXPECT_THAT(error_of("name: x, type: float, default: .nan"), HasSubstr("expected a number"));
  EXPECT_THAT(error_of("name: x, type: float, default: \"1\""),
              HasSubstr("expected a number without quotes"));
  EXPECT_THAT(error_of("name: x, type: bool, default: 1"), HasSubstr("expected true or false"));
  EXPECT_THAT(error_of("name: x, type: string, default: 1"), HasSubstr("put it in quotes"));
  EXPECT_THAT(error_of("name: x, type: string, default: ~"), HasSubstr("found nothing"));
}

TEST(OptionSpec, RefusesADefaultOutOfRange) {
  EXPECT_THAT(error_of("name: x, type: int, default: 9, range: [0, 8]"),
              HasSubstr("the default 9 is out of range; give a value from 0 to 8"));
  EXPECT_THAT(error_of("name: x, type: float, default: -0.5, range: [0, .inf]"),
              HasSubstr("the default -0.5 is out of range; give a value from 0 to .inf"));
  EXPECT_EQ(error_of("name: x, type: int, default: 8, range: [0, 8]"), "accepted");
}

TEST(OptionSpec, RefusesADefaultThatIsNotAChoice) {
  EXPECT_THAT(error_of("name: x, type: enum, default: c, choices: [a, b]"),
              HasSubstr("the default \"c\" is not one of the choices; give one of a, b"));
}

TEST(OptionSpec, RefusesABadRange) {
  EXPECT_THAT(error_of("name: x, type: int, default: 1, range: [8, 0]"),
              HasSubstr("the range is empty; write [lowest, highest]"));
  EXPECT_THAT(error_of("name: x, type: int, default: 1, range: [8]"),
              HasSubstr("a range has two ends; write [lowest, highest]"));
  EXPECT_THAT(error_of("name: x, type: int, default: 1, range: [0, 1.5]"),
              HasSubstr("key \"options[0].range[1]\": expected a whole number"));
}

TEST(OptionSpec, RefusesARangeWhereThereIsNone) {
  EXPECT_THAT(error_of("name: x, type: string, default: a, range: [0, 1]"),
              HasSubstr("an option of type string has no range; remove the key"));
}

TEST(OptionSpec, RefusesChoicesWhereThereAreNone) {
  EXPECT_THAT(error_of("name: x, type: string, default: a, choices: [a]"),
              HasSubstr("only an option of type enum has choices; remove the key"));
}

TEST(OptionSpec, RefusesAnEnumWithoutChoices) {
  EXPECT_THAT(error_of("name: x, type: enum, default: a"), HasSubstr("needs the key \"choices\""));
  EXPECT_THAT(error_of("name: x, type: enum, default: a, choices: []"),
              HasSubstr("the list of choices is empty; fill it in"));
  EXPECT_THAT(error_of("name: x, type: enum, default: a, choices: [a, a]"),
              HasSubstr("\"a\" is listed twice"));
}

TEST(OptionSpec, PrintsValuesAsAUserWritesThem) {
  EXPECT_EQ(to_text(OptionValue(std::string("a"))), "a");
  EXPECT_EQ(to_text(OptionValue(int64_t{-3})), "-3");
  EXPECT_EQ(to_text(OptionValue(0.25)), "0.25");
  EXPECT_EQ(to_text(OptionValue(true)), "true");
}

}  // namespace
}  // namespace ephost::manifest::option_spec_test
