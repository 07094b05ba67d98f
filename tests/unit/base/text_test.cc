#include "host/base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace ephost::text_test {
namespace {

TEST(Quote, PutsTextInDoubleQuotes) {
  EXPECT_EQ(quote("a b"), "\"a b\"");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("模型 é"), "\"模型 é\"");
}

TEST(Quote, EscapesWhatWouldConfuseATerminal) {
  EXPECT_EQ(quote("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quote("a\nb\tc"), R"("a\nb\tc")");
  EXPECT_EQ(quote("\x1b[2J"), R"("\x1b[2J")");
  EXPECT_EQ(quote("\xc2\x9b"), R"("\u009b")");
  EXPECT_EQ(quote("\u202egnp.exe"), R"("\u202egnp.exe")");
  EXPECT_EQ(quote(std::string_view("\0", 1)), R"("\x00")");
}

TEST(Quote, EscapesBytesThatAreNotUtf8) { EXPECT_EQ(quote("a\xff\xc3"), R"("a\xff\xc3")"); }

TEST(Quote, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(quote(std::string(201, 'a')), '"' + std::string(200, 'a') + "...\"");
  EXPECT_EQ(quote(std::string(200, 'a')), '"' + std::string(200, 'a') + '"');
  EXPECT_EQ(quote(std::string(199, 'a') + "éa"), '"' + std::string(199, 'a') + "é...\"");
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::array<const char*, 1>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string_view>{}, ", "), "");
}

TEST(NearestMatch, FindsASlip) {
  constexpr std::array<std::string_view, 4> kKeys{"library", "version", "vendor", "abi"};
  EXPECT_EQ(nearest_match("libary", kKeys), "library");
  EXPECT_EQ(nearest_match("libraries", kKeys), "library");
  EXPECT_EQ(nearest_match("vednor", kKeys), "vendor");
  EXPECT_EQ(nearest_match("VERSION", kKeys), "version");
  EXPECT_EQ(nearest_match("api", kKeys), "abi");
}

TEST(NearestMatch, FindsNothingForAnotherWord) {
  constexpr std::array<std::string_view, 3> kKeys{"library", "version", "x"};
  EXPECT_EQ(nearest_match("weather", kKeys), std::nullopt);
  EXPECT_EQ(nearest_match("y", kKeys), std::nullopt);
  EXPECT_EQ(nearest_match("", kKeys), std::nullopt);
  EXPECT_EQ(nearest_match(std::string(1000, 'v'), kKeys), std::nullopt);
}

TEST(NearestMatch, TakesTheFirstOfEquals) {
  constexpr std::array<std::string_view, 2> kKeys{"beat", "boat"};
  EXPECT_EQ(nearest_match("bat", kKeys), "beat");
}

TEST(Utf8, AcceptsWellFormedText) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("a é 模 \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"));
}

TEST(Utf8, RefusesMalformedText) {
  for (const std::string_view text :
       {"\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf0\x9f\x98", "\xc3\x28"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << quote(text);
  }
}

TEST(AsciiCase, LowersLettersOnly) {
  EXPECT_EQ(ascii_lower("AbZ[É"), "abz[É");
  EXPECT_TRUE(equal_ignoring_case("CPU", "cpu"));
  EXPECT_FALSE(equal_ignoring_case("CPU", "cpus"));
}

}  // namespace
}  // namespace ephost::text_test
