// The scripted fixture itself, loaded through the registry and run by a fake host: other tests rely
// on it to do what its options say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

#include "host/plugin/registry.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"
#include "tests/support/status_matchers.h"

namespace ephost::plugin::scripted_plugin_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

manifest::FoundPlugin find_scripted(std::string_view provider) {
  manifest::SearchRequest request;
  request.directories = {test::fixture_directory("scripted")};
  request.use_environment = false;
  request.use_data_directories = false;
  for (const manifest::FoundPlugin& found : manifest::find_plugins(request).found) {
    if (found.manifest.provider == provider) return found;
  }
  throw std::runtime_error("the scripted plugin is not there");
}

// A provider with options, and the computations made with it.
class Scripted {
 public:
  Scripted(std::initializer_list<std::pair<const char*, std::string>> options = {})
      : plugin_(*registry_.load(find_scripted("ScriptedExecutionProvider"))) {
    std::vector<eph_option> given;
    for (const auto& [name, value] : options) {
      eph_option option = {};
      option.name = eph::to_abi(name);
      option.string_value = eph::to_abi(value);
      option.int_value = value == "true" ? 1 : std::atoll(value.c_str());
      given.push_back(option);
    }
    const eph_provider_config config = {sizeof(config), given.data(), given.size()};
    code = api().create(plugin_->provider_self, &host, &config, &provider, &error);
  }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;
  ~Scripted() {
    for (eph_computation* one : made) one->api->destroy(one);
    api().destroy(provider);
  }

  [[nodiscard]] const eph_provider_api& api() const { return plugin_->provider; }

  test::FakeClaims claims(const test::FakeGraph& graph) {
    test::FakeClaims collected;
    code = api().get_capability(provider, &graph, &collected, &error);
    return collected;
  }
  eph_computation* compile(const test::FakeGraph* graph, std::string_view name,
                           const eph_ep_context* context = nullptr) {
    const eph_partition partition = {sizeof(partition), graph, eph::to_abi(name), context};
    eph_computation* computation = nullptr;
    code = api().compile(provider, &partition, sizeof(partition), 1, &computation, &error);
    if (computation != nullptr) made.push_back(computation);
    return computation;
  }

  test::FakeHost host;
  test::FakeError error;
  int32_t code = EPH_OK;
  eph_provider* provider = nullptr;
  std::vector<eph_computation*> made;

 private:
  Registry registry_;
  std::shared_ptr<const LoadedPlugin> plugin_;
};

// Six nodes: Add, Relu, MatMul (which the script does not know), Mul, Neg, Sub with a constant.
std::unique_ptr<test::FakeGraph> make_graph() {
  auto graph = std::make_unique<test::FakeGraph>();
  const uint32_t x = graph->add_input("x", {2});
  const uint32_t a = graph->add("Add", {x, x}, {2});
  const uint32_t b = graph->add("Relu", {a}, {2});
  const uint32_t c = graph->add("MatMul", {b, b}, {2});
  const uint32_t d = graph->add("Mul", {c, b}, {2});
  const uint32_t e = graph->add("Neg", {d}, {2});
  const uint32_t w = graph->add_constant("w", {1}, {10});
  graph->mark_output(graph->add("Sub", {w, e}, {2}));
  return graph;
}

TEST(ScriptedPlugin, FusesRunsOfAllThatItKnows) {
  const auto graph = make_graph();
  Scripted scripted;
  const test::FakeClaims claims = scripted.claims(*graph);
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4, 5)));
  EXPECT_THAT(claims.declined, SizeIs(1));
}

TEST(ScriptedPlugin, FollowsEachClaimRule) {
  using Groups = std::vector<std::vector<uint32_t>>;
  const std::pair<const char*, Groups> cases[] = {{"fuse:Mul,Sub", {{3}, {5}}},
                                                  {"every:2", {{0, 1}, {3, 4}, {5}}},
                                                  {"nodes:0+3,99", {{0, 3}, {99}}},
                                                  {"fuse:Add;fuse:Neg", {{0}, {4}}},
                                                  {"", {}}};
  const auto graph = make_graph();
  for (const auto& [rules, groups] : cases) {
    Scripted scripted{{"claim", rules}};
    EXPECT_EQ(scripted.claims(*graph).fused, groups) << rules;
  }
}

