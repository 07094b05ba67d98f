#include "host/cli/report/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ephost::cli::json_test {
namespace {

TEST(Json, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(to_text(Json{{"name", "\u202e\x7f"}}), "{\n  \"name\": \"\\u202e\\u007f\"\n}\n");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(to_text(Json{{"name", "\xff"}}), "{\n  \"name\": \"\xef\xbf\xbd\"\n}\n");
}

TEST(Json, KeepsMembersInTheOrderInWhichTheyWereAdded) {
  Json json = {{"b", 1}, {"a", nullptr}};
  json.set("0", true);
  json.update({{"c", "x"}, {"b", 2}});
  EXPECT_EQ(json.dump(), R"({"b":2,"a":null,"0":true,"c":"x"})");
}

TEST(Json, KeepsIntegersOf64Bits) {
  const Json json = {{"most", std::numeric_limits<uint64_t>::max()},
                     {"least", std::numeric_limits<int64_t>::min()}};
  EXPECT_EQ(json.dump(), R"({"most":18446744073709551615,"least":-9223372036854775808})");
}

TEST(Json, MakesAnArrayOfAVector) {
  EXPECT_EQ(Json(std::vector<std::string>{"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_EQ(Json(std::vector<int>()).dump(), "[]");
}

TEST(Json, MakesAnObjectOfOneMember) { EXPECT_EQ(Json({{"a", "b"}}).dump(), R"({"a":"b"})"); }

TEST(Json, ReadsBackWhatItWrote) {
  const Json json = Json::parse(R"({"numbers": [1, 2.5], "text": "x"})");
  ASSERT_EQ(json.member("numbers").elements().size(), 2);
  EXPECT_EQ(json.member("numbers").elements()[1].number(), 2.5);
  EXPECT_EQ(json.member("text").string(), "x");
}

TEST(Json, HasNullForAMissingMember) {
  EXPECT_TRUE(Json::parse("{}").member("x").is_null());
  EXPECT_TRUE(Json::parse("[]").member("x").is_null());
}

TEST(Json, IsNullForATextThatIsNotADocument) { EXPECT_TRUE(Json::parse("{\"a\": ").is_null()); }

}  // namespace
}  // namespace ephost::cli::json_test
