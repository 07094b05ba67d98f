#include "host/onnx_io/import/plugin_operator_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/plugin_definitions.h"

namespace ephost::onnx_io::plugin_operator_nodes_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::acme_model;
using ::testing::AllOf;
using testing::crop;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::operators_of;
using Names = std::initializer_list<std::string_view>;

// A model with a Crop node that conforms, apart from these inputs and outputs.
GraphBuilder crop_node(Names inputs = {"x"}, Names outputs = {"y"}) {
  GraphBuilder builder;
  builder.input("x").node("Crop", inputs, outputs).attribute("mode", std::string("hard"));
  return builder;
}

// The same with a further attribute.
GraphBuilder crop_node_with(std::string name, graph::AttributeValue value) {
  GraphBuilder builder = crop_node();
  builder.attribute(std::move(name), std::move(value));
  return builder;
}

std::string refusal(GraphBuilder builder, OperatorDefinition definition = crop(),
                    int32_t version = 1) {
  graph::Model model = acme_model(builder.build(), version);
  const auto applied = apply_plugin_operators(model, operators_of({std::move(definition)}));
  EXPECT_EQ(applied.status().code(), StatusCode::kInvalidGraph);
  return applied.status().message();
}

void expect_accepted(GraphBuilder builder) {
  graph::Model model = acme_model(builder.build());
  const auto applied = apply_plugin_operators(model, operators_of({crop()}));
  EXPECT_THAT(applied, IsOk());
}

TEST(PluginOperatorNodes, GetTheVersionAndTheDefaultsOfTheirDefinition) {
  graph::Model model = acme_model(crop_node().build(), 5);
  const PluginOperators operators = operators_of({crop(2), crop(4), crop(6)});
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(apply_plugin_operators(model, operators), IsOk());
    const graph::Node& node = model.graph.nodes[0];
    EXPECT_EQ(node.since_version, 4);
    ASSERT_EQ(node.attributes.size(), 2U);
    EXPECT_EQ(std::get<float>(*node.attribute("factor")), 2.0F);
  }
}

TEST(PluginOperatorNodes, KeepTheAttributesThatTheyState) {
  graph::Model model = acme_model(crop_node_with("factor", 9.0F).build());
  ASSERT_THAT(apply_plugin_operators(model, operators_of({crop()})), IsOk());
  EXPECT_EQ(std::get<float>(*model.graph.nodes[0].attribute("factor")), 9.0F);
}

TEST(PluginOperatorNodes, MayHaveManyFormsOfInputsAndOutputs) {
  expect_accepted(crop_node({"x", "", "x", "x", "x"}, {"y", "n"}));
  expect_accepted(crop_node({"x", "x"}, {"y", ""}));
}

TEST(PluginOperatorNodes, AreRefusedWithNodeOperatorDomainAndPlugin) {
  EXPECT_EQ(refusal(crop_node({})),
            "Crop node \"y\": operator \"Crop\" of domain \"com.acme\", which "
            "AcmeExecutionProvider defines: it has 0 inputs, and the operator has at least 1");
}

TEST(PluginOperatorNodes, AreRefusedWithWrongInputsAndOutputs) {
  OperatorDefinition fixed = crop();
  fixed.inputs.pop_back();
  EXPECT_THAT(refusal(crop_node({"x", "x", "x"}), fixed),
              HasSubstr("it has 3 inputs, and the operator has 1 to 2"));
  EXPECT_THAT(refusal(crop_node({"x"}, {"y", "n", "z"})),
              HasSubstr("it has 3 outputs, and the operator has 1 to 2"));
  fixed.inputs.pop_back();
  EXPECT_THAT(refusal(crop_node({"x", "x"}), fixed),
              HasSubstr("it has 2 inputs, and the operator has 1"));
  EXPECT_THAT(refusal(crop_node({"", "x"})), HasSubstr("it omits input 0 (\"X\"), which is "
                                                       "required"));
  EXPECT_THAT(refusal(crop_node({"x"}, {"", "n"})), HasSubstr("it omits output 0 (\"Y\")"));
}