TEST(ScriptedPlugin, RefusesAnUnknownClaimRule) {
  const auto graph = make_graph();
  Scripted scripted{{"claim", "guess"}};
  static_cast<void>(scripted.claims(*graph));
  EXPECT_EQ(scripted.code, EPH_INVALID_ARGUMENT);
}

TEST(ScriptedPlugin, ComputesWithBroadcasting) {
  const auto graph = make_graph();
  const auto part = graph->extract({3, 4, 5});
  Scripted scripted;
  eph_computation* computation = scripted.compile(part.get(), "part");
  ASSERT_EQ(scripted.code, EPH_OK) << scripted.error.message;
  test::FakeRun run({{{2}, {1, 2}}, {{2}, {3, 4}}});
  ASSERT_EQ(computation->api->compute(computation, nullptr, &run, &scripted.error), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(13, 18));
}

TEST(ScriptedPlugin, RestoresWhatItWrote) {
  const auto graph = make_graph();
  const auto first = graph->extract({0, 1});
  const auto second = graph->extract({3, 4, 5});
  for (const std::string payloads : {"one", "each"}) {
    Scripted scripted{{"payloads", payloads}, {"padding_bytes", "1000"}};
    scripted.compile(first.get(), "first");
    scripted.compile(second.get(), "second");
    test::FakeContextWriter writer;
    ASSERT_EQ(scripted.api().get_ep_context_nodes(scripted.provider, scripted.made.data(), 2,
                                                  &writer, &scripted.error),
              EPH_OK);
    EXPECT_THAT(writer.payloads, SizeIs(payloads == "one" ? 1 : 2));
    ASSERT_THAT(writer.nodes, SizeIs(2));
    const std::string& payload = writer.payloads[writer.nodes[1].payload];
    eph_ep_context context = {};
    context.struct_size = sizeof(context);
    context.payload = {payload.data(), payload.size()};
    context.partition_name = EPH_STRING("second");
    eph_computation* restored = scripted.compile(nullptr, "anything", &context);
    ASSERT_EQ(scripted.code, EPH_OK) << scripted.error.message;
    test::FakeRun run({{{2}, {1, 2}}, {{2}, {3, 4}}});
    ASSERT_EQ(restored->api->compute(restored, nullptr, &run, &scripted.error), EPH_OK);
    EXPECT_THAT(run.result(), ElementsAre(13, 18));
  }
}

TEST(ScriptedPlugin, LeavesItsConstantsToTheHostIfToldTo) {
  const auto graph = make_graph();
  const auto part = graph->extract({3, 4, 5});
  Scripted scripted{{"weightless", "true"}};
  scripted.compile(part.get(), "part");
  test::FakeContextWriter writer;
  ASSERT_EQ(scripted.api().get_ep_context_nodes(scripted.provider, scripted.made.data(), 1, &writer,
                                                &scripted.error),
            EPH_OK);
  ASSERT_THAT(writer.nodes, SizeIs(1));
  EXPECT_THAT(writer.nodes[0].constants, ElementsAre("w"));
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  context.payload = {writer.payloads[0].data(), writer.payloads[0].size()};
  context.partition_name = EPH_STRING("part");
  EXPECT_EQ(scripted.compile(nullptr, "part", &context), nullptr);
  EXPECT_EQ(scripted.code, EPH_INVALID_GRAPH);
  test::FloatTensor constant({1}, {100});
  const eph_named_value named = {EPH_STRING("w"), &constant.value};
  context.constants = &named;
  context.constant_count = 1;
  eph_computation* restored = scripted.compile(nullptr, "part", &context);
  ASSERT_EQ(scripted.code, EPH_OK) << scripted.error.message;
  test::FakeRun run({{{2}, {1, 2}}, {{2}, {3, 4}}});
  ASSERT_EQ(restored->api->compute(restored, nullptr, &run, &scripted.error), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(103, 108));
  static_cast<float*>(constant.value.data)[0] = 7;
  EXPECT_EQ(restored->api->compute(restored, nullptr, &run, &scripted.error), EPH_EP_FAIL);
}

