// What the provider claims of graphs with open extents, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl_version.h>

#include "tests/unit/plugins/dnnl/open_net.h"

namespace ephost::test::row_chains_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FakeClaims claims_of(FakeGraph& graph) {
  ProviderSession session(1);
  return session.claims(graph);
}

std::vector<std::vector<uint32_t>> fused(FakeGraph& graph) { return claims_of(graph).fused; }

TEST(RowChains, ClaimAPerceptronAndKeepItsConstants) {
  OpenNet net;
  uint32_t x = net.add("MatMul", {net.input({-1, 8}), net.weights({8, 16})});
  x = net.gelu(net.add("Add", {net.weights({16}), x}));
  net.output(
      net.add("Gemm", {x, net.weights({4, 16}), net.weights({4})}, {{"transB", int64_t{1}}}));
  const FakeClaims claims = claims_of(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)));
  EXPECT_THAT(claims.flags, ElementsAre(0U));
  EXPECT_THAT(claims.declined, IsEmpty());
}

TEST(RowChains, EndWhereAValueIsReadTwiceOrIsAnOutput) {
  OpenNet net;
  const uint32_t x = net.add("MatMul", {net.input({-1, -1, 8}), net.weights({8, 8})});
  const uint32_t swish = net.add("Mul", {x, net.add("Sigmoid", {x})});
  const uint32_t last = net.add("MatMul", {swish, net.weights({8, 8})});
  net.output(last);
  net.output(net.add("Relu", {last}));
  const FakeClaims claims = claims_of(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0), ElementsAre(3)));
  EXPECT_EQ(claims.declined.at(1), "dynamic shape of 'v2'");
}

TEST(RowChains, EndWhereTheLibraryCannotFuse) {
  OpenNet net;
  uint32_t x = net.add("MatMul", {net.input({-1, 8}), net.weights({8, 8})});
  x = net.add("Softmax", {net.add("Relu", {x})}, {{"axis", int64_t{1}}});
  net.output(net.add("Relu", {net.add("MatMul", {x, net.weights({8, 8})})}));
  EXPECT_THAT(fused(net.graph()), ElementsAre(ElementsAre(0, 1), ElementsAre(3, 4)));
}

TEST(RowChains, LeaveNodesOfOtherProvidersAlone) {
  OpenNet net;
  uint32_t x = net.add("MatMul", {net.input({-1, 8}), net.weights({8, 8})});
  x = net.add("Relu", {x});
  net.output(net.add("MatMul", {x, net.weights({8, 8})}));
  net.graph().mark_taken(0);
  EXPECT_THAT(fused(net.graph()), ElementsAre(ElementsAre(2)));
  net.graph().mark_taken(2);
  EXPECT_THAT(fused(net.graph()), IsEmpty());
}

TEST(RowChains, StandBesideStaticPartitions) {
  OpenNet net;
  net.output(net.add("MatMul", {net.input({-1, 8}), net.weights({8, 8})}));
  const uint32_t fixed = net.graph().add_input("fixed", {2, 8});
  const uint32_t w = net.graph().add_constant("w", {8, 8}, std::vector<float>(64, 1));
  net.graph().mark_output(net.graph().add("MatMul", {fixed, w}, {2, 8}));
  const FakeClaims claims = claims_of(net.graph());
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(claims.flags, ElementsAre(EPH_CLAIM_DROP_CONSTANTS, 0U));
}

// One product of these factors with that output; its attributes if it is a Gemm.
struct Product {
  Shape a, b, output;
  bool is_b_constant = true;
  const char* op_type = "MatMul";
  FakeAttributes attributes = {};
};

// Why it is declined, or "claimed".
std::string verdict(const Product& product) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", product.a);
  const uint32_t b = product.is_b_constant
                         ? graph.add_constant("b", product.b, std::vector<float>(count(product.b)))
                         : graph.add_input("b", product.b);
  graph.mark_output(graph.add(product.op_type, {a, b}, product.output, product.attributes));
  const FakeClaims claims = claims_of(graph);
  return claims.fused.empty() ? claims.declined.at(0) : "claimed";
}

TEST(RowChains, BeginWithProductsWhoseOpenExtentsAreRows) {
  EXPECT_EQ(verdict({{-1, 4}, {4, 5}, {-1, 5}}), "claimed");
  EXPECT_EQ(verdict({{-1, 3, -1, 4}, {4, 5}, {-1, 3, -1, 5}}), "claimed");
  EXPECT_EQ(verdict({{2, -1, 4}, {4, 5}, {2, -1, 5}}), "claimed");
}

TEST(RowChains, NeedAsManyRowsAsTheOptionSays) {
  OpenNet few, enough;
  few.output(few.add("MatMul", {few.input({-1, 9, 7, 4}), few.weights({4, 5})}));
  enough.output(enough.add("MatMul", {enough.input({8, -1, 8, 4}), enough.weights({4, 5})}));
  ProviderSession session(1, 64);
  EXPECT_THAT(session.claims(few.graph()).fused, IsEmpty());
  EXPECT_THAT(session.claims(enough.graph()).fused, ElementsAre(ElementsAre(0)));
}

