// Operators on text: UTF-8 beyond ASCII, empty strings and tensors, and what they refuse.
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::text_test {
namespace {

using Tensors = std::vector<Tensor>;
using Words = std::vector<std::string>;

Outcome normalize(const Words& words, const Attributes& attributes) {
  return run_node("StringNormalizer", 10, {strings({static_cast<int64_t>(words.size())}, words)},
                  attributes);
}

Tensor list(const Words& words) { return strings({static_cast<int64_t>(words.size())}, words); }

TEST(StringNormalizer, ChangesTheCaseOfEveryScript) {
  const Attributes lower = {{"case_change_action", std::string("LOWER")}};
  const Attributes upper = {{"case_change_action", std::string("UPPER")}};
  EXPECT_THAT(normalize({"ÄÖÜ Straße", "ΑΣ", "ЖУК", "İI", "漢字", "𐐀"}, lower),
              Gives(Tensors{list({"äöü straße", "ασ", "жук", "ii", "漢字", "𐐨"})}));
  EXPECT_THAT(normalize({"ÿ", "straße", "ς", "жук", "ǆ", "ⅷ"}, upper),
              Gives(Tensors{list({"Ÿ", "STRAßE", "Σ", "ЖУК", "Ǆ", "Ⅷ"})}));
}

TEST(StringNormalizer, KeepsBytesThatAreNotUtf8) {
  EXPECT_THAT(normalize({"A\xFFZ\xC3", "\xE2\x82", "\xED\xA0\x80Q"},
                        {{"case_change_action", std::string("LOWER")}}),
              Gives(Tensors{list({"a\xFFz\xC3", "\xE2\x82", "\xED\xA0\x80q"})}));
}

TEST(StringNormalizer, DropsStopWordsInEitherCase) {
  const Words days = {"Monday", "MONDAY", "tuesday"};
  const Words stop = {"monday"};
  EXPECT_THAT(normalize(days, {{"stopwords", stop}}), Gives(Tensors{list({"tuesday"})}));
  EXPECT_THAT(normalize(days, {{"stopwords", stop}, {"is_case_sensitive", int64_t{1}}}),
              Gives(Tensors{list(days)}));
  EXPECT_THAT(
      run_node("StringNormalizer", 10, {strings({1, 2}, {"a", "A"})}, {{"stopwords", Words{"a"}}}),
      Gives(Tensors{strings({1, 1}, {""})}));
  EXPECT_THAT(normalize({}, {}), Gives(Tensors{list({""})}));
}

TEST(StringNormalizer, RefusesOtherShapesAndActions) {
  EXPECT_THAT(run_node("StringNormalizer", 10, {strings({2, 1}, {"a", "b"})}),
              Refuses(EPH_INVALID_ARGUMENT, "[2,1] is neither of shape [C] nor [1,C]"));
  EXPECT_THAT(normalize({"a"}, {{"case_change_action", std::string("TITLE")}}),
              Refuses(EPH_INVALID_ARGUMENT, "case_change_action 'TITLE' is unknown"));
}

TEST(StringConcat, Broadcasts) {
  EXPECT_THAT(run_node("StringConcat", 20, {strings({2, 1}, {"a", ""}), list({"x", "", "yz"})}),
              Gives(Tensors{strings({2, 3}, {"ax", "a", "ayz", "x", "", "yz"})}));
  EXPECT_THAT(run_node("StringConcat", 20, {list({}), list({"x"})}), Gives(Tensors{list({})}));
  EXPECT_THAT(run_node("StringConcat", 20, {list({"a", "b"}), list({"x", "y", "z"})}),
              Refuses(EPH_INVALID_ARGUMENT, "cannot be broadcast"));
}

TEST(StringSplit, SplitsAtDelimiters) {
  const Attributes comma = {{"delimiter", std::string(", ")}};
  EXPECT_THAT(
      run_node("StringSplit", 20, {list({"a, b", "", ", , c"})}, comma, 2),
      Gives(Tensors{strings({3, 3}, {"a", "b", "", "", "", "", "", "", "c"}), ints({2, 1, 3})}));
  EXPECT_THAT(run_node("StringSplit", 20, {list({"a, b, c"})},
                       {{"delimiter", std::string(", ")}, {"maxsplit", int64_t{1}}}, 2),
              Gives(Tensors{strings({1, 2}, {"a", "b, c"}), ints({2})}));
  EXPECT_THAT(run_node("StringSplit", 20, {list({})}, comma, 2),
              Gives(Tensors{strings({0, 0}, {}), ints({})}));
}

TEST(StringSplit, SplitsAtSpacesWithoutADelimiter) {
  EXPECT_THAT(run_node("StringSplit", 20, {list({"  a \t b  ", "   "})}, {}, 2),
              Gives(Tensors{strings({2, 2}, {"a", "b", "", ""}), ints({2, 0})}));
  EXPECT_THAT(run_node("StringSplit", 20, {list({" a  b c "})}, {{"maxsplit", int64_t{1}}}, 2),
              Gives(Tensors{strings({1, 2}, {"a", "b c "}), ints({2})}));
  EXPECT_THAT(run_node("StringSplit", 20, {list({"a b"})}, {{"maxsplit", int64_t{0}}}, 2),
              Gives(Tensors{strings({1, 1}, {"a b"}), ints({1})}));
}

TEST(RegexFullMatch, MatchesWholeStrings) {
  EXPECT_THAT(run_node("RegexFullMatch", 20, {strings({2, 2}, {"ab", "abb", "xab", ""})},
                       {{"pattern", std::string("ab+")}}),
              Gives(Tensors{bools({2, 2}, {1, 1, 0, 0})}));
  EXPECT_THAT(run_node("RegexFullMatch", 20, {list({"ü"})}, {{"pattern", std::string(".")}}),
              Gives(Tensors{bools({1}, {1})}));
  EXPECT_THAT(run_node("RegexFullMatch", 20, {list({"a"})}, {{"pattern", std::string("a(")}}),
              Refuses(EPH_INVALID_ARGUMENT, "pattern 'a(' is not a regular expression"));
  EXPECT_THAT(run_node("RegexFullMatch", 20, {list({"a"})}),
              Refuses(EPH_INVALID_ARGUMENT, "attribute pattern is missing"));
}

// Unigrams 5 and 7, bigrams 5 7 and 7 7.
Attributes ngrams(const char* mode, int64_t shortest, int64_t longest, int64_t skips) {
  return {{"mode", std::string(mode)},
          {"min_gram_length", shortest},
          {"max_gram_length", longest},
          {"max_skip_count", skips},
          {"ngram_counts", std::vector<int64_t>{0, 2}},
          {"ngram_indexes", std::vector<int64_t>{0, 1, 3, 2}},
          {"pool_int64s", std::vector<int64_t>{5, 7, 5, 7, 7, 7}}};
}

TEST(TfIdfVectorizer, CountsNGramsWithSkips) {
  const Tensor x = ints({5, 7, 7, 9, 7});
  EXPECT_THAT(run_node("TfIdfVectorizer", 9, {x}, ngrams("TF", 1, 2, 0)),
              Gives(Tensors{floats({4}, {1, 3, 1, 1})}));
  EXPECT_THAT(run_node("TfIdfVectorizer", 9, {x}, ngrams("TF", 2, 2, 1)),
              Gives(Tensors{floats({4}, {0, 0, 2, 2})}));
  EXPECT_THAT(
      run_node("TfIdfVectorizer", 9, {tensor<int32_t>({2, 1}, {5, 9})}, ngrams("TF", 1, 2, 9)),
      Gives(Tensors{floats({2, 4}, {1, 0, 0, 0, 0, 0, 0, 0})}));
}

TEST(TfIdfVectorizer, WeighsByNGram) {
  const Tensor x = ints({5, 7, 7, 7});
  for (const auto& [mode, expected] : {std::pair("IDF", floats({4}, {10, 20, 40, 30})),
                                       {"TFIDF", floats({4}, {10, 60, 80, 30})}}) {
    Attributes attributes = ngrams(mode, 1, 2, 0);
    attributes.emplace_back("weights", std::vector<float>{10, 20, 30, 40});
    EXPECT_THAT(run_node("TfIdfVectorizer", 9, {x}, attributes), Gives(Tensors{expected})) << mode;
  }
}

TEST(TfIdfVectorizer, RefusesInconsistentPools) {
  const Tensor x = ints({5});
  const auto changed = [](const std::string& name, NodeAttribute value) {
    Attributes attributes = ngrams("TF", 1, 2, 0);
    for (auto& [key, old] : attributes) {
      if (key == name) old = value;
    }
    return attributes;
  };
  const auto refuses = [&](const std::string& name, NodeAttribute value, const char* reason) {
    EXPECT_THAT(run_node("TfIdfVectorizer", 9, {x}, changed(name, std::move(value))),
                Refuses(EPH_INVALID_ARGUMENT, reason));
  };
  refuses("mode", std::string("BM25"), "mode 'BM25' is unknown");
  refuses("ngram_counts", std::vector<int64_t>{0, 3}, "do not divide the pool of 6 into n-grams");
  refuses("ngram_counts", std::vector<int64_t>{0, 99}, "do not divide the pool of 6 into n-grams");
  refuses("ngram_indexes", std::vector<int64_t>{0, 1}, "more n-grams than ngram_indexes");
  refuses("ngram_indexes", std::vector<int64_t>{0, 1, 2, -3}, "ngram_indexes holds -3");
  refuses("min_gram_length", int64_t{3}, "make no n-grams");
  EXPECT_THAT(run_node("TfIdfVectorizer", 9, {list({"a"})}, ngrams("TF", 1, 2, 0)),
              Refuses(EPH_INVALID_ARGUMENT, "the input is of type string, but the pool is not"));
}

}  // namespace
}  // namespace ephost::test::text_test
