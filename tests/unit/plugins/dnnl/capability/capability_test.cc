// What the provider claims and declines, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::capability_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

// Why the provider declines the last node of a net.
std::string reason_for_last(FakeGraph& graph) {
  ProviderSession session(1);
  const FakeClaims claims = session.claims(graph);
  const auto found = claims.declined.find(graph.node_count() - 1);
  return found == claims.declined.end() ? "claimed" : found->second;
}

std::string reason(const std::function<uint32_t(Net&)>& build) {
  Net net;
  net.output(build(net));
  return reason_for_last(net.graph());
}

TEST(DnnlCapability, ClaimsOnePartitionAndAllowsToDropItsConstants) {
  Net net;
  net.output(net.add("Relu", {net.batch_norm(net.conv(net.input({1, 3, 8, 8}), 4, 3))}));
  ProviderSession session(1);
  const FakeClaims claims = session.claims(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(claims.flags, ElementsAre(EPH_CLAIM_DROP_CONSTANTS));
  EXPECT_TRUE(claims.declined.empty());
}

TEST(DnnlCapability, SplitsAroundNodesThatItCannotTake) {
  Net net;
  const uint32_t first = net.conv(net.input({1, 3, 8, 8}), 4, 1);
  const uint32_t odd = net.add("Erf", {first});
  net.output(net.conv(net.add("Add", {odd, first}), 4, 1));
  ProviderSession session(1);
  const FakeClaims claims = session.claims(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0), ElementsAre(2, 3)));
  EXPECT_THAT(claims.declined.at(1), HasSubstr("operator Erf is not supported"));
}

TEST(DnnlCapability, LeavesNodesOfOtherProvidersAlone) {
  Net net;
  const uint32_t first = net.conv(net.input({1, 3, 8, 8}), 4, 1);
  const uint32_t second = net.add("Relu", {first});
  net.output(net.conv(second, 4, 1));
  net.graph().mark_taken(1);
  ProviderSession session(1);
  const FakeClaims claims = session.claims(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_TRUE(claims.declined.empty());
}

// The host does not compute what depends on quantised constants before it has asked the providers.
TEST(DnnlCapability, ClaimsQuantisedWeightsWithTheirReaders) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {2, 2});
  const uint32_t w = graph.add_int8("w", {2, 3}, {1, -2, 3, -4, 5, -6});
  const uint32_t scales = graph.add_constant("s", {3}, {0.5F, 1, 2});
  const uint32_t weights =
      graph.add("DequantizeLinear", {w, scales}, {2, 3}, {{"axis", int64_t{1}}});
  graph.mark_output(graph.add("MatMul", {x, weights}, {2, 3}));
  ProviderSession session(1);
  EXPECT_THAT(session.claims(graph).fused, ElementsAre(ElementsAre(0, 1)));
}

TEST(DnnlCapability, LeavesQuantisedConstantsOfOtherReadersAlone) {
  FakeGraph graph;
  const uint32_t w = graph.add_int8("w", {2}, {1, -2});
  const uint32_t scale = graph.add_constant("s", {}, {0.5F});
  graph.mark_output(graph.add("DequantizeLinear", {w, scale}, {2}));
  EXPECT_EQ(reason_for_last(graph), "no convolution, matrix product or pooling to fuse with");
}

TEST(DnnlCapability, LeavesCheapOperatorsToOthers) {
  EXPECT_EQ(reason([](Net& net) { return net.add("Relu", {net.input({4})}); }),
            "no convolution, matrix product or pooling to fuse with");
}

TEST(DnnlCapability, DeclinesOtherTypesShapesAndConstants) {
  FakeGraph integers;
  const uint32_t x = integers.add_input("x", {2, 2}, EPH_ELEMENT_INT64);
  const uint32_t y = integers.add_value("y", {2, 2}, EPH_ELEMENT_INT64);
  integers.add_node("MatMul", {x, x}, {y});
  EXPECT_EQ(reason_for_last(integers), "element type int64 of 'x'");

  FakeGraph dynamic;
  const uint32_t a = dynamic.add_input("a", {-1, 2});
  dynamic.add("Relu", {a}, {-1, 2});
  EXPECT_EQ(reason_for_last(dynamic), "dynamic shape of 'a'");

  FakeGraph empty;
  const uint32_t e = empty.add_input("e", {0, 2});
  empty.add("Relu", {e}, {0, 2});
  EXPECT_THAT(reason_for_last(empty), HasSubstr("empty or too large"));

  EXPECT_EQ(reason([](Net& net) { return net.add("Relu", {net.weights({4})}); }),
            "all inputs are constant");
}

TEST(DnnlCapability, DeclinesAShapeThatTheOperatorDoesNotGive) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {2, 3});
  graph.add("Relu", {x}, {3, 2});
  EXPECT_EQ(reason_for_last(graph), "the model declares shape [3, 2], the operator gives [2, 3]");
}

TEST(DnnlCapability, DeclinesVersionsThatItDoesNotKnow) {
  EXPECT_EQ(reason([](Net& net) { return net.add("Relu", {net.input({4})}, {}, 99); }),
            "version 99 of Relu is not supported");
  EXPECT_EQ(reason([](Net& net) {
              return net.add("Add", {net.input({4}), net.input({4})}, {}, 1);
            }),
            "version 1 of Add is not supported");
}

