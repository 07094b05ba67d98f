#include "host/manifest/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ephost::manifest::version_test {
namespace {

using ::testing::HasSubstr;

Version version(std::string_view text) { return Version::parse(text).value(); }

bool admits(std::string_view range, std::string_view text) {
  return VersionRange::parse(range).value().contains(version(text));
}

TEST(Version, PrintsWhatItParses) {
  for (const std::string_view text : {"0.0.0", "1.2.3", "10.20.4294967295", "1.0.0-rc.1",
                                      "1.0.0+build.7", "1.0.0-alpha-2.x+001"}) {
    EXPECT_EQ(version(text).to_string(), text);
  }
}

TEST(Version, OrdersAsSemanticVersioningSays) {
  const std::vector<std::string> ascending{"0.9.9",
                                           "1.0.0-1",
                                           "1.0.0-2",
                                           "1.0.0-10",
                                           "1.0.0-alpha",
                                           "1.0.0-alpha.1",
                                           "1.0.0-alpha.beta",
                                           "1.0.0-beta.2",
                                           "1.0.0-beta.11",
                                           "1.0.0",
                                           "1.0.1",
                                           "1.2.0",
                                           "1.10.0",
                                           "2.0.0"};
  for (size_t i = 0; i + 1 < ascending.size(); ++i) {
    EXPECT_LT(version(ascending[i]), version(ascending[i + 1])) << ascending[i];
  }
}

TEST(Version, IgnoresBuildMetadataInComparisons) {
  EXPECT_EQ(version("1.0.0+a"), version("1.0.0+b"));
}

TEST(Version, ComparesLongNumbersOfPrereleasesByValue) {
  EXPECT_LT(version("1.0.0-99999999999999999999"), version("1.0.0-100000000000000000000"));
}

TEST(Version, RefusesTextThatIsNotAVersion) {
  for (const std::string_view text :
       {"", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "1..3", "01.2.3", "1.2.3-", "1.2.3-a..b",
        "1.2.3+", "1.2.3-ä", " 1.2.3", "-1.2.3", "4294967296.0.0", "1.2-rc"}) {
    const Result<Version> result = Version::parse(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(result.status().message(), HasSubstr("write it as major.minor.patch"));
  }
  EXPECT_FALSE(Version::parse("1.2.3-" + std::string(200, 'a')).ok());
}

TEST(VersionRange, AdmitsEverythingByDefault) {
  EXPECT_TRUE(VersionRange().contains(version("0.0.1-a")));
  EXPECT_EQ(VersionRange().to_string(), "");
}

TEST(VersionRange, HoldsAllComparators) {
  EXPECT_TRUE(admits(">=1.2, <2", "1.2.0"));
  EXPECT_TRUE(admits(">=1.2,<2", "1.99.0"));
  EXPECT_FALSE(admits(">=1.2, <2", "1.1.9"));
  EXPECT_FALSE(admits(">=1.2, <2", "2.0.0"));
  EXPECT_EQ(VersionRange::parse(" >=1.2, <2 ").value().to_string(), ">=1.2, <2");
}

TEST(VersionRange, ComparesOnlyTheStatedParts) {
  EXPECT_TRUE(admits("<=1.2", "1.2.7"));
  EXPECT_FALSE(admits("<=1.2", "1.3.0"));
  EXPECT_FALSE(admits(">1.2", "1.2.7"));
  EXPECT_TRUE(admits(">1.2", "1.3.0"));
  EXPECT_TRUE(admits("=1.2", "1.2.7"));
  EXPECT_TRUE(admits("1", "1.2.7"));
  EXPECT_FALSE(admits("1", "2.0.0"));
  EXPECT_FALSE(admits("<2", "2.0.0-rc.1"));
}

TEST(VersionRange, ComparesACompleteVersionByPrecedence) {
  EXPECT_FALSE(admits(">=1.2.0", "1.2.0-rc.1"));
  EXPECT_TRUE(admits(">=1.2.0-rc.1", "1.2.0"));
  EXPECT_TRUE(admits("==1.2.3", "1.2.3+build"));
  EXPECT_FALSE(admits("1.2.3", "1.2.4"));
}

TEST(VersionRange, RefusesTextThatIsNotARange) {
  for (const std::string_view text :
       {"", ",", ">=1.2,", "~1.2", "^1", ">= ", "=>1", "1.2 - 1.4", "*", ">=1.2-rc", "!=1"}) {
    const Result<VersionRange> result = VersionRange::parse(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(result.status().message(), HasSubstr("a range is a list like \">=1.2, <2\""));
  }
}

}  // namespace
}  // namespace ephost::manifest::version_test
