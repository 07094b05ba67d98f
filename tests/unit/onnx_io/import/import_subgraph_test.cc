#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "host/onnx_io/import/import.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::import_subgraph_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Graph;
using graph::kNoValue;
using graph::Model;
using graph::Value;
using graph::testing::node_names;
using graph::testing::value_names;

Model import(const onnx::ModelProto& proto) {
  Result<Model> model = import_proto(proto);
  EXPECT_THAT(model, IsOk());
  if (!model.ok()) return {};
  EXPECT_EQ(check_graph(model->graph).message(), "");
  return std::move(model).value();
}

const Value& value_of(const Graph& graph, std::string_view name) {
  return graph.values[graph.find_value(name)];
}

// main(cond, x): If { then: t = Neg(x); else: e = Abs(x) } -> y.
onnx::ModelProto model_with_if() {
  onnx::ModelProto proto = empty_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "cond", {}, onnx::TensorProto::BOOL);
  add_input(graph, "x", {2});
  onnx::NodeProto& node = add_node(graph, "If", {"cond"}, {"y"});
  onnx::GraphProto& then_branch = add_body(node, "then_branch");
  add_node(then_branch, "Neg", {"x"}, {"t"});
  then_branch.add_output()->set_name("t");
  onnx::GraphProto& else_branch = add_body(node, "else_branch");
  add_node(else_branch, "Abs", {"x"}, {"e"});
  else_branch.add_output()->set_name("e");
  graph.add_output()->set_name("y");
  return proto;
}

onnx::GraphProto& branch(onnx::ModelProto& proto, int index) {
  return *proto.mutable_graph()->mutable_node(0)->mutable_attribute(index)->mutable_g();
}

TEST(ImportSubgraph, CapturesValuesOfTheEnclosingGraph) {
  const Model model = import(model_with_if());
  const Graph& graph = model.graph;
  const graph::ValueId x = graph.find_value("x");
  EXPECT_THAT(graph.nodes[0].implicit_inputs, ElementsAre(x));
  EXPECT_THAT(graph.values[x].consumers, ElementsAre(0));
  for (const char* name : {"then_branch", "else_branch"}) {
    const Graph* body = graph.nodes[0].subgraph(name);
    ASSERT_NE(body, nullptr);
    EXPECT_EQ(value_of(*body, "x").outer, x);
    EXPECT_FALSE(value_of(*body, "x").is_graph_input);
  }
}

TEST(ImportSubgraph, InfersTypesInsideAndThroughIt) {
  const Model model = import(model_with_if());
  const auto text = [&](const Value& value) { return graph::to_string(value.type, model.symbols); };
  EXPECT_EQ(text(value_of(*model.graph.nodes[0].subgraph("then_branch"), "x")), "float[2]");
  EXPECT_EQ(text(value_of(*model.graph.nodes[0].subgraph("then_branch"), "t")), "float[2]");
  EXPECT_EQ(text(value_of(model.graph, "y")), "float[2]");
}

TEST(ImportSubgraph, PassesValuesThroughTheLevelsBetween) {
  onnx::ModelProto proto = model_with_if();
  onnx::GraphProto& then_branch = branch(proto, 0);
  then_branch.clear_node();
  onnx::NodeProto& inner = add_node(then_branch, "If", {"cond"}, {"t"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = add_body(inner, name);
    add_node(body, "Exp", {"x"}, {"deep"});
    body.add_output()->set_name("deep");
  }
  const Model model = import(proto);
  const Graph& middle = *model.graph.nodes[0].subgraph("then_branch");
  const Graph& deep = *middle.nodes[0].subgraph("then_branch");
  EXPECT_EQ(value_of(middle, "x").outer, model.graph.find_value("x"));
  EXPECT_EQ(value_of(deep, "x").outer, middle.find_value("x"));
  EXPECT_THAT(value_names(middle, middle.nodes[0].implicit_inputs), ElementsAre("x"));
  EXPECT_THAT(value_names(model.graph, model.graph.nodes[0].implicit_inputs),
              ElementsAre("cond", "x"));
}

TEST(ImportSubgraph, ItsOwnValuesComeBeforeThoseAround) {
  onnx::ModelProto proto = model_with_if();
  onnx::GraphProto& then_branch = branch(proto, 0);
  add_initializer(then_branch, "x", {2}, {1, 2});
  const Model model = import(proto);
  const Graph& body = *model.graph.nodes[0].subgraph("then_branch");
  EXPECT_EQ(value_of(body, "x").outer, kNoValue);
  EXPECT_NE(body.constant(body.find_value("x")), nullptr);
}

TEST(ImportSubgraph, MayCaptureWhatALaterNodeProduces) {
  onnx::ModelProto proto = model_with_if();
  branch(proto, 0).mutable_node(0)->set_input(0, "late");
  add_node(*proto.mutable_graph(), "Exp", {"x"}, {"late"});
  const Model model = import(proto);
  EXPECT_THAT(node_names(model.graph), ElementsAre("node_late", "node_y"));
}

TEST(ImportSubgraph, RefusesABodyThatWaitsForItsOwnNode) {
  onnx::ModelProto proto = model_with_if();
  branch(proto, 0).mutable_node(0)->set_input(0, "y");
  const auto model = import_proto(proto);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("cycle through If node \"node_y\""));
}

