#include "host/session/config/profile_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::session::profile_text_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

TEST(ProfileText, IsRangesOrSingleExtents) {
  const auto profiles = parse_profiles("batch=1:8:32,x[1]=128;batch=1");
  ASSERT_THAT(profiles, IsOk());
  ASSERT_EQ(profiles->size(), 2U);
  ASSERT_EQ((*profiles)[0].size(), 2U);
  EXPECT_EQ((*profiles)[0][0].name, "batch");
  EXPECT_EQ((*profiles)[0][0].least, 1);
  EXPECT_EQ((*profiles)[0][0].best, 8);
  EXPECT_EQ((*profiles)[0][0].greatest, 32);
  EXPECT_EQ((*profiles)[0][1].name, "x[1]");
  EXPECT_EQ((*profiles)[0][1].greatest, 128);
  EXPECT_EQ(to_string(*profiles), "batch=1:8:32,x[1]=128:128:128;batch=1:1:1");
}

TEST(ProfileText, IsReadAgainAsItIsWritten) {
  const auto profiles = parse_profiles("a=b=2:3:4,c=5");
  ASSERT_THAT(profiles, IsOk());
  EXPECT_EQ((*profiles)[0][0].name, "a=b");
  const std::string text = to_string(*profiles);
  EXPECT_EQ(to_string(*parse_profiles(text)), text);
}

TEST(ProfileText, MayBeAboutElements) {
  const auto profiles = parse_profiles("sizes{0}=-1:0:640,sizes{1}=0");
  ASSERT_THAT(profiles, IsOk());
  EXPECT_EQ(to_string(*profiles), "sizes{0}=-1:0:640,sizes{1}=0:0:0");
  EXPECT_EQ(parse_profiles("sizes{0}=1:0:2").status().code(), StatusCode::kInvalidArgument);
}

TEST(ProfileText, MayBeEmpty) {
  ASSERT_THAT(parse_profiles(""), IsOk());
  EXPECT_TRUE(parse_profiles("")->empty());
}

TEST(ProfileText, RefusesWhatIsNoRange) {
  for (const char* text :
       {"batch", "batch=", "=1", "batch=0", "batch=-1", "batch=1:2", "batch=1:2:3:4", "batch=3:2:1",
        "batch=1:9:8", "batch=x", "batch=1 ", "batch=1;", "batch=1,", ";",
        "batch=1:8:", "batch=99999999999999999999"}) {
    const Status status = parse_profiles(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr("is not an extent of a profile; write NAME=LEAST:BEST"))
        << text;
  }
}

TEST(ProfileText, RefusesANameTwice) {
  EXPECT_EQ(parse_profiles("a=1,b=2,a=3").status().message(),
            "the profile \"a=1,b=2,a=3\" names \"a\" twice; leave one of them out");
}

}  // namespace
}  // namespace ephost::session::profile_text_test
