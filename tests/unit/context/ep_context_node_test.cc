#include "host/context/ep_context_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/graph/checks.h"
#include "host/graph/extract.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::ep_context_node_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using testing::blob_of;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::text_of;

// The refusal of a node with this attribute and an embedded payload.
std::string refusal(std::string name, graph::AttributeValue value) {
  graph::Graph graph;
  graph::Node node{.name = "n", .op_type = "EPContext", .domain = "com.microsoft"};
  node.attributes.push_back({std::move(name), std::move(value)});
  graph.add_node(std::move(node));
  graph.nodes[0].attributes.push_back({"ep_cache_context", std::string("payload")});
  const Result<EpContextNode> read = read_ep_context_node(graph, 0);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
  return read.status().message();
}

Result<EpContextNode> round_trip(EpContextNode attributes) {
  graph::Graph graph;
  graph.add_node(make_ep_context_node(std::move(attributes)));
  return read_ep_context_node(graph, 0);
}

TEST(EpContextNode, ReadsWhatItMakes) {
  const Result<EpContextNode> read = round_trip({.main_context = true,
                                                 .embedded = true,
                                                 .payload = blob_of(std::string("a\0b", 3)),
                                                 .sdk_version = "2",
                                                 .onnx_model_filename = "m.onnx",
                                                 .hardware_architecture = "avx",
                                                 .partition_name = "p",
                                                 .source = "EP",
                                                 .notes = "n",
                                                 .max_size = 9});
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->main_context);
  EXPECT_TRUE(read->embedded);
  EXPECT_EQ(text_of(read->payload), std::string("a\0b", 3));
  EXPECT_EQ(read->sdk_version, "2");
  EXPECT_EQ(read->onnx_model_filename, "m.onnx");
  EXPECT_EQ(read->hardware_architecture, "avx");
  EXPECT_EQ(read->partition_name, "p");
  EXPECT_EQ(read->source, "EP");
  EXPECT_EQ(read->notes, "n");
  EXPECT_EQ(read->max_size, 9);
}

TEST(EpContextNode, KeepsFileAndPrimaryAsReferences) {
  const Result<EpContextNode> file = round_trip({.embedded = false, .reference = "m_a.bin"});
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(file->reference, "m_a.bin");
  const Result<EpContextNode> secondary =
      round_trip({.main_context = false, .reference = "primary"});
  ASSERT_THAT(secondary, IsOk());
  EXPECT_FALSE(secondary->main_context);
  EXPECT_EQ(secondary->reference, "primary");
}

TEST(EpContextNode, IsNamedAfterItsPartitionAndLeavesEmptyAttributesOut) {
  const graph::Node node =
      make_ep_context_node({.embedded = false, .reference = "f", .partition_name = "p"});
  EXPECT_EQ(node.name, "p");
  EXPECT_TRUE(is_ep_context(node));
  EXPECT_EQ(node.attribute("notes"), nullptr);
  EXPECT_EQ(node.attribute("max_size"), nullptr);
}

TEST(EpContextNode, HasTheOperatorsDefaults) {
  graph::Graph graph;
  graph.add_node({.op_type = "EPContext", .domain = "com.microsoft"});
  graph.nodes[0].attributes.push_back({"ep_cache_context", std::string("payload")});
  const Result<EpContextNode> read = read_ep_context_node(graph, 0);
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->main_context);
  EXPECT_TRUE(read->embedded);
  EXPECT_EQ(read->max_size, 0);
  EXPECT_EQ(read->source, "");
}

TEST(EpContextNode, RefusesAttributesOfTheWrongTypeByName) {
  EXPECT_THAT(refusal("main_context", std::string("1")),
              AllOf(HasSubstr("\"main_context\""), HasSubstr("EPContext node \"n\""),
                    HasSubstr("is not an integer")));
  EXPECT_THAT(refusal("embed_mode", 1.0F), HasSubstr("is not an integer"));
  EXPECT_THAT(refusal("source", int64_t{3}), HasSubstr("is not a string"));
  EXPECT_THAT(refusal("notes", std::vector<std::string>{"a"}), HasSubstr("is not a string"));
}

TEST(EpContextNode, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal("main_context", int64_t{2}), HasSubstr("is out of range: 2"));
  EXPECT_THAT(refusal("embed_mode", int64_t{-1}), HasSubstr("is out of range: -1"));
  EXPECT_THAT(refusal("max_size", int64_t{-5}), HasSubstr("is out of range: -5"));
}

TEST(EpContextNode, RefusesAPrimaryNodeWithoutContent) {
  graph::Graph graph;
  graph.add_node({.name = "n", .op_type = "EPContext", .domain = "com.microsoft"});
  const Result<EpContextNode> read = read_ep_context_node(graph, 0);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("is missing, though main_context is 1"));
}

TEST(EpContextNode, RefusesAPathLongerThanTheSystemAllows) {
  const Result<EpContextNode> read =
      round_trip({.embedded = false, .reference = std::string(5000, 'a')});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("it has 5000 bytes"));
}

TEST(EpContextNode, IsFoundInNestedGraphsAtTheNodesPlace) {
  graph::Graph body = testing::model_of({testing::file_node("inner", "f")}).graph;
  graph::Graph graph = testing::model_of({testing::file_node("before", "f")}).graph;
  graph::Node holder{.name = "if", .op_type = "If"};
  holder.attributes.push_back({"then_branch", std::make_unique<graph::Graph>(std::move(body))});
  graph.nodes.insert(graph.nodes.begin(), std::move(holder));
  const std::vector<NodePlace> places = find_ep_context_nodes(graph);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].graph->nodes[places[0].node].name, "inner");
  EXPECT_EQ(places[1].graph, &graph);
  EXPECT_EQ(places[1].node, 1U);
}

TEST(EpContextNode, StandsInTheGraphOfItsPartition) {
  const graph::Graph source = testing::sample_model().graph;
  const graph::Graph partition =
      graph::extract_subgraph(source, std::vector<graph::NodeId>{0, 1}, "p").graph;
  const graph::Graph graph = make_ep_context_graph(
      partition, {.main_context = false, .reference = "first", .partition_name = "p"});
  EXPECT_EQ(graph::check_graph(graph).message(), "");
  EXPECT_EQ(graph.name, "p");
  EXPECT_EQ(graph::testing::value_names(graph, graph.inputs), std::vector<std::string>{"x"});
  EXPECT_EQ(graph::testing::value_names(graph, graph.outputs), std::vector<std::string>{"b"});
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, testing::vector_type().shape);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(read_ep_context_node(graph, 0)->reference, "first");
}

TEST(EpContextNode, AContextModelIsNotASourceModel) {
  EXPECT_THAT(refuse_ep_context_nodes(testing::sample_model().graph), IsOk());
  const Status status =
      refuse_ep_context_nodes(testing::model_of({testing::file_node("p7", "f")}).graph);
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("EPContext node \"p7\""));
}

}  // namespace
}  // namespace ephost::context::ep_context_node_test
