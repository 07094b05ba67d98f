// The SDK's example, linked into the test and run through its tables without a host.
#include <ephost/plugin_abi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ephost/sdk/basics.hpp>
#include <limits>
#include <random>

#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"

namespace {

using ephost::test::FakeClaims;
using ephost::test::FakeContextWriter;
using ephost::test::FakeDeviceList;
using ephost::test::FakeError;
using ephost::test::FakeGraph;
using ephost::test::FakeHost;
using ephost::test::FakeRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const eph_provider_api& api() { return *ephost::test::get_api(eph_plugin_v1())->providers[0]; }

class MinimalProvider : public ::testing::Test {
 protected:
  void SetUp() override { create(2); }
  void TearDown() override {
    for (eph_computation* computation : made_) computation->api->destroy(computation);
    api().destroy(provider_);
  }

  void create(int64_t min_chain) {
    api().destroy(provider_);
    eph_option option = {};
    option.name = EPH_STRING("min_chain");
    option.kind = EPH_OPTION_INT;
    option.int_value = min_chain;
    const eph_provider_config config = {sizeof(config), &option, 1};
    ASSERT_EQ(api().create(&api(), &host_, &config, &provider_, &error_), EPH_OK);
  }

  FakeClaims claims_on(const FakeGraph& graph, const std::vector<uint32_t>& with_kernel = {}) {
    FakeClaims claims(with_kernel);
    EXPECT_EQ(api().get_capability(provider_, &graph, &claims, &error_), EPH_OK);
    return claims;
  }

  eph_computation* keep(eph_computation* computation) {
    if (computation != nullptr) made_.push_back(computation);
    return computation;
  }
  eph_computation* compile(const FakeGraph& graph) {
    const eph_partition partition = {sizeof(partition), &graph, EPH_STRING("chain"), nullptr};
    eph_computation* computation = nullptr;
    code_ = api().compile(provider_, &partition, sizeof(partition), 1, &computation, &error_);
    return keep(computation);
  }
  eph_computation* restore(std::string_view payload, std::string_view notes) {
    eph_ep_context context = {};
    context.struct_size = sizeof(context);
    context.payload = {payload.data(), payload.size()};
    context.notes = eph::to_abi(notes);
    const eph_partition partition = {sizeof(partition), nullptr, EPH_STRING("chain"), &context};
    eph_computation* computation = nullptr;
    code_ = api().compile(provider_, &partition, sizeof(partition), 1, &computation, &error_);
    return keep(computation);
  }
  std::string payload_of(const std::vector<eph_computation*>& computations) {
    FakeContextWriter writer;
    EXPECT_EQ(api().get_ep_context_nodes(provider_, computations.data(), computations.size(),
                                         &writer, &error_),
              EPH_OK);
    EXPECT_THAT(writer.payloads, SizeIs(1));
    EXPECT_THAT(writer.nodes, SizeIs(computations.size()));
    for (uint32_t i = 0; i < writer.nodes.size(); ++i) {
      EXPECT_EQ(writer.nodes[i].computation, i);
      EXPECT_EQ(writer.nodes[i].source, "MinimalExecutionProvider");
      EXPECT_EQ(writer.nodes[i].notes, std::to_string(i));
    }
    return writer.payloads.empty() ? std::string() : writer.payloads[0];
  }

