#include "host/trust/signed_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace ephost::trust::signed_facts_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

TEST(SignedFacts, ComeBackFromTheirText) {
  const SignedFacts facts{.time = 1'800'000'000,
                          .file = "acme.yaml",
                          .provider = "AcmeExecutionProvider",
                          .version = "1.2.3",
                          .expires = 1'900'000'000,
                          .files = "00ff"};
  const std::string text = to_text(facts);
  EXPECT_EQ(text,
            "timestamp:1800000000\tfile:acme.yaml\thashed\tprovider:AcmeExecutionProvider\t"
            "version:1.2.3\texpires:2030-03-17T17:46:40Z\tfiles:00ff");
  const auto read = parse_signed_facts(text);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(to_text(*read), text);
}

TEST(SignedFacts, AnyCommentOfMinisignWillDo) {
  EXPECT_EQ(parse_signed_facts("timestamp:1700000000\tfile:a\thashed")->time, 1'700'000'000);
  EXPECT_EQ(parse_signed_facts("whatever I like")->time, std::nullopt);
  EXPECT_THAT(parse_signed_facts(""), IsOk());
}

TEST(SignedFacts, CannotSmuggleInAField) {
  const auto read = parse_signed_facts(to_text(SignedFacts{.file = "a\texpires:2099-01-01"}));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->expires, std::nullopt);
}

TEST(SignedFacts, RefusesContradictions) {
  EXPECT_THAT(parse_signed_facts("expires:2027-01-01\texpires:2099-01-01").status().message(),
              HasSubstr("stated twice"));
  EXPECT_THAT(parse_signed_facts("expires:tomorrow").status().message(),
              HasSubstr("is not a time"));
}

TEST(SignedFacts, TimesHaveOneSpelling) {
  EXPECT_EQ(parse_time("1970-01-02"), 86400);
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z"), 1);
  for (const char* text : {"", "1970", "1970-1-2", "1970-02-30", "1970-01-01T00:00:01",
                           "1970-01-01T24:00:00Z", " 1970-01-01", "1970-01-01Z"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ephost::trust::signed_facts_test
