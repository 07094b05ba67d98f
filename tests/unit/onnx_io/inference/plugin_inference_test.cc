#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/onnx_io/inference/infer.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/plugin_definitions.h"

namespace ephost::onnx_io::plugin_inference_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::acme_model;
using testing::crop;
using ::testing::HasSubstr;
using testing::operators_of;
using Names = std::initializer_list<std::string_view>;

std::string type_of(const graph::Model& model, std::string_view value) {
  return graph::to_string(model.graph.values[model.graph.find_value(value)].type, model.symbols);
}

// y = Crop(x, ...), z = Abs(y), where x is a float[2,3].
graph::Model cropped(Names inputs = {"x"}, Names outputs = {"y"}) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .input("d", tensor_type(ElementType::kDouble))
      .input("n", tensor_type(ElementType::kInt64))
      .input("seq", {.kind = graph::ValueKind::kSequence})
      .constant("k", graph::testing::int64_tensor({5, 7}))
      .node("Crop", inputs, outputs)
      .node("Abs", {"y"}, {"z"})
      .output("z");
  return acme_model(builder.build());
}

OperatorDefinition with(InferFunction infer) {
  OperatorDefinition definition = crop();
  definition.infer = std::move(infer);
  return definition;
}

Status infer(graph::Model& model, OperatorDefinition definition = crop()) {
  model.graph.nodes[1].since_version = 13;
  return infer_shapes(model, operators_of({std::move(definition)})).status();
}

std::string refusal(graph::Model model, OperatorDefinition definition = crop(),
                    StatusCode code = StatusCode::kInvalidGraph) {
  const Status status = infer(model, std::move(definition));
  EXPECT_EQ(status.code(), code);
  EXPECT_THAT(status.message(),
              HasSubstr("Crop node \"y\": operator \"Crop\" of domain \"com.acme\", which "
                        "AcmeExecutionProvider defines: "));
  return status.message();
}

TEST(PluginInference, FollowsTypeNames) {
  graph::Model model = cropped({"x"}, {"y", "count"});
  ASSERT_THAT(infer(model), IsOk());
  EXPECT_EQ(type_of(model, "y"), "float");
  EXPECT_EQ(type_of(model, "z"), "float");
  EXPECT_EQ(type_of(model, "count"), "int64");
}

TEST(PluginInference, LeavesUnknownTypesOpen) {
  graph::Model model = cropped();
  model.graph.values[model.graph.find_value("x")].type = {};
  ASSERT_THAT(infer(model), IsOk());
  EXPECT_EQ(model.graph.values[model.graph.find_value("y")].type.element, ElementType::kUndefined);
}

TEST(PluginInference, AsksThePluginAndFeedsWhatFollows) {
  graph::Model model = cropped({"x", "k"});
  const Status status = infer(
      model, with([](const graph::Graph& alone, const graph::Model& whole, StatedTypes& out) {
        const graph::Node& node = alone.nodes[0];
        EXPECT_EQ(alone.nodes.size(), 1U);
        EXPECT_EQ(whole.opset_imports.at("com.acme"), 1);
        EXPECT_EQ(*alone.values[node.inputs[0]].type.shape, (Shape{2, 3}));
        EXPECT_EQ(alone.constant(node.inputs[0]), nullptr);
        EXPECT_EQ(alone.constant(node.inputs[1])->shape, (Shape{2}));
        out[0] = {.element = ElementType::kFloat, .shape = Shape{5, -1}, .dim_names = {"", "rows"}};
        return Status();
      }));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(type_of(model, "y"), "float[5,rows]");
  EXPECT_EQ(type_of(model, "z"), "float[5,rows]");
}

TEST(PluginInference, TakesTheElementTypeFromTheTypeNames) {
  graph::Model model = cropped();
  ASSERT_THAT(infer(model, with([](const auto&, const auto&, StatedTypes& out) {
                      out[0] = {.shape = Shape{}};
                      return Status();
                    })),
              IsOk());
  EXPECT_EQ(type_of(model, "y"), "float[]");
}

