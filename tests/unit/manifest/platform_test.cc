#include "host/manifest/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::manifest::platform_test {
namespace {

TEST(Platform, OfTheHostIsOneThatManifestsMayName) {
  EXPECT_EQ(platform_problem(host_platform()), "");
}

TEST(Platform, AcceptsTheCommonOnes) {
  EXPECT_EQ(platform_problem("linux-aarch64"), "");
  EXPECT_EQ(platform_problem("windows-x86_64"), "");
}

TEST(Platform, RefusesOthersWithTheAllowedParts) {
  for (const std::string_view name : {"", "linux", "linux-amd64", "Linux-x86_64", "x86_64-linux"}) {
    EXPECT_THAT(
        platform_problem(name),
        ::testing::AllOf(::testing::HasSubstr("is not a platform; write system-architecture"),
                         ::testing::HasSubstr("x86_64, aarch64")))
        << name;
  }
}

}  // namespace
}  // namespace ephost::manifest::platform_test