TEST(ScriptedPlugin, RefusesAPartitionWithTheTokenOfAnotherClaim) {
  const auto graph = make_graph();
  Scripted scripted;
  const test::FakeClaims claims = scripted.claims(*graph);
  ASSERT_THAT(claims.tokens, SizeIs(2));
  const auto part = graph->extract(claims.fused[0]);
  const auto compiled = [&](uint64_t token) {
    const eph_partition partition = {sizeof(partition), part.get(), EPH_STRING("p"), nullptr,
                                     token};
    eph_computation* computation = nullptr;
    const int32_t code = scripted.api().compile(scripted.provider, &partition, sizeof(partition), 1,
                                                &computation, &scripted.error);
    if (computation != nullptr) scripted.made.push_back(computation);
    return code;
  };
  EXPECT_EQ(compiled(claims.tokens[0]), EPH_OK);
  EXPECT_EQ(compiled(claims.tokens[1]), EPH_EP_FAIL);
  EXPECT_EQ(compiled(0), EPH_EP_FAIL);
}

TEST(ScriptedPlugin, RefusesDamagedPayloads) {
  const auto graph = make_graph();
  const auto part = graph->extract({3, 4, 5});
  Scripted scripted;
  scripted.compile(part.get(), "part");
  test::FakeContextWriter writer;
  scripted.api().get_ep_context_nodes(scripted.provider, scripted.made.data(), 1, &writer,
                                      &scripted.error);
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string payload = writer.payloads[0];
    payload[random() % payload.size()] = static_cast<char>(random() % 256);
    if (round % 2 == 0) payload.resize(random() % payload.size());
    eph_ep_context context = {};
    context.struct_size = sizeof(context);
    context.payload = {payload.data(), payload.size()};
    context.partition_name = EPH_STRING("part");
    eph_computation* restored = scripted.compile(nullptr, "part", &context);
    if (restored == nullptr) {
      EXPECT_EQ(scripted.code, EPH_INVALID_GRAPH);
      continue;
    }
    test::FakeRun run({{{2}, {1, 2}}, {{2}, {3, 4}}});
    static_cast<void>(restored->api->compute(restored, nullptr, &run, &scripted.error));
  }
}

TEST(ScriptedPlugin, FailsWhereItIsTold) {
  const auto graph = make_graph();
  Scripted create{{"fail", "create"}};
  EXPECT_EQ(create.error.message, "scripted failure at create");
  Scripted capability{{"fail", "capability"}};
  static_cast<void>(capability.claims(*graph));
  EXPECT_EQ(capability.error.message, "scripted failure at capability");
  const auto part = graph->extract({0, 1});
  Scripted compile{{"fail", "compile"}};
  EXPECT_EQ(compile.compile(part.get(), "part"), nullptr);
  EXPECT_EQ(compile.error.message, "scripted failure at compile");
  Scripted compute{{"fail", "compute"}};
  eph_computation* computation = compute.compile(part.get(), "part");
  test::FakeRun run({{{2}, {1, 2}}});
  EXPECT_EQ(computation->api->compute(computation, nullptr, &run, &compute.error), EPH_EP_FAIL);
}

TEST(ScriptedPlugin, EndsACancelledRun) {
  const auto graph = make_graph();
  const auto part = graph->extract({0, 1});
  Scripted scripted{{"compute_milliseconds", "60000"}};
  eph_computation* computation = scripted.compile(part.get(), "part");
  test::FakeRun run({{{2}, {1, 2}}});
  run.cancelled = true;
  EXPECT_EQ(computation->api->compute(computation, nullptr, &run, &scripted.error), EPH_CANCELLED);
  EXPECT_THAT(scripted.error.message, HasSubstr("cancelled"));
}

TEST(ScriptedPlugin, OffersTwoProviders) {
  Registry registry;
  const auto first = registry.load(find_scripted("ScriptedExecutionProvider"));
  const auto second = registry.load(find_scripted("ScriptedTwoExecutionProvider"));
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ((*first)->library, (*second)->library);
}

}  // namespace
}  // namespace ephost::plugin::scripted_plugin_test