TEST(RowChains, DoNotBeginWithOtherOpenExtents) {
  const std::string reason = "dynamic shape of 'a'";
  EXPECT_EQ(verdict({{-1}, {4, 5}, {5}}), reason);
  EXPECT_EQ(verdict({{2, -1}, {4, 5}, {2, 5}}), reason);                    // the last extent
  EXPECT_EQ(verdict({{-1, 4}, {-1, 5}, {-1, 5}, false}), reason);           // the depth
  EXPECT_EQ(verdict({{-1, 4}, {4, 5}, {-1, 5}, false}), reason);            // no constant
  EXPECT_EQ(verdict({{-1, 2, 4}, {-1, 4, 5}, {-1, 2, 5}, false}), reason);  // batches
  EXPECT_EQ(verdict({{-1, 2, 4}, {3, 4, 5}, {3, 2, 5}}), reason);           // a batch of constants
  EXPECT_EQ(verdict({{-1, 2, 4}, {1, 4, 5}, {-1, 2, 5}}), reason);
  EXPECT_EQ(verdict({{-1, 4}, {4}, {-1}}), reason);         // a vector
  EXPECT_EQ(verdict({{-1, 4}, {3, 5}, {-1, 5}}), reason);   // depths that differ
  EXPECT_EQ(verdict({{-1, 4}, {4, 5}, {-1, 6}}), reason);   // a wrong shape
  EXPECT_EQ(verdict({{-1, 4}, {4, 5}, {-1, -1}}), reason);  // an unknown one
  EXPECT_EQ(verdict({{4, -1}, {4, 5}, {-1, 5}, true, "Gemm", {{"transA", int64_t{1}}}}), reason);
  EXPECT_EQ(verdict({{-1, 4}, {4, 5}, {-1, 5}, true, "Gemm", {{"transA", int64_t{1}}}}), reason);
}

TEST(RowChains, DoNotBeginWithUnknownRanksOrOtherTypes) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {});
  graph.mark_unranked(a);
  const uint32_t b = graph.add_constant("b", {4, 4}, std::vector<float>(16));
  const uint32_t y = graph.add("MatMul", {a, b}, {});
  graph.mark_unranked(y);
  const uint32_t i = graph.add_input("i", {-1, 4}, EPH_ELEMENT_DOUBLE);
  const uint32_t z = graph.add_value("z", {-1, 4}, EPH_ELEMENT_DOUBLE);
  graph.add_node("MatMul", {i, b}, {z});
  const FakeClaims claims = claims_of(graph);
  EXPECT_THAT(claims.fused, IsEmpty());
  EXPECT_EQ(claims.declined.at(0), "dynamic shape of 'a'");
  EXPECT_EQ(claims.declined.at(1), "element type double of 'i'");
}

// What is claimed of a product with 5 columns whose result goes through one more node with a
// constant or an input of that shape.
std::size_t claimed_nodes(const char* op_type, const Shape& operand, bool is_constant,
                          const Shape& output, const FakeAttributes& attributes = {}) {
  FakeGraph graph;
  const uint32_t a = graph.add_input("a", {-1, 3, 4});
  const uint32_t b = graph.add_constant("b", {4, 5}, std::vector<float>(20, 0.5F));
  const uint32_t x = graph.add("MatMul", {a, b}, {-1, 3, 5});
  const auto with_data = [&] {
    std::vector<float> data(count(operand), 0.25F);
    data[0] = 2;
    return graph.add_constant("c", operand, data);
  };
  const uint32_t c = is_constant ? with_data() : graph.add_input("c", operand);
  graph.mark_output(graph.add(op_type, {x, c}, output, attributes));
  const std::vector<std::vector<uint32_t>> claimed = fused(graph);
  return claimed.size() == 1 ? claimed[0].size() : 0;
}

TEST(RowChains, ContinueOnlyWithWhatIsTheSameForEveryRow) {
  for (const Shape& one : {Shape{}, Shape{1}}) {
    EXPECT_EQ(claimed_nodes("Mul", one, true, {-1, 3, 5}), 2U) << one.size();
  }
  // Version 3 of the library multiplies by a row only in its slow primitive.
  const std::size_t with_row = DNNL_VERSION_MAJOR >= 3 ? 1 : 2;
  for (const Shape& row : {Shape{5}, Shape{1, 5}, Shape{1, 1, 5}}) {
    EXPECT_EQ(claimed_nodes("Mul", row, true, {-1, 3, 5}), with_row) << row.size();
  }
  EXPECT_EQ(claimed_nodes("Add", {3, 5}, true, {-1, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("Add", {3, 1}, true, {-1, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("Add", {2, 1, 5}, true, {2, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("Add", {1, 1, 1, 5}, true, {1, -1, 3, 5}), 1U);  // another rank
  EXPECT_EQ(claimed_nodes("Add", {5}, false, {-1, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("Add", {-1, 3, 5}, false, {-1, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("MatMul", {2, 5, 5}, true, {2, 3, 5}), 1U);
  EXPECT_EQ(claimed_nodes("MatMul", {5, 6}, true, {-1, 3, 6}), 2U);
}

TEST(RowChains, DoNotContinueWithMovedElements) {
  OpenNet net;
  const uint32_t x = net.add("MatMul", {net.input({-1, -1, 8}), net.weights({8, 8})});
  net.output(net.add("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}}));
  EXPECT_THAT(fused(net.graph()), ElementsAre(ElementsAre(0)));
}

TEST(RowChains, LeaveATensorThatIsCombinedWithItself) {
  OpenNet net;
  const uint32_t x = net.add("MatMul", {net.input({-1, 8}), net.weights({8, 8})});
  net.output(net.add("Mul", {x, x}));
  EXPECT_THAT(fused(net.graph()), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace ephost::test::row_chains_test
