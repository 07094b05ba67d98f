#include "host/bridge/graph_view.h"

#include <gtest/gtest.h>

#include <ephost/plugin.hpp>

#include "host/onnx_io/import/import.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;

// Op reads x[batch, 3, ?] and the constant w; its output y is the graph's output.
graph::Model model_of(graph::Graph graph) {
  graph::Model model;
  model.graph = std::move(graph);
  model.ir_version = 8;
  model.opset_imports = {{"", 17}, {"com.example", 3}};
  model.symbols = {"batch"};
  return model;
}

graph::Model sample() {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat,
                                 graph::Shape{graph::symbolic_dim(0), 3, graph::kUnknownDim}));
  builder.constant("w", float_tensor({1, 2, 3}));
  builder.node("Op", {"x", "", "w"}, {"y"}).output("y");
  builder.attribute("axis", int64_t{-1});
  builder.attribute("alpha", 0.5F);
  builder.attribute("mode", std::string("fast"));
  builder.attribute("pads", std::vector<int64_t>{1, 2});
  builder.attribute("scales", std::vector<float>{1.5F});
  builder.attribute("names", std::vector<std::string>{"a", "bc"});
  builder.attribute("value", float_tensor({9}));
  return model_of(builder.build());
}

TEST(GraphView, ShowsNodesWithInputsOutputsAndVersion) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  ASSERT_EQ(seen.node_count(), 1U);
  const eph::NodeView node = seen.node(0);
  EXPECT_EQ(node.op_type(), "Op");
  EXPECT_EQ(node.name(), "y");
  EXPECT_EQ(node.since_version(), 1);
  ASSERT_EQ(node.inputs().size(), 3U);
  EXPECT_EQ(seen.value(node.input(0)).name(), "x");
  EXPECT_EQ(node.input(1), EPH_NONE);
  EXPECT_EQ(seen.outputs()[0], node.output(0));
}

TEST(GraphView, ShowsAttributesOfEveryKind) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::NodeView node = eph::GraphView(&view).node(0);
  EXPECT_EQ(node.get_int("axis", 0), -1);
  EXPECT_EQ(node.get_float("alpha", 0), 0.5F);
  EXPECT_EQ(node.get_string("mode", ""), "fast");
  EXPECT_EQ(node.get_ints("pads").to_vector(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(node.get_floats("scales")[0], 1.5F);
  ASSERT_EQ(node.get_strings("names").size(), 2U);
  EXPECT_EQ(eph::view(node.get_strings("names")[1]), "bc");
  ASSERT_NE(node.get_tensor("value"), nullptr);
  EXPECT_EQ(eph::elements<float>(*node.get_tensor("value"))[0], 9);
  EXPECT_EQ(node.attribute("absent"), nullptr);
}

TEST(GraphView, ShowsSparseTensorsAndSubgraphs) {
  GraphBuilder inner;
  inner.input("i").node("Identity", {"i"}, {"o"}).output("o");
  GraphBuilder builder;
  builder.node("Outer", {}, {"y"}).output("y").subgraph("body", inner.build());
  graph::SparseTensor sparse;
  sparse.values = float_tensor({4});
  sparse.indices = graph::testing::int64_tensor({2});
  sparse.shape = {5};
  builder.attribute("sparse", std::move(sparse));
  const graph::Model model = model_of(builder.build());
  const GraphView view(model.graph, model);
  const eph::NodeView node = eph::GraphView(&view).node(0);
  const eph_attribute* body = node.attribute("body");
  ASSERT_EQ(body->kind, EPH_ATTRIBUTE_GRAPH);
  const eph::GraphView nested(*static_cast<const eph_graph* const*>(body->values));
  EXPECT_EQ(nested.node(0).op_type(), "Identity");
  const auto* dense = static_cast<const eph_value*>(node.attribute("sparse")->values);
  ASSERT_EQ(dense->kind, EPH_KIND_SPARSE_TENSOR);
  EXPECT_EQ(dense->shape[0], 5);
  const auto* parts = static_cast<const eph_value*>(dense->data);
  EXPECT_EQ(eph::elements<float>(parts[0])[0], 4);
  EXPECT_EQ(parts[1].shape[0], 1);
  EXPECT_EQ(eph::elements<int64_t>(parts[1])[0], 2);
}

TEST(GraphView, ShowsOpenExtentsAndTheirNames) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  eph_value_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(view.api->get_value(&view, model.graph.inputs[0], &info), EPH_OK);
  ASSERT_EQ(info.rank, 3);
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.shape[1], 3);
  EXPECT_EQ(info.shape[2], -1);
  EXPECT_EQ(eph::view(info.dim_names[0]), "batch");
  EXPECT_EQ(eph::view(info.dim_names[2]), "");
  EXPECT_EQ(info.flags, static_cast<uint32_t>(EPH_VALUE_GRAPH_INPUT));
}

