// What becomes of the contexts of an older entry of the cache store if one ingredient of the key
// has changed.
#include <gmock/gmock.h>

#include <functional>
#include <ostream>

#include "tests/integration/session/caching/cache_reuse_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::cache_reuse_ingredients_test {
namespace {

using Outcome = CacheUse::Outcome;
using Seen = test::SeenSession;
using test::CacheReuse;
using test::CacheSetup;
using test::fixture_directory;
using test::IsOk;
using ::testing::HasSubstr;

// Something that the key of an entry covers, and how many of the two partitions are compiled again
// once it has changed.
struct Ingredient {
  std::string name;
  size_t compiled = 0;
  std::function<void(CacheSetup&)> change;
  std::function<void(CacheSetup&)> before = [](CacheSetup&) {};  // for both sessions
};

void PrintTo(const Ingredient& ingredient, std::ostream* out) { *out << ingredient.name; }

void negate_weight(graph::Model& model) { model.graph.initializers[1] = test::row(4, -3); }

std::vector<Ingredient> ingredients() {
  const auto config = [](const char* key, const char* value) {
    return [key, value](CacheSetup& setup) { setup.config.emplace_back(key, value); };
  };
  const auto option = [](const char* name, const char* value) {
    return [name, value](CacheSetup& setup) { setup.options_of("scripted") = {{name, value}}; };
  };
  return {
      // The host.
      {"HostVersion", 0, [](CacheSetup& setup) { setup.host_version = "1.0.1"; }},
      // The model.
      {"ModelDocumentation", 2,
       [](CacheSetup& setup) { setup.edit = [](graph::Model& model) { model.doc = "changed"; }; }},
      {"Weight", 2, [](CacheSetup& setup) { setup.edit = negate_weight; }},
      {"ExternalData", 2, [](CacheSetup& setup) { setup.edit = negate_weight; },
       [](CacheSetup& setup) { setup.weights = "weights.bin"; }},
      {"Opset", 2,
       [](CacheSetup& setup) {
         setup.edit = [](graph::Model& model) { model.opset_imports[""] = 14; };
       }},
      // The provider that compiles.
      {"PluginVersion", 2,
       [](CacheSetup& setup) { setup.scripted = fixture_directory("scripted_next"); }},
      {"ProviderOption", 2, option("keep_state", "1")},
      {"Compatibility", 2, option("compatibility", "scripted 2")},
      // Session options: what counts is what they do to the partitions.
      {"NamePrefix", 2, config("ep.context_node_name_prefix", "left_")},
      {"FoldingBytes", 0, config("optimization.constant_folding_max_bytes", "1000")},
      {"FoldingWork", 0, config("optimization.constant_folding_max_work", "1000")},
      {"Optimization", 0, config("session.graph_optimization_level", "disable_all")},
      {"Quantisation", 0, config("session.disable_quant_qdq", "1")},
      {"InliningLimit", 0, config("session.function_inlining_max_nodes", "1000")},
      {"SparseLimit", 0, config("session.sparse_initializers_max_bytes", "1000")},
      // Providers that compile nothing.
      {"IdleProviderUpdated", 0,
       [](CacheSetup& setup) { setup.idle = fixture_directory("next_version"); }},
      {"IdleProviderRemoved", 0, [](CacheSetup& setup) { setup.providers.pop_back(); }},
      {"IdleProviderAdded", 0,
       [](CacheSetup& setup) {
         setup.providers.insert(setup.providers.begin(), {"scripted_two", {{"claim", "fuse:Sub"}}});
       }},
      {"IdleProviderWithAnotherOption", 0,
       [](CacheSetup& setup) { setup.options_of("scripted_two")[0].second = "kernels:Sub"; },
       [](CacheSetup& setup) {
         setup.providers.push_back({"scripted_two", {{"claim", "fuse:Sub"}}});
       }},
      {"OrderOfProviders", 0,
       [](CacheSetup& setup) { std::swap(setup.providers[0], setup.providers[1]); }},
      {"CpuProviderOption", 0,
       [](CacheSetup& setup) {
         setup.providers.push_back({"cpu", {{"num_threads", "1"}}});
       }},
  };
}

class CacheReuseOf : public CacheReuse, public ::testing::WithParamInterface<Ingredient> {};

TEST_P(CacheReuseOf, AnIngredientThatChanges) {
  const Ingredient& ingredient = GetParam();
  CacheSetup first;
  ingredient.before(first);
  const Seen missed = open(first);
  EXPECT_EQ(missed.use.outcome, Outcome::kMiss);
  EXPECT_EQ(missed.compiled, 2U);

  CacheSetup changed;
  ingredient.before(changed);
  ingredient.change(changed);
  const Seen found = open(changed);
  ASSERT_THAT(found.status, IsOk());
  EXPECT_EQ(found.use.outcome, Outcome::kMiss);
  EXPECT_NE(found.use.key, missed.use.key);
  EXPECT_EQ(found.compiled, ingredient.compiled) << found.log;
  EXPECT_EQ(found.restored, 2 - ingredient.compiled) << found.log;
  EXPECT_EQ(found.use.reused_contexts, found.restored);
  expect_hit(changed);
}

INSTANTIATE_TEST_SUITE_P(CacheReuse, CacheReuseOf, ::testing::ValuesIn(ingredients()),
                         [](const auto& instance) { return instance.param.name; });

TEST_F(CacheReuse, ARebuiltLibraryOfAnotherProviderCompilesNothing) {
  ASSERT_EQ(open({}).compiled, 2U);
  CacheSetup cpu;
  cpu.cpu = rebuilt(EPHOST_PLUGINS, "libephost_cpu.so");
  const Seen with_cpu = open(cpu);
  EXPECT_EQ(with_cpu.use.outcome, Outcome::kMiss);
  EXPECT_EQ(with_cpu.compiled, 0U) << with_cpu.log;
  CacheSetup idle;
  idle.idle = rebuilt(idle.idle, "libgood.so");
  EXPECT_EQ(open(idle).compiled, 0U);
  CacheSetup own;
  own.scripted = rebuilt(own.scripted, "libscripted.so");
  const Seen compiled = open(own);
  EXPECT_EQ(compiled.compiled, 2U);
  EXPECT_THAT(compiled.log, HasSubstr("has another plugin library"));
}

}  // namespace
}  // namespace ephost::cache_reuse_ingredients_test
