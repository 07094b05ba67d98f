#include "host/manifest/yaml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::manifest::yaml_tree_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = YamlNode::Kind;

std::string error_of(std::string_view text) {
  const Result<YamlNode> result = parse_yaml(text, "a.yaml");
  if (result.ok()) return "accepted";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

std::string repeat(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

TEST(YamlTree, KeepsOrderKindsAndPlaces) {
  const Result<YamlNode> root = parse_yaml("b: 1\na:\n  - x\n  - \"2\"\nc: ~\n", "a.yaml");
  ASSERT_THAT(root, IsOk());
  ASSERT_EQ(root->kind, Kind::kMap);
  ASSERT_EQ(root->entries.size(), 3U);
  EXPECT_EQ(root->entries[0].key, "b");
  EXPECT_EQ(root->entries[0].value.place.column, 4);
  const YamlNode& list = root->entries[1].value;
  ASSERT_EQ(list.kind, Kind::kSequence);
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].text, "x");
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_EQ(list.items[1].place.line, 4);
  EXPECT_EQ(list.items[1].place.column, 5);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_EQ(root->entries[2].value.kind, Kind::kNull);
  EXPECT_EQ(root->entries[2].place.line, 5);
}

TEST(YamlTree, ReadsFlowAndBlockTextAlike) {
  const Result<YamlNode> root = parse_yaml("a: {b: [1, 2]}\nc: >-\n  two\n  lines\n", "a.yaml");
  ASSERT_THAT(root, IsOk());
  EXPECT_EQ(root->entries[0].value.entries[0].value.items[1].text, "2");
  EXPECT_EQ(root->entries[1].value.text, "two lines");
}

TEST(YamlTree, SaysWhereTheTextIsNotYaml) {
  EXPECT_THAT(error_of("a: 1\nb: [1, 2\nc: 3\n"), StartsWith("a.yaml:3:"));
  EXPECT_THAT(error_of("a: 1\n\tb: 2\n"),
              ::testing::AllOf(StartsWith("a.yaml:2:"), HasSubstr("not valid YAML"),
                               HasSubstr("check indentation, quotes and brackets")));
}

TEST(YamlTree, RefusesADuplicateKey) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"),
            "a.yaml:3:1: the key \"a\" is already given in line 1; remove one of the two");
}

TEST(YamlTree, RefusesAnchorsAndAliases) {
  EXPECT_THAT(error_of("a: &x 1\n"), HasSubstr("an anchor (&name) is not allowed; remove it"));
  EXPECT_THAT(error_of("a: &x [1]\n"), HasSubstr("an anchor"));
  EXPECT_THAT(error_of("a: &x\nb: 1"), HasSubstr("an anchor"));
  EXPECT_THAT(error_of("a: *x\n"), HasSubstr("the referenced anchor is not defined"));
}

TEST(YamlTree, RefusesTags) {
  EXPECT_THAT(error_of("a: !!str 1\n"), HasSubstr("is not allowed; remove it"));
  EXPECT_THAT(error_of("a: !x [1]\n"), HasSubstr("the tag \"!x\""));
}

TEST(YamlTree, RefusesKeysThatAreNotText) {
  for (const std::string_view text :
       {"[a]: 1\n", "{a: 1}: 1\n", "~: 1\n", "\"\": 1\n", "? [a]\n: 1"}) {
    EXPECT_THAT(error_of(text), HasSubstr("a key must be text; write \"key: value\"")) << text;
  }
}

TEST(YamlTree, RefusesASecondDocument) {
  EXPECT_THAT(error_of("a: 1\n---\nb: 2\n"), HasSubstr("keep one document in a file"));
}

TEST(YamlTree, RefusesAnEmptyFile) {
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty; write the keys"));
  EXPECT_THAT(error_of("# only a comment\n"), HasSubstr("the file is empty"));
}

TEST(YamlTree, RefusesDeepNesting) {
  EXPECT_EQ(error_of("a: " + repeat("[", 15) + repeat("]", 15)), "accepted");
  EXPECT_THAT(error_of("a: " + repeat("[", 16) + repeat("]", 16)),
              HasSubstr("nested more than 16 levels deep; flatten"));
}

TEST(YamlTree, RefusesTooManyValues) {
  EXPECT_THAT(error_of(std::string("[") + repeat("1,", 20000) + "]"),
              HasSubstr("more than 10000 values; shorten it"));
}

TEST(YamlTree, RefusesOversizedText) {
  EXPECT_THAT(error_of("a: " + std::string(kMaxYamlBytes, 'x')),
              HasSubstr("more than 262144 bytes"));
}

TEST(YamlTree, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(error_of("a: \xff\n"), HasSubstr("not UTF-8 text; save it as UTF-8"));
  EXPECT_THAT(error_of(std::string_view("a\0: 1\n", 6)), HasSubstr("not UTF-8 text"));
  EXPECT_THAT(error_of(std::string_view("\xff\xfe"
                                        "a\0",
                                        4)),
              HasSubstr("not UTF-8 text"));
}

TEST(YamlTree, AcceptsAByteOrderMark) {
  const Result<YamlNode> root = parse_yaml(
      "\xef\xbb\xbf"
      "a: 1\n",
      "a.yaml");
  ASSERT_THAT(root, IsOk());
  EXPECT_EQ(root->entries[0].key, "a");
}

TEST(YamlTree, EndsSoonOnTextMadeToBeSlow) {
  for (const std::string_view unit :
       {"[",     "{",     "- ",         "? ",  "a: ",  "a: b: ",  "\"",   "'",     "!",
        "&a ",   "*a ",   "%",          "|\n", ">\n",  "- - ",    "[a: ", "{a: ",  "a\n",
        "---\n", "...\n", "#\n",        "\n",  " ",    "[,",      "? - ", "a:\n ", "]",
        ": ",    "!<",    "%TAG ! a\n", "\\",  "\"\\", "a: 'x\n", "é"}) {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(error_of(repeat(unit, kMaxYamlBytes / unit.size())));
    const auto spent = std::chrono::steady_clock::now() - start;
    EXPECT_LT(spent, std::chrono::seconds(20)) << unit;
  }
}

TEST(YamlTree, ReportsAMissingFile) {
  ephost::test::TempDirectory dir;
  EXPECT_EQ(load_yaml(dir / "none.yaml").status().code(), StatusCode::kNoSuchFile);
}

TEST(YamlTree, RefusesAnOversizedFileBeforeReadingIt) {
  ephost::test::TempDirectory dir;
  const Result<YamlNode> root = load_yaml(dir.write("a.yaml", std::string(kMaxYamlBytes + 1, ' ')));
  ASSERT_FALSE(root.ok());
  EXPECT_THAT(root.status().message(), HasSubstr("more than 262144 bytes"));
}

}  // namespace
}  // namespace ephost::manifest::yaml_tree_test
