// What makes a claim impossible, and other ways to write a model down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/conformance/claims/asked.h"
#include "host/conformance/claims/variants.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance::claims_test {
namespace {

using ::testing::HasSubstr;

// a -> b -> c, and a -> c.
graph::Graph triangle() {
  graph::Graph graph;
  graph.values.resize(4);
  graph.nodes.resize(3);
  for (graph::NodeId n = 0; n < 3; ++n) {
    graph.nodes[n].op_type = "Add";
    graph.nodes[n].outputs = {n + 1};
    graph.values[n + 1].producer = n;
  }
  graph.nodes[0].inputs = {0, 0};
  graph.nodes[1].inputs = {1, 1};
  graph.nodes[2].inputs = {1, 2};
  return graph;
}

partition::Claim fused(std::vector<graph::NodeId> nodes) {
  return {.nodes = std::move(nodes), .fused = true};
}

TEST(DefectOfAClaim, IsNoneWhereItsNodesCanBeCompiledAsOne) {
  const graph::Graph graph = triangle();
  EXPECT_EQ(defect_of(graph, fused({0})), "");
  EXPECT_EQ(defect_of(graph, fused({0, 1})), "");
  EXPECT_EQ(defect_of(graph, fused({2, 1})), "");
  EXPECT_EQ(defect_of(graph, fused({0, 1, 2})), "");
}

TEST(DefectOfAClaim, IsNamed) {
  const graph::Graph graph = triangle();
  EXPECT_THAT(defect_of(graph, fused({})), HasSubstr("no node"));
  EXPECT_THAT(defect_of(graph, fused({0, 3})), HasSubstr("node 3 of 3"));
  EXPECT_THAT(defect_of(graph, fused({1, 1})), HasSubstr("twice"));
  EXPECT_THAT(defect_of(graph, fused({0, 2})), HasSubstr("comes back"));
}

std::vector<std::string> operators_of(const onnx::ModelProto& model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : model.graph().node()) names.push_back(node.op_type());
  return names;
}

TEST(Variants, HaveTheSameNodesUnderOtherNames) {
  const onnx::ModelProto given = wide_model(WideKind::kBinary, {});
  onnx::ModelProto model = given;
  Dice dice("names");
  const Names names = rename(model, dice);
  EXPECT_EQ(operators_of(model), operators_of(given));
  for (int n = 0; n < model.graph().node_size(); ++n) {
    const std::string& output = model.graph().node(n).output(0);
    EXPECT_NE(output, given.graph().node(n).output(0));
    EXPECT_EQ(names.at(output), given.graph().node(n).output(0));
    EXPECT_NE(model.graph().node(n).name(), given.graph().node(n).name());
  }
  EXPECT_EQ(names.at(model.graph().input(0).name()), given.graph().input(0).name());
}

TEST(Variants, LeaveBodiesAlone) {
  onnx::ModelProto model;
  EXPECT_TRUE(can_be_varied(model));
  model.mutable_graph()->add_node()->add_attribute()->mutable_g();
  EXPECT_FALSE(can_be_varied(model));
}

}  // namespace
}  // namespace ephost::conformance::claims_test