TEST(PluginOperatorNodes, AreRefusedWithWrongAttributes) {
  GraphBuilder builder;
  builder.input("x").node("Crop", {"x"}, {"y"});
  EXPECT_THAT(refusal(std::move(builder)), HasSubstr("it lacks the attribute \"mode\", which is "
                                                     "required"));
  EXPECT_THAT(refusal(crop_node_with("factor", int64_t{2})),
              HasSubstr("its attribute \"factor\" is INT, and the operator wants FLOAT"));
  EXPECT_THAT(refusal(crop_node_with("factr", 2.0F)),
              HasSubstr("it has an attribute \"factr\", which the operator does not have"));
}

TEST(PluginOperatorNodes, AreRefusedIfTheirOperatorIsDeprecatedOrTooNew) {
  OperatorDefinition deprecated = crop();
  deprecated.is_deprecated = true;
  EXPECT_THAT(refusal(crop_node(), deprecated), HasSubstr("is deprecated since version 1"));
  EXPECT_THAT(refusal(crop_node(), crop(3), 2),
              AllOf(HasSubstr("version 2 of the domain does not have it yet"),
                    HasSubstr("came with version 3")));
}

TEST(PluginOperatorNodes, AreCheckedInBodies) {
  GraphBuilder main;
  main.input("x");
  GraphBuilder body;
  body.capture("x", main.value("x")).node("Crop", {"x"}, {"y"}).output("y");
  graph::Graph inner = acme_model(body.build()).graph;
  main.node("If", {"x"}, {"z"}).subgraph("then_branch", std::move(inner));
  EXPECT_THAT(refusal(std::move(main)), HasSubstr("it lacks the attribute \"mode\""));
}

TEST(PluginOperatorNodes, AreNotedOnceWithoutADefinition) {
  GraphBuilder builder;
  builder.input("x").node("Grow", {"x"}, {"a"}).node("Grow", {"a"}, {"y"});
  graph::Model model = acme_model(builder.build());
  const auto notes = apply_plugin_operators(model, operators_of({crop()}));
  ASSERT_THAT(notes, IsOk());
  EXPECT_THAT(*notes, ElementsAre("Grow node \"a\": no plugin defines operator \"Grow\", but other "
                                  "operators of domain \"com.acme\"; its nodes are not checked"));
}

TEST(PluginOperatorNodes, AreThoseOfTheModelsFunctionsFirst) {
  GraphBuilder builder;
  builder.input("x").node("Crop", {"x", "x", "x"}, {"y"});
  graph::Model model = acme_model(builder.build());
  model.functions.push_back({.domain = "com.acme", .name = "Crop"});
  const auto notes = apply_plugin_operators(model, operators_of({crop()}));
  ASSERT_THAT(notes, IsOk());
  EXPECT_THAT(*notes, IsEmpty());
  EXPECT_THAT(model.graph.nodes[0].attributes, IsEmpty());
}

TEST(PluginOperatorNodes, AreOfAnotherOpsetOnlyWhereTheDefinitionDiffers) {
  const PluginOperators operators = operators_of({crop(1), crop(4)});
  graph::Model model = acme_model(crop_node().build(), 3);
  graph::Node& node = model.graph.nodes[0];
  node.is_of_other_opset = true;  // as if it came from a function that imports version 2
  node.since_version = 2;
  ASSERT_THAT(apply_plugin_operators(model, operators), IsOk());
  EXPECT_FALSE(node.is_of_other_opset);
  model.opset_imports["com.acme"] = 4;
  node.is_of_other_opset = true;
  ASSERT_THAT(apply_plugin_operators(model, operators), IsOk());
  EXPECT_TRUE(node.is_of_other_opset);
}

}  // namespace
}  // namespace ephost::onnx_io::plugin_operator_nodes_test