TEST(ImportSubgraph, MayReturnAValueOfTheEnclosingGraph) {
  onnx::ModelProto proto = model_with_if();
  branch(proto, 0).mutable_output(0)->set_name("x");
  const Model model = import(proto);
  const Graph& body = *model.graph.nodes[0].subgraph("then_branch");
  EXPECT_EQ(body.values[body.outputs[0]].outer, model.graph.find_value("x"));
}

TEST(ImportSubgraph, ReadsLoopBodiesWithInputs) {
  onnx::ModelProto proto = empty_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_int64_initializer(graph, "trips", {3}).clear_dims();
  add_input(graph, "x", {2});
  add_input(graph, "step", {2});
  onnx::NodeProto& node = add_node(graph, "Loop", {"trips", "", "x"}, {"y", "all"});
  onnx::GraphProto& body = add_body(node, "body");
  add_input(body, "i", {}, onnx::TensorProto::INT64);
  add_input(body, "go", {}, onnx::TensorProto::BOOL);
  add_input(body, "state", {2});
  add_node(body, "Identity", {"go"}, {"go_on"});
  add_node(body, "Add", {"state", "step"}, {"next"});
  add_node(body, "Identity", {"next"}, {"each"});
  for (const char* name : {"go_on", "next", "each"}) body.add_output()->set_name(name);
  graph.add_output()->set_name("y");
  graph.add_output()->set_name("all");
  const Model model = import(proto);
  const Graph& imported = *model.graph.nodes[0].subgraph("body");
  EXPECT_THAT(value_names(imported, imported.inputs), ElementsAre("i", "go", "state"));
  EXPECT_THAT(value_names(imported, imported.outputs), ElementsAre("go_on", "next", "each"));
  EXPECT_EQ(value_of(imported, "step").outer, model.graph.find_value("step"));
  EXPECT_EQ(graph::to_string(value_of(model.graph, "all").type, model.symbols), "float[?,2]");
}

TEST(ImportSubgraph, RefusesNamesThatNoLevelKnows) {
  onnx::ModelProto proto = model_with_if();
  branch(proto, 1).mutable_node(0)->set_input(0, "nothing");
  const auto model = import_proto(proto);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(
      model.status().message(),
      HasSubstr("attribute \"else_branch\" of If node \"node_y\": Abs node \"node_e\" reads "
                "value \"nothing\""));
}

TEST(ImportSubgraph, ChecksNodesInside) {
  onnx::ModelProto proto = model_with_if();
  branch(proto, 1).mutable_node(0)->set_op_type("Apps");
  EXPECT_THAT(import_proto(proto).status().message(), HasSubstr("has no operator \"Apps\""));
  onnx::ModelProto missing = model_with_if();
  missing.mutable_graph()->mutable_node(0)->mutable_attribute()->RemoveLast();
  EXPECT_THAT(import_proto(missing).status().message(), HasSubstr("If node \"node_y\": "));
}

void nest(onnx::GraphProto& graph, int depth) {
  if (depth <= 1) {
    add_node(graph, "Neg", {"x"}, {"y"});
  } else {
    onnx::NodeProto& node = add_node(graph, "If", {"cond"}, {"y"});
    nest(add_body(node, "then_branch"), depth - 1);
    nest(add_body(node, "else_branch"), 1);
  }
  graph.add_output()->set_name("y");
}

onnx::ModelProto nested_model(int depth) {
  onnx::ModelProto proto = empty_model();
  add_input(*proto.mutable_graph(), "cond", {}, onnx::TensorProto::BOOL);
  add_input(*proto.mutable_graph(), "x", {2});
  nest(*proto.mutable_graph(), depth);
  return proto;
}

TEST(ImportSubgraph, ReadsGraphsNestedAsDeepAsAllowed) {
  const Model model = import(nested_model(64));
  EXPECT_EQ(graph::to_string(value_of(model.graph, "y").type, model.symbols), "float[2]");
}

TEST(ImportSubgraph, RefusesGraphsNestedDeeper) {
  const auto model = import_proto(nested_model(65));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(model.status().message(), HasSubstr("nested more than 64 levels deep"));
}

}  // namespace
}  // namespace ephost::onnx_io::import_subgraph_test
