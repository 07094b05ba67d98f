#include "host/cli/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ephost::cli::page_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, WritesDataThatEndsNoElement) {
  Json graph = {{"title", "a<b>"}, {"text", "</script><!--"}};
  const std::string page = make_page("t<i>", {{"graphs", std::vector<Json>{graph}}}, "draw();");
  EXPECT_THAT(page, HasSubstr("<title>t&lt;i&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h2 id=\"heading0\">a&lt;b&gt;</h2>"));
  EXPECT_THAT(page, HasSubstr("\"\\u003c/script>\\u003c!--\""));
  EXPECT_THAT(page, HasSubstr("draw();"));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
}

TEST(Page, MakesTextsPrintableAndCutsTheirMiddle) {
  EXPECT_EQ(page_text("a\nb\x1b"), "a b\\x1b");
  EXPECT_EQ(page_text("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(page_text("abcdefghijkl", 9), "ab\u2026ijkl");
  EXPECT_EQ(page_text("abcdef", 3), "\u2026");
  // Characters are not cut in half.
  EXPECT_EQ(page_text("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 10), "\u00e9\u2026\u00e9\u00e9");
}

TEST(Page, PacksNamesThatDifferInTheirNumbers) {
  const std::vector<std::string> names = {"layer_1/add_7", "layer_2/add_7", "layer_10/mul", "x",
                                          "layer_1/add_9"};
  EXPECT_EQ(packed_names(names).dump(),
            R"({"forms":["#layer_\t/add_\t","+mul","#x"],"numbers":[0,1,7,0,1,0,1,10,2,0,-1,2]})");
}

// Names that a number could not give back, and what is not ASCII.
TEST(Page, KeepsOtherNamesAsTheyAre) {
  const std::vector<std::string> names = {"a007", "", "a0", "1234567890", "\u00e9a", "\u00e9b"};
  EXPECT_EQ(packed_names(names).dump(),
            "{\"forms\":[\"#a007\",\"#\",\"#a\\t\",\"#1234567890\",\"#\u00e9a\",\"#\u00e9b\"],"
            "\"numbers\":[0,1,2,0,3,4,5]}");
}

TEST(Page, RepeatsOnlyWhatACharacterCanSay) {
  const std::vector<std::string> names = {std::string(200, 'a') + "b", std::string(200, 'a') + "c"};
  const std::vector<Json> forms = packed_names(names).member("forms").elements();
  EXPECT_EQ(forms[1].string(), "[" + std::string(200 - 56, 'a') + "c");
}

TEST(Page, CountsRuns) {
  EXPECT_THAT(run_lengths(std::vector<int64_t>{}), ElementsAre());
  EXPECT_THAT(run_lengths(std::vector<int64_t>{3, 3, -1, 3}), ElementsAre(3, 2, -1, 1, 3, 1));
}

}  // namespace
}  // namespace ephost::cli::page_test
