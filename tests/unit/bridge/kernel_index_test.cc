#include "host/bridge/kernel_index.h"

#include <gtest/gtest.h>

#include <ephost/sdk/basics.hpp>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::kernel_index_test {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;

constexpr uint64_t kFloats = eph::type_bit(EPH_ELEMENT_FLOAT) | eph::type_bit(EPH_ELEMENT_DOUBLE);

// Op reads a and b of those types; its output has the type of a.
graph::Graph graph_of(ElementType a, ElementType b, int32_t since_version = 13) {
  GraphBuilder builder;
  builder.input("a", tensor_type(a)).input("b", tensor_type(b));
  builder.node("Op", {"a", "b"}, {"y"}).output("y");
  graph::Graph graph = builder.build();
  graph.nodes[0].since_version = since_version;
  graph.values[graph.outputs[0]].type = tensor_type(a);
  return graph;
}

class KernelIndexOf {
 public:
  explicit KernelIndexOf(std::vector<eph_type_rule> rules) : rules_(std::move(rules)) {
    kernels_.push_back({EPH_STRING("Op"), {}, 7, 13, rules_.data(), rules_.size()});
    index_ = KernelIndex(kernels_);
  }
  [[nodiscard]] bool fits(const graph::Graph& graph) const {
    return index_.fits(graph, graph.nodes[0]);
  }
  [[nodiscard]] std::string why_not(const graph::Graph& graph) const {
    return index_.why_not(graph, graph.nodes[0]);
  }

 private:
  std::vector<eph_type_rule> rules_;
  std::vector<eph_kernel_def> kernels_;
  KernelIndex index_;
};

constexpr auto kFloat = ElementType::kFloat;
constexpr auto kInt64 = ElementType::kInt64;

TEST(KernelIndex, MatchesTheVersionsInTheRange) {
  const KernelIndexOf index({});
  EXPECT_TRUE(index.fits(graph_of(kFloat, kFloat, 7)));
  EXPECT_TRUE(index.fits(graph_of(kFloat, kFloat, 13)));
  EXPECT_FALSE(index.fits(graph_of(kFloat, kFloat, 6)));
  EXPECT_FALSE(index.fits(graph_of(kFloat, kFloat, 14)));
}

TEST(KernelIndex, ObeysTheRuleOfAnInput) {
  const KernelIndexOf index({{1, 0, kFloats}});
  EXPECT_TRUE(index.fits(graph_of(kInt64, kFloat)));
  EXPECT_FALSE(index.fits(graph_of(kFloat, kInt64)));
}

TEST(KernelIndex, ObeysTheRuleOfAnOutput) {
  const KernelIndexOf index({{0, EPH_RULE_OUTPUT, kFloats}});
  EXPECT_TRUE(index.fits(graph_of(kFloat, kInt64)));
  EXPECT_FALSE(index.fits(graph_of(kInt64, kFloat)));
}

TEST(KernelIndex, AppliesAVariadicRuleToAllThatFollow) {
  const KernelIndexOf index({{0, EPH_RULE_VARIADIC, kFloats}});
  EXPECT_TRUE(index.fits(graph_of(kFloat, kFloat)));
  EXPECT_FALSE(index.fits(graph_of(kFloat, kInt64)));
}

TEST(KernelIndex, LetsATypePassThatIsNotKnown) {
  const KernelIndexOf index({{0, 0, kFloats}});
  EXPECT_TRUE(index.fits(graph_of(ElementType::kUndefined, kFloat)));
}

TEST(KernelIndex, SaysWhyNothingFits) {
  const KernelIndexOf index({{0, 0, kFloats}});
  EXPECT_EQ(index.why_not(graph_of(kFloat, kFloat, 14)),
            "no kernel for version 14 of the operator");
  EXPECT_EQ(index.why_not(graph_of(kInt64, kFloat)), "no kernel for the types (int64, float)");
  graph::Graph other = graph_of(kFloat, kFloat);
  other.nodes[0].op_type = "Else";
  EXPECT_EQ(index.why_not(other), "no kernel for the operator");
}

TEST(KernelIndex, KeepsDomainsApart) {
  const KernelIndexOf index({});
  graph::Graph other = graph_of(kFloat, kFloat);
  other.nodes[0].domain = "com.example";
  EXPECT_FALSE(index.fits(other));
}

graph::ValueType sequence_of(ElementType element) {
  return {.kind = graph::ValueKind::kSequence,
          .nested = std::make_shared<const graph::ValueType>(tensor_type(element))};
}

TEST(KernelIndex, FitsOtherKindsOnlyWhereARuleAllowsThem) {
  graph::Graph graph = graph_of(ElementType::kFloat, ElementType::kFloat);
  graph.values[graph.inputs[1]].type = sequence_of(ElementType::kFloat);
  const auto fits = [&](std::vector<eph_type_rule> rules) {
    return KernelIndexOf(std::move(rules)).fits(graph);
  };
  EXPECT_FALSE(fits({}));
  EXPECT_FALSE(fits({{1, 0, kFloats}}));
  EXPECT_FALSE(fits({{1, EPH_RULE_OPTIONAL, kFloats}}));
  EXPECT_TRUE(fits({{1, EPH_RULE_SEQUENCE, kFloats}}));
  EXPECT_TRUE(fits({{1, EPH_RULE_TENSOR | EPH_RULE_SEQUENCE, kFloats}}));
  EXPECT_FALSE(fits({{1, EPH_RULE_SEQUENCE, eph::type_bit(EPH_ELEMENT_INT64)}}));
  EXPECT_FALSE(fits({{0, EPH_RULE_SEQUENCE, kFloats}, {1, EPH_RULE_SEQUENCE, kFloats}}));
  // An output as well.
  graph.values[graph.outputs[0]].type = sequence_of(ElementType::kFloat);
  EXPECT_FALSE(fits({{1, EPH_RULE_SEQUENCE, kFloats}}));
  EXPECT_TRUE(
      fits({{1, EPH_RULE_SEQUENCE, kFloats}, {0, EPH_RULE_OUTPUT | EPH_RULE_SEQUENCE, kFloats}}));
  EXPECT_EQ(KernelIndexOf({}).why_not(graph), "no kernel for the types (float, sequence of float)");
}

}  // namespace
}  // namespace ephost::bridge::kernel_index_test