TEST(DnnlCapability, DeclinesWindowsThatTheLibraryWouldTakeDifferently) {
  const FakeAttributes padded = {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}};
  EXPECT_THAT(reason([&](Net& net) {
                return net.add("MaxPool", {net.input({1, 1, 6, 6})}, padded);
              }),
              HasSubstr("a window may lie in the padding"));
  const FakeAttributes both = {{"kernel_shape", Ints{3, 3}},
                               {"strides", Ints{2, 2}},
                               {"ceil_mode", int64_t{1}},
                               {"count_include_pad", int64_t{1}}};
  EXPECT_EQ(reason([&](Net& net) {
              return net.add("AveragePool", {net.input({1, 1, 6, 6})}, both);
            }),
            "ceil_mode with count_include_pad");
}

TEST(DnnlCapability, DeclinesOperandsThatMustBeConstant) {
  EXPECT_EQ(reason([](Net& net) {
              return net.add("Pow", {net.input({4}, 1, 2), net.input({}, 1, 2)});
            }),
            "input 'in1' is not a constant");
  EXPECT_EQ(reason([](Net& net) {
              return net.add("Clip", {net.input({4}), net.scalar(1), net.scalar(-1)});
            }),
            "the lower bound is above the upper one");
}

TEST(DnnlCapability, DeclinesSecondOutputsThatAreRead) {
  FakeGraph graph;
  const uint32_t x = graph.add_input("x", {1, 1, 4, 4});
  const uint32_t y = graph.add_value("y", {1, 1, 3, 3});
  const uint32_t indices = graph.add_value("indices", {1, 1, 3, 3}, EPH_ELEMENT_INT64);
  graph.add_node("MaxPool", {x}, {y, indices}, {{"kernel_shape", Ints{2, 2}}}, 12);
  graph.mark_output(indices);
  EXPECT_EQ(reason_for_last(graph), "output 'indices' is read");
}

TEST(DnnlCapability, DeclinesAttributesOfTheWrongKindAndSize) {
  EXPECT_THAT(reason([](Net& net) {
                FakeGraph& graph = net.graph();
                const uint32_t x = net.input({1, 1, 4, 4});
                return graph.add("LeakyRelu", {x}, {1, 1, 4, 4}, {{"alpha", int64_t{3}}}, 16);
              }),
              HasSubstr("attribute 'alpha' has kind"));
  EXPECT_THAT(reason([](Net& net) {
                FakeGraph& graph = net.graph();
                const uint32_t x = net.input({1, 1, 4, 4});
                const FakeAttributes huge = {
                    {"kernel_shape", Ints{2, 2}},
                    {"dilations", Ints{std::numeric_limits<int64_t>::max(), 1}}};
                return graph.add("MaxPool", {x}, {1, 1, 4, 4}, huge, 12);
              }),
              HasSubstr("dilations [9223372036854775807, 1]"));
}

TEST(DnnlCapability, ClaimsATransformerLayerAsOnePartition) {
  Net net;
  const Ints split = {1, 6, 2, 4};
  const uint32_t x = net.input({1, 6, 8});
  const auto head = [&](const Ints& order) {
    const uint32_t parts = net.add("Reshape", {net.linear(x, 8), net.ints(split)});
    return net.add("Transpose", {parts}, {{"perm", order}});
  };
  const uint32_t scores =
      net.add("Div", {net.add("MatMul", {head({0, 2, 1, 3}), head({0, 2, 3, 1})}), net.scalar(2)});
  const uint32_t mask = net.input({1, 1, 1, 6}, -10, 0);
  const uint32_t weights =
      net.add("Softmax", {net.add("Add", {scores, mask})}, {{"axis", int64_t{-1}}});
  const uint32_t context = net.add("Transpose", {net.add("MatMul", {weights, head({0, 2, 1, 3})})},
                                   {{"perm", Ints{0, 2, 1, 3}}});
  const uint32_t merged = net.add("Reshape", {context, net.ints({1, 6, 8})});
  const uint32_t attended = net.layer_norm(net.add("Add", {net.linear(merged, 8), x}));
  const uint32_t inner = net.gelu(net.linear(attended, 16));
  net.output(net.layer_norm(net.add("Add", {net.linear(inner, 8), attended})));
  expect_one_partition(net);
}

TEST(DnnlCapability, ListsTheProcessorWithItsInstructionSet) {
  ProviderSession session(1);
  FakeDeviceList list;
  FakeHost host;
  FakeError error;
  ASSERT_EQ(session.api->get_devices(session.api, &host, &list, &error), EPH_OK);
  ASSERT_EQ(list.architectures.size(), 1U);
  EXPECT_FALSE(list.architectures[0].empty());
}

TEST(DnnlProvider, RefusesAnImpossibleNumberOfThreads) {
  FakeHost host;
  FakeError error;
  eph_option option = {};
  option.name = EPH_STRING("num_threads");
  option.int_value = -1;
  const eph_provider_config config = {sizeof(config), &option, 1};
  eph_provider* provider = nullptr;
  const eph_provider_api* api = get_api(eph_plugin_v1())->providers[0];
  EXPECT_EQ(api->create(api, &host, &config, &provider, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(provider, nullptr);
  EXPECT_THAT(error.message, HasSubstr("num_threads is -1"));
}

}  // namespace
}  // namespace ephost::test::capability_test