  FakeHost host_;
  FakeError error_;
  eph_provider* provider_ = nullptr;
  int32_t code_ = EPH_OK;
  std::vector<eph_computation*> made_;
};

// y = p + p with p = (a + b) * c.
struct ChainGraph {
  FakeGraph graph;
  explicit ChainGraph(std::vector<int64_t> shape = {2, 2}) {
    const uint32_t a = graph.add_input("a", shape);
    const uint32_t b = graph.add_input("b", shape);
    const uint32_t c = graph.add_input("c", shape);
    const uint32_t sum = graph.add("Add", {a, b}, shape);
    const uint32_t product = graph.add("Mul", {c, sum}, shape);
    graph.mark_output(graph.add("Add", {product, product}, shape));
  }
};

TEST_F(MinimalProvider, NamesItselfAsItsManifestDoes) {
  EXPECT_EQ(eph::view(api().type_name), "MinimalExecutionProvider");
  EXPECT_EQ(eph::view(api().name), "minimal");
  EXPECT_EQ(eph::view(api().vendor), "ephost examples");
  EXPECT_EQ(eph::view(eph_plugin_v1()->version), "1.0.0");
  EXPECT_EQ(ephost::test::get_api(eph_plugin_v1(), 1), nullptr);
}

TEST_F(MinimalProvider, ListsADevice) {
  FakeDeviceList devices;
  ASSERT_EQ(api().get_devices(&api(), &host_, &devices, &error_), EPH_OK);
  EXPECT_THAT(devices.names, ElementsAre("any processor"));
}

TEST_F(MinimalProvider, ClaimsKernelsAndChains) {
  ChainGraph chain;
  const uint32_t y = chain.graph.outputs()[0];
  chain.graph.mark_output(chain.graph.add("Relu", {y}, {2, 2}));
  const FakeClaims claims = claims_on(chain.graph, {3});
  EXPECT_THAT(claims.nodes, ElementsAre(3));
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0, 1, 2)));
}

TEST_F(MinimalProvider, EndsAChainWhereItsResultIsReadTwice) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {4});
  const uint32_t first = graph.add("Add", {a, a}, {4});
  const uint32_t second = graph.add("Mul", {first, a}, {4});
  graph.mark_output(graph.add("Add", {first, second}, {4}));
  EXPECT_THAT(claims_on(graph).fused, ElementsAre(ElementsAre(1, 2)));
}

TEST_F(MinimalProvider, EndsAChainAtAGraphOutput) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {4});
  const uint32_t first = graph.add("Add", {a, a}, {4});
  graph.mark_output(first);
  graph.mark_output(graph.add("Mul", {first, a}, {4}));
  EXPECT_THAT(claims_on(graph).fused, IsEmpty());
}

TEST_F(MinimalProvider, GivesAReasonForAChainThatIsTooShort) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {4});
  graph.mark_output(graph.add("Add", {a, a}, {4}));
  FakeClaims claims = claims_on(graph);
  EXPECT_THAT(claims.fused, IsEmpty());
  EXPECT_THAT(claims.declined[0], HasSubstr("min_chain"));
  create(1);
  EXPECT_THAT(claims_on(graph).fused, ElementsAre(ElementsAre(0)));
}

TEST_F(MinimalProvider, LeavesAloneWhatItCannotCompute) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {4, 4});
  const uint32_t row = graph.add_input("row", {4});
  const uint32_t open = graph.add_input("open", {-1, 4});
  const uint32_t integers = graph.add_input("integers", {4, 4}, EPH_ELEMENT_INT64);
  const uint32_t unknown = graph.add_input("unknown", {});
  graph.mark_unranked(unknown);
  const uint32_t constant = graph.add_constant("constant", {1}, {1});
  create(1);
  graph.add("Add", {a, row}, {4, 4});
  graph.add("Add", {open, open}, {-1, 4});
  graph.add("Add", {integers, integers}, {4, 4});
  graph.add("Add", {unknown, unknown}, {});
  graph.add("Add", {constant, constant}, {1});
  graph.add("Sub", {a, a}, {4, 4});
  graph.add("Add", {a, a}, {4, 4}, {}, 99);
  graph.add("Add", {a, a}, {4, 4});
  graph.mark_taken(graph.node_count() - 1);
  EXPECT_THAT(claims_on(graph).fused, IsEmpty());
}