TEST(GraphView, LendsConstantsWithoutCopying) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  const eph_value* constant = seen.constant_input(seen.node(0), 2);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->data, model.graph.initializers[0].data.bytes.data());
  EXPECT_EQ(seen.constant_input(seen.node(0), 0), nullptr);
}

TEST(GraphView, MarksNodesThatAreTaken) {
  const graph::Model model = sample();
  const std::vector<uint32_t> owner = {0};
  EXPECT_TRUE(eph::GraphView(std::make_unique<GraphView>(model.graph, model, owner).get())
                  .node(0)
                  .is_taken());
  const GraphView view(model.graph, model);
  EXPECT_FALSE(eph::GraphView(&view).node(0).is_taken());
}

TEST(GraphView, RefusesIndicesOutOfRange) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  eph_node_info node = {};
  node.struct_size = sizeof(node);
  EXPECT_EQ(view.api->get_node(&view, 1, &node), EPH_INVALID_ARGUMENT);
  eph_value_info value = {};
  value.struct_size = sizeof(value);
  EXPECT_EQ(view.api->get_value(&view, EPH_NONE, &value), EPH_INVALID_ARGUMENT);
}

TEST(GraphView, FillsOnlyTheFieldsThatTheCallerKnows) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  eph_node_info info = {};
  info.attribute_count = 77;
  info.struct_size = offsetof(eph_node_info, attribute_count);
  ASSERT_EQ(view.api->get_node(&view, 0, &info), EPH_OK);
  EXPECT_EQ(eph::view(info.op_type), "Op");
  EXPECT_EQ(info.attribute_count, 77U);
}

TEST(GraphView, TellsTheOpsetOfADomain) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  EXPECT_EQ(seen.opset(""), 17);
  EXPECT_EQ(seen.opset("com.example"), 3);
  EXPECT_EQ(seen.opset("unknown"), 0);
}

TEST(GraphView, GivesTheGraphAsOnnx) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, graph::Shape{2}));
  builder.constant("w", float_tensor({1, 2}));
  builder.node("Add", {"x", "w"}, {"y"}).output("y");
  graph::Model model = model_of(builder.build());
  model.graph.name = "g";
  model.graph.values[model.graph.outputs[0]].type =
      tensor_type(ElementType::kFloat, graph::Shape{2});
  const GraphView view(model.graph, model);
  const std::string_view bytes = eph::GraphView(&view).onnx();
  const auto again = onnx_io::import_model(
      graph::Blob{std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->graph.nodes[0].op_type, "Add");
  EXPECT_EQ(eph::GraphView(&view).onnx().data(), bytes.data());
}

TEST(GraphView, ExportsQuantizationAnnotations) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, graph::Shape{2}));
  builder.constant("scale", float_tensor({1}));
  builder.node("Relu", {"x"}, {"y"}).output("y");
  graph::Model model = model_of(builder.build());
  model.graph.name = "g";
  model.graph.annotations = {{.value = 0, .parameters = {{"SCALE_TENSOR", 1}}}};
  const GraphView view(model.graph, model);
  const std::string_view bytes = eph::GraphView(&view).onnx();
  const auto again = onnx_io::import_model(
      graph::Blob{std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  const graph::Graph& read = again->graph;
  ASSERT_EQ(read.annotations.size(), 1U);
  EXPECT_EQ(read.annotations[0].value, read.find_value("x"));
  ASSERT_EQ(read.annotations[0].parameters.size(), 1U);
  EXPECT_EQ(read.annotations[0].parameters[0].second, read.find_value("scale"));
}

}  // namespace
}  // namespace ephost::bridge
