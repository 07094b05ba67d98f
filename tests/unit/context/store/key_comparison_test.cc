#include "host/context/store/key_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/unit/context/store/store_samples.h"

namespace ephost::context::key_comparison_test {
namespace {

using testing::checksum_of_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::sample_ingredients;

// What may be taken over from the entry of another key, if the partitions are the same.
enum class Reuse { kAll, kContextsOfTwo, kNothing };

struct Ingredient {
  std::string name;
  Reuse reuse = Reuse::kNothing;
  std::function<void(CacheIngredients&)> change;
};

void PrintTo(const Ingredient& ingredient, std::ostream* out) { *out << ingredient.name; }

const Ingredient kIngredients[] = {
    {"HostVersion", Reuse::kAll, [](auto& all) { all.host_version = "1.2.4"; }},
    {"HostAbi", Reuse::kAll, [](auto& all) { all.abi = "1.1"; }},
    {"Model", Reuse::kNothing, [](auto& all) { all.model = checksum_of_text("another model"); }},
    {"ModelSize", Reuse::kNothing, [](auto& all) { all.model.size += 1; }},
    {"ExternalData", Reuse::kNothing,
     [](auto& all) { all.external_data["a.bin"] = checksum_of_text("x"); }},
    {"LessExternalData", Reuse::kNothing, [](auto& all) { all.external_data.erase("b.bin"); }},
    {"NameOfExternalData", Reuse::kNothing,
     [](auto& all) { all.external_data["c.bin"] = all.external_data.extract("b.bin").mapped(); }},
    // What it does to a partition is in the digest of the partition.
    {"SessionOption", Reuse::kAll, [](auto& all) { all.session_options[0].second = "left_"; }},
    {"MoreSessionOptions", Reuse::kAll,
     [](auto& all) { all.session_options.emplace_back("a", "b"); }},
    {"Order", Reuse::kAll, [](auto& all) { std::swap(all.providers[0], all.providers[1]); }},
    {"MoreProviders", Reuse::kAll, [](auto& all) { all.providers.push_back({.name = "Three"}); }},
    {"ProviderName", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].name = "Three"; }},
    {"Plugin", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].plugin_id = "org.three"; }},
    {"PluginVersion", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].plugin_version = "1.0.1"; }},
    {"PluginAbi", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].abi = "1.1"; }},
    {"PluginLibrary", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].library = checksum_of_text("rebuilt"); }},
    {"Option", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].options[0].second = "1"; }},
    {"OptionName", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].options[0].first = "workers"; }},
    {"FewerOptions", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].options.pop_back(); }},
    {"NoDevice", Reuse::kContextsOfTwo, [](auto& all) { all.providers[0].devices.clear(); }},
    {"MoreDevices", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices.push_back({}); }},
    {"DeviceType", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices[0].type = "2"; }},
    {"DeviceName", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices[0].name = "other"; }},
    {"DeviceVendor", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices[0].vendor = "other"; }},
    {"DeviceArchitecture", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices[0].architecture = "avx512"; }},
    {"DeviceDriver", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].devices[0].driver_version = "6"; }},
    {"Compatibility", Reuse::kContextsOfTwo,
     [](auto& all) { all.providers[0].compatibility = "sdk 2"; }},
};

// The lines about the provider, "" if there is none.
std::string lines_about(const CacheIngredients& ingredients, std::string_view name) {
  for (const CacheProvider& provider : ingredients.providers) {
    if (provider.name == name) return provider_lines(provider);
  }
  return "";
}

class KeyComparisonOf : public ::testing::TestWithParam<Ingredient> {};

TEST_P(KeyComparisonOf, AnIngredientDecidesWhatMayBeReused) {
  const CacheIngredients old = sample_ingredients();
  CacheIngredients changed = sample_ingredients();
  GetParam().change(changed);
  const std::string old_text = make_cache_key(old).text;
  const std::string text = make_cache_key(changed).text;
  ASSERT_NE(text, old_text);
  const Reuse reuse = GetParam().reuse;
  EXPECT_EQ(are_of_same_model(old_text, text), reuse != Reuse::kNothing);
  // The lines of the provider are part of what identifies a context.
  EXPECT_EQ(lines_about(changed, "One") == lines_about(old, "One"), reuse != Reuse::kContextsOfTwo);
  EXPECT_EQ(lines_about(changed, "Two"), lines_about(old, "Two"));
  EXPECT_EQ(provider_differences(old_text, text, "One").empty(), reuse != Reuse::kContextsOfTwo);
  EXPECT_THAT(provider_differences(old_text, text, "Two"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(KeyComparison, KeyComparisonOf, ::testing::ValuesIn(kIngredients),
                         [](const auto& instance) { return instance.param.name; });

TEST(KeyComparison, AnotherFormatIsAnotherModel) {
  const std::string text = make_cache_key(sample_ingredients()).text;
  ASSERT_TRUE(text.starts_with("format: 2\n"));
  EXPECT_TRUE(are_of_same_model(text, text));
  EXPECT_FALSE(are_of_same_model(text, "format: 1\n" + text.substr(10)));
}

TEST(KeyComparison, AValueIsNotTakenForAnIngredient) {
  CacheIngredients forged = sample_ingredients();
  forged.providers[0].compatibility = "sdk 1\nmodel: another";
  EXPECT_TRUE(
      are_of_same_model(make_cache_key(forged).text, make_cache_key(sample_ingredients()).text));
}

TEST(KeyComparison, NamesTheLinesThatDiffer) {
  const std::string text = make_cache_key(sample_ingredients()).text;
  CacheIngredients changed = sample_ingredients();
  changed.providers[0].plugin_version = "1.0.1";
  changed.providers[0].options.pop_back();
  changed.providers[0].devices.push_back({.type = "3"});
  const std::string other = make_cache_key(changed).text;
  EXPECT_THAT(provider_differences(text, other, "One"),
              ElementsAre("plugin version", "provider option", "device", "device id", "device name",
                          "device vendor", "device architecture", "device driver"));
  EXPECT_THAT(provider_differences(text, other, "Two"), IsEmpty());
  EXPECT_THAT(provider_differences(text, other, "Three"), IsEmpty());
  changed.providers.pop_back();
  EXPECT_THAT(provider_differences(text, make_cache_key(changed).text, "Two"),
              ElementsAre("provider"));
}

}  // namespace
}  // namespace ephost::context::key_comparison_test