TEST_F(MinimalProvider, CutsAVeryLongChain) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {1});
  uint32_t last = a;
  for (int i = 0; i < 100; ++i) last = graph.add("Add", {last, a}, {1});
  graph.mark_output(last);
  const FakeClaims claims = claims_on(graph);
  ASSERT_THAT(claims.fused, SizeIs(2));
  EXPECT_THAT(claims.fused[0], SizeIs(63));
  EXPECT_THAT(claims.fused[1], SizeIs(37));
  const auto part = graph.extract(claims.fused[0]);
  eph_computation* computation = compile(*part);
  ASSERT_EQ(code_, EPH_OK) << error_.message;
  FakeRun run({{{1}, {1}}});
  ASSERT_EQ(computation->api->compute(computation, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(64));
}

TEST_F(MinimalProvider, RunsItsKernel) {
  FakeGraph graph;
  graph.mark_output(graph.add("Relu", {graph.add_input("x", {4})}, {4}));
  eph_computation* kernel = nullptr;
  ASSERT_EQ(api().create_kernel(provider_, &graph, 0, &kernel, &error_), EPH_OK);
  keep(kernel);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  FakeRun run({{{4}, {-1, 0, 2, nan}}});
  ASSERT_EQ(kernel->api->compute(kernel, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result_shape(), ElementsAre(4));
  EXPECT_EQ(run.result()[0], 0);
  EXPECT_EQ(run.result()[2], 2);
  EXPECT_TRUE(std::isnan(run.result()[3]));
  eph_computation_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(kernel->api->describe(kernel, &info, &error_), EPH_OK);
  EXPECT_EQ(info.may_inplace_count, 1U);
}

TEST_F(MinimalProvider, DescribesNoMoreThanTheHostKnows) {
  FakeGraph graph;
  graph.mark_output(graph.add("Relu", {graph.add_input("x", {4})}, {4}));
  eph_computation* kernel = nullptr;
  ASSERT_EQ(api().create_kernel(provider_, &graph, 0, &kernel, &error_), EPH_OK);
  keep(kernel);
  eph_computation_info older = {};
  older.struct_size = offsetof(eph_computation_info, may_inplace_count);
  older.may_inplace_count = 77;
  ASSERT_EQ(kernel->api->describe(kernel, &older, &error_), EPH_OK);
  EXPECT_EQ(older.struct_size, offsetof(eph_computation_info, may_inplace_count));
  EXPECT_NE(older.may_inplace, nullptr);
  EXPECT_EQ(older.may_inplace_count, 77U);
  struct {
    eph_computation_info known = {};
    uint64_t added = 77;
  } newer;
  newer.known.struct_size = sizeof(newer);
  ASSERT_EQ(kernel->api->describe(kernel, &newer.known, &error_), EPH_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(eph_computation_info));
  EXPECT_EQ(newer.added, 77U);
}

TEST_F(MinimalProvider, DescribesItselfAsFarAsTheHostKnows) {
  eph_provider_info older = {};
  older.struct_size = offsetof(eph_provider_info, max_concurrent);
  older.max_concurrent = 77;
  ASSERT_EQ(api().describe(provider_, &older, &error_), EPH_OK);
  EXPECT_EQ(older.struct_size, offsetof(eph_provider_info, max_concurrent));
  EXPECT_EQ(older.max_concurrent, 77U);
  struct {
    eph_provider_info known = {};
    uint64_t added = 77;
  } newer;
  newer.known.struct_size = sizeof(newer);
  ASSERT_EQ(api().describe(provider_, &newer.known, &error_), EPH_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(eph_provider_info));
  EXPECT_EQ(newer.added, 77U);
}

TEST_F(MinimalProvider, LetsAnyNumberOfComputationsRunAtOnce) {
  eph_provider_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(api().describe(provider_, &info, &error_), EPH_OK);
  EXPECT_EQ(info.max_concurrent, UINT32_MAX);
}

TEST_F(MinimalProvider, ListsKernelsForFloatsOnly) {
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  ASSERT_EQ(api().get_kernels(provider_, &kernels, &count, &error_), EPH_OK);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(eph::view(kernels[0].op_type), "Relu");
  ASSERT_EQ(kernels[0].rule_count, 2U);
  EXPECT_EQ(kernels[0].rules[0].element_types, uint64_t{1} << EPH_ELEMENT_FLOAT);
}

TEST_F(MinimalProvider, ComputesAChain) {
  const ChainGraph chain;
  eph_computation* computation = compile(chain.graph);
  ASSERT_EQ(code_, EPH_OK) << error_.message;
  FakeRun run({{{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {10, 20, 30, 40}}, {{2, 2}, {1, 2, 3, -1}}});
  ASSERT_EQ(computation->api->compute(computation, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(22, 88, 198, -88));
  EXPECT_THAT(run.result_shape(), ElementsAre(2, 2));
}

TEST_F(MinimalProvider, WritesIntoPreparedMemory) {
  const ChainGraph chain;
  eph_computation* computation = compile(chain.graph);
  FakeRun run({{{2, 2}, {1, 1, 1, 1}}, {{2, 2}, {1, 1, 1, 1}}, {{2, 2}, {1, 1, 1, 1}}});
  run.prepare({2, 2});
  ASSERT_EQ(computation->api->compute(computation, nullptr, &run, &error_), EPH_OK);
  EXPECT_EQ(run.allocations, 0);
  EXPECT_THAT(run.result(), ElementsAre(4, 4, 4, 4));
}

TEST_F(MinimalProvider, RefusesInputsOfAnotherSize) {
  const ChainGraph chain;
  eph_computation* computation = compile(chain.graph);
  FakeRun small({{{2}, {1, 1}}, {{2, 2}, {1, 1, 1, 1}}, {{2, 2}, {1, 1, 1, 1}}});
  EXPECT_EQ(computation->api->compute(computation, nullptr, &small, &error_), EPH_INVALID_ARGUMENT);
  FakeRun few({{{2, 2}, {1, 1, 1, 1}}});
  EXPECT_EQ(computation->api->compute(computation, nullptr, &few, &error_), EPH_INVALID_ARGUMENT);
}

TEST_F(MinimalProvider, DoesNotCompileWhatIsNoChain) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {4});
  const uint32_t left = graph.add("Add", {a, a}, {4});
  graph.add("Mul", {a, a}, {4});
  graph.mark_output(left);
  EXPECT_EQ(compile(graph), nullptr);
  EXPECT_EQ(code_, EPH_EP_FAIL);
  FakeGraph empty;
  EXPECT_EQ(compile(empty), nullptr);
  EXPECT_EQ(code_, EPH_EP_FAIL);
}

TEST_F(MinimalProvider, HandlesScalarsAndEmptyTensors) {
  const ChainGraph scalar(std::vector<int64_t>{});
  eph_computation* one = compile(scalar.graph);
  ASSERT_EQ(code_, EPH_OK) << error_.message;
  FakeRun run({{{}, {1}}, {{}, {2}}, {{}, {3}}});
  ASSERT_EQ(one->api->compute(one, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(18));
  const ChainGraph empty({0, 3});
  eph_computation* none = compile(empty.graph);
  ASSERT_EQ(code_, EPH_OK) << error_.message;
  FakeRun nothing({{{0, 3}, {}}, {{0, 3}, {}}, {{0, 3}, {}}});
  ASSERT_EQ(none->api->compute(none, nullptr, &nothing, &error_), EPH_OK);
  EXPECT_THAT(nothing.result(), IsEmpty());
}

TEST_F(MinimalProvider, RestoresChainsFromOnePayload) {
  const ChainGraph first({2});
  FakeGraph second;
  const uint32_t a = second.add_input("a", {3});
  second.mark_output(second.add("Mul", {a, a}, {3}));
  const std::string payload = payload_of({compile(first.graph), compile(second)});
  EXPECT_EQ(payload, payload_of({made_[0], made_[1]}));
  eph_computation* restored = restore(payload, "1");
  ASSERT_EQ(code_, EPH_OK) << error_.message;
  FakeRun run({{{3}, {1, 2, 3}}});
  ASSERT_EQ(restored->api->compute(restored, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(1, 4, 9));
}

// As its manifest promises (`deterministic`): also from computations that were made again.
TEST_F(MinimalProvider, WritesTheSameBytesAgain) {
  const ChainGraph first({2});
  const ChainGraph second({3});
  const std::string payload = payload_of({compile(first.graph), compile(second.graph)});
  EXPECT_EQ(payload, payload_of({made_[0], made_[1]}));
  EXPECT_EQ(payload, payload_of({compile(first.graph), compile(second.graph)}));
}

TEST_F(MinimalProvider, WritesNoPayloadForNothing) {
  FakeContextWriter writer;
  ASSERT_EQ(api().get_ep_context_nodes(provider_, nullptr, 0, &writer, &error_), EPH_OK);
  EXPECT_THAT(writer.payloads, IsEmpty());
}

TEST_F(MinimalProvider, RefusesNotesThatNameNoRecipe) {
  const ChainGraph chain;
  const std::string payload = payload_of({compile(chain.graph)});
  for (const std::string_view notes :
       {"", "1", "x", "-1", "00000000000000000000001", "18446744073709551616"}) {
    EXPECT_EQ(restore(payload, notes), nullptr) << notes;
    EXPECT_EQ(code_, EPH_INVALID_GRAPH) << notes;
  }
}

TEST_F(MinimalProvider, RefusesEveryTruncation) {
  const ChainGraph chain;
  const std::string payload = payload_of({compile(chain.graph)});
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_EQ(restore(std::string_view(payload).substr(0, size), "0"), nullptr) << size;
    EXPECT_EQ(code_, EPH_INVALID_GRAPH) << size;
  }
}

TEST_F(MinimalProvider, SurvivesDamagedPayloads) {
  const ChainGraph chain;
  const std::string payload = payload_of({compile(chain.graph)});
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = payload;
    damaged[random() % 160] = static_cast<char>(random() % 256);
    eph_computation* computation = restore(damaged, "0");
    if (computation == nullptr) {
      EXPECT_EQ(code_, EPH_INVALID_GRAPH);
      continue;
    }
    // Whatever the recipe says, it reads no memory other than the inputs.
    FakeRun run({{{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {1, 2, 3, 4}}});
    run.prepare({2, 2});
    static_cast<void>(computation->api->compute(computation, nullptr, &run, &error_));
  }
}

TEST_F(MinimalProvider, JudgesCompatibilityByItsText) {
  eph_string own = {};
  ASSERT_EQ(api().get_compatibility(provider_, &own, &error_), EPH_OK);
  const std::string text(eph::view(own));
  const std::string format = text.substr(0, text.find(' '));
  const std::pair<std::string, int32_t> cases[] = {
      {text, EPH_COMPATIBILITY_OPTIMAL},
      {format + " 0.9.0", EPH_COMPATIBILITY_PREFER_RECOMPILATION},
      {format, EPH_COMPATIBILITY_UNSUPPORTED},
      {"minimal-2-little-endian 1.0.0", EPH_COMPATIBILITY_UNSUPPORTED},
      {"acme 1.0.0", EPH_COMPATIBILITY_NOT_APPLICABLE},
      {"", EPH_COMPATIBILITY_NOT_APPLICABLE}};
  const eph_device device = {sizeof(device), EPH_STRING("cpu")};
  for (const auto& [stored, expected] : cases) {
    int32_t level = -1;
    ASSERT_EQ(api().validate(&api(), &host_, &device, eph::to_abi(stored), &level, &error_),
              EPH_OK);
    EXPECT_EQ(level, expected) << stored;
  }
}

TEST_F(MinimalProvider, DestroysNull) {
  api().destroy(nullptr);
  const ChainGraph chain;
  eph_computation* computation = compile(chain.graph);
  computation->api->destroy(nullptr);
}

}  // namespace
