#include "host/manifest/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/manifest/selection.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::options_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

Result<std::vector<TypedOption>> validate(const KeyValues& given) {
  return validate_options(parse_manifest(testing::kSample, "acme.yaml").value(), given);
}

std::string error_of(const KeyValues& given) {
  const Result<std::vector<TypedOption>> result = validate(given);
  if (result.ok()) return "accepted";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(Options, FillsInTheDefaults) {
  const Result<std::vector<TypedOption>> options = validate({});
  ASSERT_THAT(options, IsOk());
  std::string listed;
  for (const TypedOption& option : *options) listed += option.name + "=" + option.text + ";";
  EXPECT_EQ(listed, "cores=4;mode=fast;scale=0.5;verbose=false;cache_folder=;");
}

TEST(Options, TakesGivenValuesByType) {
  const Result<std::vector<TypedOption>> options = validate({{"verbose", "1"},
                                                             {"scale", "2"},
                                                             {"cores", "+8"},
                                                             {"cache_folder", "12"},
                                                             {"mode", "exact"}});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ((*options)[0].value, OptionValue(int64_t{8}));
  EXPECT_EQ((*options)[0].text, "8");
  EXPECT_EQ((*options)[1].value, OptionValue(std::string("exact")));
  EXPECT_EQ((*options)[2].value, OptionValue(2.0));
  EXPECT_EQ((*options)[3].value, OptionValue(true));
  EXPECT_EQ((*options)[3].text, "true");
  EXPECT_EQ((*options)[4].value, OptionValue(std::string("12")));
}

TEST(Options, ReadsTruthValuesInEachSpelling) {
  for (const std::string text : {"true", "True", "1"}) {
    EXPECT_EQ(validate({{"verbose", text}}).value()[3].value, OptionValue(true));
  }
  for (const std::string text : {"false", "FALSE", "0"}) {
    EXPECT_EQ(validate({{"verbose", text}}).value()[3].value, OptionValue(false));
  }
}

TEST(Options, RefusesAnUnknownOptionWithTheNearest) {
  EXPECT_EQ(error_of({{"core", "1"}}),
            "option \"core\" of AcmeExecutionProvider: it is not known; did you mean \"cores\"?");
}

TEST(Options, RefusesAnUnknownOptionWithAllOptionsWhenNoneIsNear) {
  EXPECT_THAT(error_of({{"temperature", "1"}}),
              HasSubstr("the provider's options are cores, mode, scale, verbose, cache_folder"));
}

TEST(Options, RefusesAnyOptionWhereThereAreNone) {
  const Manifest manifest =
      parse_manifest(testing::small_manifest("A", "a", "1.0.0", "linux-x86_64: liba.so"), "a.yaml")
          .value();
  const KeyValues given{{"x", "1"}};
  EXPECT_THAT(validate_options(manifest, given).status().message(),
              HasSubstr("the provider has no options"));
}

TEST(Options, RefusesAnOptionThatIsGivenTwice) {
  EXPECT_THAT(
      error_of({{"cores", "1"}, {"mode", "fast"}, {"cores", "2"}}),
      HasSubstr("option \"cores\" of AcmeExecutionProvider: it is given twice; give it once"));
}

TEST(Options, RefusesAValueOfAnotherType) {
  EXPECT_THAT(error_of({{"cores", "many"}}),
              HasSubstr("\"many\" is not of type int; give a whole number"));
  EXPECT_THAT(error_of({{"cores", "1.0"}}), HasSubstr("is not of type int"));
  EXPECT_THAT(error_of({{"cores", ""}}), HasSubstr("is not of type int"));
  EXPECT_THAT(error_of({{"scale", "nan"}}), HasSubstr("is not of type float; give a number"));
  EXPECT_THAT(error_of({{"verbose", "yes"}}),
              HasSubstr("is not of type bool; give true, false, 1 or 0"));
}

TEST(Options, RefusesAValueOutOfRange) {
  EXPECT_EQ(
      error_of({{"cores", "17"}}),
      "option \"cores\" of AcmeExecutionProvider: 17 is out of range; give a value from 0 to 16");
  EXPECT_THAT(error_of({{"scale", "-1"}}), HasSubstr("give a value from 0 to .inf"));
  EXPECT_EQ(error_of({{"scale", ".inf"}}), "accepted");
}

TEST(Options, RefusesAValueThatIsNotAChoice) {
  EXPECT_THAT(error_of({{"mode", "Fast"}}),
              HasSubstr("\"Fast\" is not one of the choices; give one of fast, exact"));
}

// Options of each scope, and others as text if `open`.
Manifest scoped(bool open) {
  const std::string text =
      testing::small_manifest("A", "a", "1.0.0", "linux-x86_64: liba.so") +
      "options:\n"
      "  - { name: fixed, type: int, default: 1 }\n"
      "  - { name: depth, type: int, scope: run, default: 2, range: [0, 9] }\n"
      "  - { name: power, type: enum, scope: dynamic, default: low, choices: [low, high] }\n" +
      (open ? "options_open: true\n" : "");
  return parse_manifest(text, "a.yaml").value();
}

std::string listed(const Result<std::vector<TypedOption>>& options) {
  if (!options.ok()) return options.status().message();
  std::string text;
  for (const TypedOption& option : *options) text += option.name + "=" + option.text + ";";
  return text;
}

using Given = std::vector<std::pair<std::string, std::string>>;

TEST(Options, BelongToTheCreationARunOrAChange) {
  const Manifest manifest = scoped(false);
  EXPECT_EQ(listed(validate_options(manifest, Given{{"power", "high"}})), "fixed=1;power=high;");
  EXPECT_EQ(listed(validate_run_options(manifest, {})), "depth=2;");
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"depth", "7"}})), "depth=7;");
  EXPECT_EQ(listed(validate_option_changes(manifest, {})), "");
  EXPECT_EQ(listed(validate_option_changes(manifest, Given{{"power", "high"}})), "power=high;");
}

