#include "host/onnx_io/import/version_wrappers.h"

#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/model_functions.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::version_wrappers_test {
namespace {

using graph::Graph;
using graph::Model;
using graph::Node;
using graph::testing::GraphBuilder;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Changes all nodes of the graph to another opset.
Model of_other_opset(Graph graph, int32_t version = 11) {
  for (Node& node : graph.nodes) {
    node.is_of_other_opset = true;
    node.since_version = version;
  }
  return {.graph = std::move(graph), .ir_version = 8, .opset_imports = {{"", 17}}};
}

std::vector<std::string> names(const VersionWrappers& wrappers) {
  std::vector<std::string> names;
  for (const VersionWrapper& wrapper : wrappers.all()) names.push_back(wrapper.name);
  return names;
}

TEST(VersionWrappers, StandForNodesOfOtherOpsetsOnly) {
  Model model = of_other_opset(GraphBuilder()
                                   .input("x")
                                   .node("Softmax", {"x"}, {"a"})
                                   .node("Softmax", {"a"}, {"b"})
                                   .build());
  model.graph.nodes[1].is_of_other_opset = false;
  const VersionWrappers wrappers(model);
  EXPECT_THAT(names(wrappers), ElementsAre("Softmax_11_0"));
  EXPECT_EQ(wrappers.all()[0].node, &model.graph.nodes[0]);
  EXPECT_EQ(*wrappers.find(model.graph.nodes[0]), "Softmax_11_0");
  EXPECT_EQ(wrappers.find(model.graph.nodes[1]), nullptr);
}

TEST(VersionWrappers, NodesThatDifferInValuesShareOne) {
  const Model model = of_other_opset(GraphBuilder()
                                         .input("x")
                                         .node("Softmax", {"x"}, {"a"})
                                         .attribute("axis", int64_t{0})
                                         .node("Softmax", {"a"}, {"b"})
                                         .attribute("axis", int64_t{1})
                                         .build());
  const VersionWrappers wrappers(model);
  EXPECT_EQ(wrappers.all().size(), 1U);
  EXPECT_EQ(wrappers.find(model.graph.nodes[0]), wrappers.find(model.graph.nodes[1]));
}

TEST(VersionWrappers, NodesThatDifferInKindHaveTheirOwn) {
  Model model = of_other_opset(GraphBuilder()
                                   .input("x")
                                   .node("Softmax", {"x"}, {"a"})
                                   .node("Softmax", {"x"}, {"b"})
                                   .attribute("axis", int64_t{0})
                                   .node("Softmax", {"x"}, {"c"})
                                   .node("LogSoftmax", {"x"}, {"d"})
                                   .node("Clip", {"x"}, {"e"})
                                   .node("Clip", {"x", "x"}, {"f"})
                                   .build());
  model.graph.nodes[2].since_version = 1;
  const VersionWrappers wrappers(model);
  EXPECT_THAT(names(wrappers), ElementsAre("Softmax_11_0", "Softmax_11_1", "Softmax_1_2",
                                           "LogSoftmax_11_3", "Clip_11_4", "Clip_11_5"));
}

TEST(VersionWrappers, TakeNamesThatNoFunctionOfTheDomainHas) {
  Model model = of_other_opset(GraphBuilder().input("x").node("Softmax", {"x"}, {"a"}).build());
  model.functions = {{kWrapperDomain, "Softmax_11_0", "", ""}, {"else", "Softmax_11_1", "", ""}};
  EXPECT_THAT(names(VersionWrappers(model)), ElementsAre("Softmax_11_1"));
}

TEST(VersionWrappers, StandForNodesInBodiesButNotForTheirHolders) {
  GraphBuilder outer;
  outer.input("x");
  GraphBuilder inner;
  inner.capture("x", outer.value("x")).node("Softmax", {"x"}, {"r"}).output("r");
  Graph body = inner.build();
  body.nodes[0].is_of_other_opset = true;
  outer.node("If", {"x"}, {"a"}).subgraph("then_branch", std::move(body));
  const Model model = of_other_opset(outer.build());
  const VersionWrappers wrappers(model);
  EXPECT_THAT(names(wrappers), ElementsAre("Softmax_1_0"));
  EXPECT_EQ(wrappers.find(model.graph.nodes[0]), nullptr);
}

// The written node is a call, and its body is the original node.
TEST(VersionWrappers, ComeBackAsTheNodesThatTheyStandFor) {
  Graph graph =
      GraphBuilder()
          .input("x", graph::testing::tensor_type(ElementType::kFloat, graph::Shape{2, 3}))
          .node("Softmax", {"x"}, {"y"})
          .attribute("axis", int64_t{0})
          .output("y")
          .build();
  graph.name = "main";
  const auto exported = export_model(of_other_opset(std::move(graph)));
  ASSERT_THAT(exported, IsOk());
  const std::vector<std::byte> bytes = exported->model.to_bytes();
  const auto model = import_model(graph::Blob{bytes, nullptr});
  ASSERT_THAT(model, IsOk());
  ASSERT_EQ(model->graph.nodes.size(), 1U);
  EXPECT_EQ(model->graph.nodes[0].domain, kWrapperDomain);
  const auto library = FunctionLibrary::create(*model);
  ASSERT_THAT(library, IsOk());
  const auto body = library->body_of(*model, model->graph, 0);
  ASSERT_THAT(body, IsOk());
  ASSERT_EQ(body->graph.nodes.size(), 1U);
  EXPECT_EQ(body->graph.nodes[0].op_type, "Softmax");
  EXPECT_EQ(body->graph.nodes[0].since_version, 11);
  EXPECT_TRUE(body->graph.nodes[0].is_of_other_opset);
  EXPECT_EQ(body->graph.nodes[0].integer("axis"), 0);
}

// What cannot be expressed.

Graph with_body(std::string_view op_type) {
  GraphBuilder outer;
  outer.input("x");
  GraphBuilder inner;
  inner.capture("x", outer.value("x")).node("Neg", {"x"}, {"r"}).output("r");
  outer.node(op_type, {"x"}, {"a"}).subgraph("body", inner.build());
  return outer.build();
}

TEST(CheckVersions, AcceptsNodesWithBodiesThatMeanTheSameInAllOpsets) {
  EXPECT_THAT(check_versions(of_other_opset(with_body("If")).graph), IsOk());
  EXPECT_THAT(check_versions(of_other_opset(with_body("Loop")).graph), IsOk());
  EXPECT_THAT(check_versions(of_other_opset(with_body("Scan"), 9).graph), IsOk());
}

TEST(CheckVersions, RefusesOtherNodesWithBodies) {
  const Status status = check_versions(of_other_opset(with_body("Scan"), 8).graph);
  EXPECT_EQ(status.code(), StatusCode::kNotImplemented);
  EXPECT_THAT(status.message(), HasSubstr("Scan node \"a\" has version 8"));
  EXPECT_THAT(check_versions(with_body("Scan")), IsOk()) << "of the model's own opset";
}

TEST(CheckVersions, LooksIntoBodies) {
  Graph outer = GraphBuilder()
                    .input("x")
                    .node("If", {"x"}, {"y"})
                    .subgraph("then_branch", of_other_opset(with_body("SequenceMap")).graph)
                    .build();
  EXPECT_EQ(check_versions(outer).code(), StatusCode::kNotImplemented);
}

}  // namespace
}  // namespace ephost::onnx_io::version_wrappers_test
