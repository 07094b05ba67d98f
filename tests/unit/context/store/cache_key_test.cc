#include "host/context/store/cache_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::cache_key_test {
namespace {

using testing::checksum_of_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::sample_ingredients;

TEST(CacheKey, ChangesWithEachIngredient) {
  using Change = std::function<void(CacheIngredients&)>;
  const std::vector<Change> changes = {
      [](CacheIngredients&) {},
      [](CacheIngredients& all) { all.host_version = "1.2.4"; },
      [](CacheIngredients& all) { all.abi = "1.1"; },
      [](CacheIngredients& all) { all.model = checksum_of_text("another model"); },
      [](CacheIngredients& all) { all.model.size += 1; },
      [](CacheIngredients& all) { all.external_data["a.bin"] = checksum_of_text("x"); },
      [](CacheIngredients& all) { all.external_data.erase("b.bin"); },
      [](CacheIngredients& all) {
        std::swap(all.external_data["a.bin"], all.external_data["b.bin"]);
      },
      [](CacheIngredients& all) { all.session_options[0].second = "left_"; },
      [](CacheIngredients& all) { std::swap(all.providers[0], all.providers[1]); },
      [](CacheIngredients& all) { all.providers.pop_back(); },
      [](CacheIngredients& all) { all.providers[0].name = "Three"; },
      [](CacheIngredients& all) { all.providers[0].plugin_id = "org.three"; },
      [](CacheIngredients& all) { all.providers[0].plugin_version = "1.0.1"; },
      [](CacheIngredients& all) { all.providers[0].abi = "1.1"; },
      [](CacheIngredients& all) { all.providers[0].library = checksum_of_text("rebuilt"); },
      [](CacheIngredients& all) { all.providers[0].options[0].second = "1"; },
      [](CacheIngredients& all) { all.providers[0].options[0].first = "workers"; },
      [](CacheIngredients& all) { all.providers[0].options.pop_back(); },
      [](CacheIngredients& all) { all.providers[0].devices.clear(); },
      [](CacheIngredients& all) { all.providers[0].has_target = true; },
      [](CacheIngredients& all) { all.providers[0].devices[0].type = "2"; },
      [](CacheIngredients& all) { all.providers[0].devices[0].id = "other"; },
      [](CacheIngredients& all) { all.providers[0].devices[0].name = "other"; },
      [](CacheIngredients& all) { all.providers[0].devices[0].vendor = "other"; },
      [](CacheIngredients& all) { all.providers[0].devices[0].architecture = "avx512"; },
      [](CacheIngredients& all) { all.providers[0].devices[0].driver_version = "6"; },
      [](CacheIngredients& all) { all.providers[0].compatibility = "sdk 2"; },
  };
  std::set<std::string> ids;
  for (const Change& change : changes) {
    CacheIngredients ingredients = sample_ingredients();
    change(ingredients);
    ids.insert(make_cache_key(ingredients).id);
  }
  EXPECT_EQ(ids.size(), changes.size());
}

TEST(CacheKey, IsTheSameForTheSameIngredients) {
  const CacheKey key = make_cache_key(sample_ingredients());
  EXPECT_EQ(make_cache_key(sample_ingredients()).id, key.id);
  EXPECT_EQ(cache_key_id(key.text), key.id);
  EXPECT_TRUE(is_cache_key_id(key.id));
}

TEST(CacheKey, AValueCannotForgeALine) {
  CacheIngredients split = sample_ingredients();
  split.providers[0].options = {{"a", "b\nprovider option: c=d"}};
  CacheIngredients two = sample_ingredients();
  two.providers[0].options = {{"a", "b"}, {"c", "d"}};
  EXPECT_NE(make_cache_key(split).id, make_cache_key(two).id);
}

TEST(CacheKey, CanBeReadByPeople) {
  const std::string text = make_cache_key(sample_ingredients()).text;
  EXPECT_THAT(text, HasSubstr("\nprovider: One\nplugin: org.one\nplugin version: 1.0.0\n"));
  EXPECT_THAT(text, HasSubstr("\nprovider option: threads=0\n"));
}

TEST(CacheKey, LinesComeBackAsTheyWere) {
  std::string text;
  append_line(text, "a", "plain");
  append_line(text, "b", "back\\slash \\n and\nnewline: x");
  append_line(text, "c", "");
  EXPECT_THAT(
      parse_lines(text),
      ElementsAre(Pair("a", "plain"), Pair("b", "back\\slash \\n and\nnewline: x"), Pair("c", "")));
}

TEST(CacheKey, AnIdIsLowerCaseHexadecimal) {
  EXPECT_TRUE(is_cache_key_id("0123456789abcdef0123456789abcdef"));
  EXPECT_FALSE(is_cache_key_id("0123456789ABCDEF0123456789ABCDEF"));
  EXPECT_FALSE(is_cache_key_id("0123"));
}

}  // namespace
}  // namespace ephost::context::cache_key_test