TEST(Options, AreRefusedInAnotherScope) {
  const Manifest manifest = scoped(false);
  EXPECT_EQ(listed(validate_options(manifest, Given{{"depth", "1"}})),
            "option \"depth\" of A: it has the scope run; give it with a run");
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"fixed", "1"}})),
            "option \"fixed\" of A: it has the scope session; give it when the session is created");
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"power", "low"}})),
            "option \"power\" of A: it has the scope dynamic; give it when the session is created, "
            "or change it in the session");
  EXPECT_EQ(listed(validate_option_changes(manifest, Given{{"depth", "1"}})),
            "option \"depth\" of A: it has the scope run; give it with a run");
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"something", "1"}})),
            "option \"something\" of A: it is not known; the provider's options with the scope run "
            "are depth");
}

TEST(Options, AreCheckedInEveryScope) {
  const Manifest manifest = scoped(true);
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"depth", "10"}})),
            "option \"depth\" of A: 10 is out of range; give a value from 0 to 9");
  EXPECT_EQ(listed(validate_option_changes(manifest, Given{{"power", "off"}})),
            "option \"power\" of A: \"off\" is not one of the choices; give one of low, high");
}

TEST(Options, ThatAreNotDeclaredGoThroughAsTextWhereTheManifestSaysSo) {
  const Manifest manifest = scoped(true);
  EXPECT_EQ(listed(validate_options(manifest, Given{{"tile", "8"}})), "fixed=1;power=low;tile=8;");
  EXPECT_EQ(listed(validate_run_options(manifest, Given{{"tile", "8"}})), "depth=2;tile=8;");
  EXPECT_EQ(validate_run_options(manifest, Given{{"tile", "8"}}).value()[1].value,
            OptionValue(std::string("8")));
  EXPECT_EQ(listed(validate_options(manifest, Given{{"tile", "8"}, {"tile", "9"}})),
            "option \"tile\" of A: it is given twice; give it once");
  EXPECT_EQ(listed(validate_option_changes(manifest, Given{{"tile", "8"}})),
            "option \"tile\" of A: it is not known; the provider's options with the scope dynamic "
            "are power");
}

}  // namespace
}  // namespace ephost::manifest::options_test
