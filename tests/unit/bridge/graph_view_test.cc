#include "host/bridge/graph_view.h"

#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/onnx_io/import/import.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::graph_view_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;

// Op reads x[batch, 3, ?] and the constant w; its output y is the graph's output.
graph::Model model_of(graph::Graph graph) {
  graph::Model model;
  model.graph = std::move(graph);
  model.graph.name = "g";
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
  ASSERT_EQ(view.api->get_value(&view, model.graph.inputs[0], &info, nullptr), EPH_OK);
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
  test::FakeError error;
  EXPECT_EQ(view.api->get_node(&view, 1, &node, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message, "get_node: graph \"g\" has no node 1; its 1 nodes are numbered from 0");
  eph_value_info value = {};
  value.struct_size = sizeof(value);
  EXPECT_EQ(view.api->get_value(&view, EPH_NONE, &value, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message,
            "get_value: graph \"g\" has no value 4294967295; its 3 values are numbered from 0");
}

TEST(GraphView, SaysWhyItFillsNoRecord) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  test::FakeError error;
  EXPECT_EQ(view.api->get_graph(&view, nullptr, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message, "get_graph: the eph_graph_info is null");
  eph_value_info info = {};
  EXPECT_EQ(view.api->get_value(&view, 0, &info, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(
      error.message,
      "get_value: the eph_value_info has a struct_size of 0; set it to sizeof(eph_value_info)");
  EXPECT_EQ(view.api->find_value(&view, EPH_STRING("x"), nullptr, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message, "find_value: out_value is null");
  EXPECT_EQ(view.api->get_onnx(&view, 0, nullptr, &error), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(error.message, "get_onnx: out is null");
}

TEST(GraphView, LeavesTheSmallerOfBothSizes) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  eph_node_info older = {};
  older.struct_size = offsetof(eph_node_info, overload);
  ASSERT_EQ(view.api->get_node(&view, 0, &older, nullptr), EPH_OK);
  EXPECT_EQ(older.struct_size, offsetof(eph_node_info, overload));
  struct {
    eph_node_info known = {};
    uint64_t added = 77;
  } newer;
  newer.known.struct_size = sizeof(newer);
  ASSERT_EQ(view.api->get_node(&view, 0, &newer.known, nullptr), EPH_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(eph_node_info));
  EXPECT_EQ(newer.added, 77U);
}

TEST(GraphView, FillsOnlyTheFieldsThatTheCallerKnows) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  eph_node_info info = {};
  info.attribute_count = 77;
  info.struct_size = offsetof(eph_node_info, attribute_count);
  ASSERT_EQ(view.api->get_node(&view, 0, &info, nullptr), EPH_OK);
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

TEST(GraphView, TellsWhatTheModelSaysAboutItself) {
  graph::Model model = sample();
  model.metadata = {{"author", "nobody"}, {"empty", ""}};
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  EXPECT_EQ(seen.ir_version(), 8);
  ASSERT_EQ(seen.opsets().size(), 2U);
  EXPECT_EQ(eph::view(seen.opsets()[0].domain), "");
  EXPECT_EQ(seen.opsets()[0].version, 17);
  EXPECT_EQ(eph::view(seen.opsets()[1].domain), "com.example");
  EXPECT_EQ(seen.opsets()[1].version, 3);
  ASSERT_EQ(seen.metadata().size(), 2U);
  ASSERT_NE(eph::find_entry(seen.metadata(), "author"), nullptr);
  EXPECT_EQ(eph::view(*eph::find_entry(seen.metadata(), "author")), "nobody");
  EXPECT_EQ(eph::find_entry(seen.metadata(), "title"), nullptr);
}

TEST(GraphView, ShowsOverloadAndMetadataOfNodes) {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"a"}).node("F", {"a"}, {"b"}).node("Relu", {"b"}, {"y"});
  graph::Model model = model_of(builder.output("y").build());
  model.graph.nodes[1].overload = "fast";
  model.graph.nodes[1].metadata = {{"origin", "layer.1"}, {"cost", "3"}};
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  EXPECT_EQ(seen.node(0).overload(), "");
  EXPECT_TRUE(seen.node(0).metadata().empty());
  EXPECT_EQ(seen.node(1).overload(), "fast");
  ASSERT_EQ(seen.node(1).metadata().size(), 2U);
  EXPECT_EQ(eph::view(seen.node(1).metadata()[0].key), "origin");
  EXPECT_EQ(eph::view(*eph::find_entry(seen.node(1).metadata(), "cost")), "3");
  EXPECT_TRUE(seen.node(2).metadata().empty());
}

TEST(GraphView, SaysWhichGraphsAreBodies) {
  GraphBuilder inner;
  inner.node("Constant", {}, {"o"}).output("o");
  GraphBuilder builder;
  builder.node("Outer", {}, {"y"}).output("y").subgraph("body", inner.build());
  const graph::Model model = model_of(builder.build());
  const GraphView view(model.graph, model);
  EXPECT_FALSE(eph::GraphView(&view).is_body());
  const eph_attribute* body = eph::GraphView(&view).node(0).attribute("body");
  EXPECT_TRUE(eph::GraphView(*static_cast<const eph_graph* const*>(body->values)).is_body());
  const GraphView alone(*model.graph.nodes[0].subgraph("body"), model);
  EXPECT_TRUE(eph::GraphView(&alone).is_body());
  const graph::Graph partition = sample().graph;
  const GraphView of_partition(partition, std::make_shared<ModelView>(model),
                               GraphView::Role::kWhole);
  EXPECT_FALSE(eph::GraphView(&of_partition).is_body());
}

graph::ValueType containing(graph::ValueKind kind, graph::ValueType content,
                            ElementType keys = ElementType::kUndefined) {
  graph::ValueType type;
  type.kind = kind;
  type.element = keys;
  type.nested = std::make_shared<const graph::ValueType>(std::move(content));
  return type;
}

TEST(GraphView, ShowsWhatValuesContain) {
  using graph::ValueKind;
  const graph::ValueType rows =
      tensor_type(ElementType::kFloat, graph::Shape{graph::symbolic_dim(0), 3});
  GraphBuilder builder;
  builder.input("tensor", rows);
  builder.input("maps", containing(ValueKind::kSequence,
                                   containing(ValueKind::kMap, rows, ElementType::kInt64)));
  builder.input("maybe", containing(ValueKind::kOptional, containing(ValueKind::kSequence, rows)));
  graph::ValueType unknown;
  unknown.kind = ValueKind::kSequence;
  builder.input("unknown", unknown);
  const graph::Model model = model_of(builder.build());
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  EXPECT_EQ(seen.value(0).content(), nullptr);

  const eph_type* map = seen.value(1).content();
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->kind, EPH_KIND_MAP);
  EXPECT_EQ(map->element_type, EPH_ELEMENT_INT64);
  EXPECT_EQ(map->rank, -1);
  const eph_type* value = map->content;
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->kind, EPH_KIND_TENSOR);
  EXPECT_EQ(value->element_type, EPH_ELEMENT_FLOAT);
  EXPECT_EQ(eph::shape_of(*value).to_vector(), (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(eph::view(value->dim_names[0]), "batch");
  EXPECT_EQ(eph::view(value->dim_names[1]), "");
  EXPECT_EQ(value->content, nullptr);

  const eph_type* sequence = seen.value(2).content();
  ASSERT_NE(sequence, nullptr);
  EXPECT_EQ(sequence->kind, EPH_KIND_SEQUENCE);
  EXPECT_EQ(sequence->element_type, EPH_ELEMENT_UNDEFINED);
  EXPECT_EQ(sequence->content->kind, EPH_KIND_TENSOR);

  ASSERT_NE(seen.value(3).content(), nullptr);
  EXPECT_EQ(seen.value(3).content()->kind, EPH_KIND_NONE);
  EXPECT_EQ(seen.value(3).content()->rank, -1);
}

TEST(GraphView, FindsValuesByName) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  for (uint32_t id = 0; id < seen.value_count(); ++id) {
    EXPECT_EQ(seen.find_value(seen.value(id).name()), id);
  }
  EXPECT_EQ(seen.find_value("absent"), EPH_NONE);
  EXPECT_EQ(seen.find_value(""), EPH_NONE);
  uint32_t found = 7;
  test::FakeError error;
  EXPECT_EQ(view.api->find_value(&view, EPH_STRING("absent"), &found, &error), EPH_NOT_FOUND);
  EXPECT_EQ(found, EPH_NONE);
  EXPECT_EQ(error.message,
            "find_value: none of the 3 values of graph \"g\" has the name \"absent\"");
}

TEST(GraphView, FindsValuesFromManyThreadsAtOnce) {
  GraphBuilder builder;
  for (int i = 0; i < 1000; ++i) builder.input("v" + std::to_string(i));
  const graph::Model model = model_of(builder.build());
  const GraphView view(model.graph, model);
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&view, &model, &count = wrong[t]] {
      const eph::GraphView seen(&view);
      for (uint32_t id = 0; id < 1000; ++id) {
        if (seen.find_value(model.graph.values[id].name) != id) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(GraphView, GivesTheGraphAsOnnx) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, graph::Shape{2}));
  builder.constant("w", float_tensor({1, 2}));
  builder.node("Add", {"x", "w"}, {"y"}).output("y");
  graph::Model model = model_of(builder.build());
  model.graph.values[model.graph.outputs[0]].type =
      tensor_type(ElementType::kFloat, graph::Shape{2});
  const GraphView view(model.graph, model);
  const std::string_view bytes = eph::GraphView(&view).onnx();
  const auto again = onnx_io::import_model(
      graph::Blob{std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->graph.nodes[0].op_type, "Add");
  EXPECT_EQ(eph::GraphView(&view).onnx().data(), bytes.data());
}

TEST(GraphView, ExportsQuantizationAnnotations) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, graph::Shape{2}));
  builder.constant("scale", float_tensor({1}));
  builder.node("Relu", {"x"}, {"y"}).output("y");
  graph::Model model = model_of(builder.build());
  model.graph.annotations = {{.value = 0, .parameters = {{"SCALE_TENSOR", 1}}}};
  const GraphView view(model.graph, model);
  const std::string_view bytes = eph::GraphView(&view).onnx();
  const auto again = onnx_io::import_model(
      graph::Blob{std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr});
  ASSERT_THAT(again, IsOk());
  const graph::Graph& read = again->graph;
  ASSERT_EQ(read.annotations.size(), 1U);
  EXPECT_EQ(read.annotations[0].value, read.find_value("x"));
  ASSERT_EQ(read.annotations[0].parameters.size(), 1U);
  EXPECT_EQ(read.annotations[0].parameters[0].second, read.find_value("scale"));
}

}  // namespace
}  // namespace ephost::bridge::graph_view_test