TEST(PluginInference, ShowsConstantsOfEnclosingGraphs) {
  GraphBuilder main;
  main.input("x", tensor_type(ElementType::kFloat, Shape{2}))
      .constant("k", graph::testing::int64_tensor({5}));
  GraphBuilder body;
  body.capture("x", main.value("x")).capture("k", main.value("k"));
  body.node("Crop", {"x", "k"}, {"y"}).output("y");
  graph::Graph inner = acme_model(body.build()).graph;
  main.node("Custom", {"x"}, {"z"}).subgraph("body", std::move(inner));
  graph::Model model = acme_model(main.build());
  bool is_constant = false;
  ASSERT_THAT(
      infer_shapes(model,
                   operators_of({with([&](const graph::Graph& alone, const auto&, StatedTypes&) {
                     is_constant = alone.constant(alone.nodes[0].inputs[1]) != nullptr;
                     return Status();
                   })})),
      IsOk());
  EXPECT_TRUE(is_constant);
}

TEST(PluginInference, ShowsWhatABodyOfTheNodeCaptures) {
  GraphBuilder main;
  main.input("w").input("x", tensor_type(ElementType::kFloat, Shape{2}));
  GraphBuilder body;
  body.capture("inner", main.value("w")).node("Abs", {"inner"}, {"o"}).output("o");
  main.node("Crop", {"x"}, {"y"}).subgraph("body", body.build());
  graph::Model model = acme_model(main.build());
  std::string captured;
  ASSERT_THAT(
      infer_shapes(model,
                   operators_of({with([&](const graph::Graph& alone, const auto&, StatedTypes&) {
                     captured = alone.values[alone.nodes[0].implicit_inputs.at(0)].name;
                     return Status();
                   })})),
      IsOk());
  EXPECT_EQ(captured, "w");
}

TEST(PluginInference, RefusesInputsOfWrongTypes) {
  EXPECT_THAT(refusal(cropped({"n"})),
              HasSubstr("input 0 (\"X\") is a tensor of int64, which the operator does not take"));
  EXPECT_THAT(
      refusal(cropped({"x", "", "d"})),
      HasSubstr("input 0 (\"X\") is a tensor of float and input 2 (\"rest\") of double, and "
                "both have type \"T\""));
  EXPECT_THAT(refusal(cropped({"seq"})), HasSubstr("and the operator takes a tensor"));
}

TEST(PluginInference, LetsHeterogeneousParametersDiffer) {
  OperatorDefinition definition = crop();
  definition.inputs.back().is_heterogeneous = true;
  graph::Model model = cropped({"x", "", "d", "x"});
  EXPECT_THAT(infer(model, definition), IsOk());
  EXPECT_EQ(type_of(model, "y"), "float");
}

TEST(PluginInference, RefusesAModelThatStatesSomethingElse) {
  graph::Model model = cropped();
  model.graph.values[model.graph.find_value("y")].type =
      tensor_type(ElementType::kFloat, Shape{4, 4});
  EXPECT_THAT(refusal(std::move(model), with([](const auto&, const auto&, StatedTypes& out) {
                        out[0] = {.element = ElementType::kFloat, .shape = Shape{4, 5}};
                        return Status();
                      })),
              HasSubstr("its output \"y\" is float[4,5], but the model states float[4,4]"));
  graph::Model other = cropped();
  other.graph.values[other.graph.find_value("y")].type = tensor_type(ElementType::kDouble);
  EXPECT_THAT(refusal(std::move(other)),
              HasSubstr("its output \"y\" is float, but the model states double"));
}

TEST(PluginInference, PassesTheReasonOfThePluginOn) {
  EXPECT_THAT(refusal(cropped(), with([](const auto&, const auto&, StatedTypes&) {
                        return Status(StatusCode::kInvalidGraph, "no such border");
                      })),
              HasSubstr("no such border"));
}

TEST(PluginInference, BlamesThePluginForBreakingItsDefinition) {
  const auto states = [](ElementType type) {
    return with([type](const auto&, const auto&, StatedTypes& out) {
      out[0] = {.element = type};
      return Status();
    });
  };
  for (const ElementType type : {ElementType::kInt64, ElementType::kDouble}) {
    EXPECT_THAT(refusal(cropped(), states(type), StatusCode::kEpFail),
                HasSubstr("report this to the plugin's vendor"));
  }
}

}  // namespace
}  // namespace ephost::onnx_io::plugin_inference_test
