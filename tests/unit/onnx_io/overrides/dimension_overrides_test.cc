#include "host/onnx_io/overrides/dimension_overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::dimension_overrides_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace testing;  // NOLINT: the builders of model_protos.h

onnx::TensorShapeProto& shape_of(onnx::ValueInfoProto& info) {
  return *info.mutable_type()->mutable_tensor_type()->mutable_shape();
}

// x[batch, ?, 3] with the denotations DATA_BATCH, DATA_FEATURE, DATA_CHANNEL -> Relu -> y[batch, ?,
// 3], z = Identity(y).
onnx::ModelProto open_model() {
  onnx::ModelProto model = empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {0, 0, 3});
  add_node(graph, "Relu", {"x"}, {"y"});
  add_node(graph, "Identity", {"y"}, {"z"});
  add_output(graph, "y", {0, 0, 3});
  for (onnx::ValueInfoProto* info : {graph.mutable_input(0), graph.mutable_output(0)}) {
    shape_of(*info).mutable_dim(0)->set_dim_param("batch");
    shape_of(*info).mutable_dim(1)->clear_dim_value();
  }
  onnx::TensorShapeProto& shape = shape_of(*graph.mutable_input(0));
  shape.mutable_dim(0)->set_denotation("DATA_BATCH");
  shape.mutable_dim(1)->set_denotation("DATA_FEATURE");
  shape.mutable_dim(2)->set_denotation("DATA_CHANNEL");
  return model;
}

Result<graph::Model> import_with(const onnx::ModelProto& proto, DimensionOverrides overrides,
                                 ImportReport* report = nullptr) {
  return import_proto(proto, {.dimension_overrides = std::move(overrides)}, report);
}

TEST(DimensionOverrides, ByNameFixTheDimensionEverywhere) {
  ImportReport report;
  const auto model = import_with(open_model(), {.by_name = {{"batch", 4}}}, &report);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(type_of(*model, "x"), "float[4,?,3]");
  EXPECT_EQ(type_of(*model, "y"), "float[4,?,3]");
  EXPECT_EQ(type_of(*model, "z"), "float[4,?,3]") << "inferred";
  EXPECT_THAT(model->symbols, IsEmpty());
  EXPECT_THAT(report.without_effect, IsEmpty());
}

TEST(DimensionOverrides, ByInputFixDimensionsWithAndWithoutNames) {
  ImportReport report;
  auto model = import_with(open_model(), {.by_input = {{"x", {4, 5, -1}}}}, &report);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(type_of(*model, "x"), "float[4,5,3]");
  EXPECT_EQ(type_of(*model, "y"), "float[4,5,3]");
  EXPECT_THAT(report.without_effect, IsEmpty());
  model = import_with(open_model(), {.by_input = {{"x", {-1, 5, 3}}}});
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(type_of(*model, "x"), "float[batch,5,3]");
}

TEST(DimensionOverrides, ByInputMustFitTheInput) {
  const auto message = [](DimensionOverrides overrides) {
    const Status status = import_with(open_model(), std::move(overrides)).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(message({.by_input = {{"x", {4, 5}}}}),
              HasSubstr("there are 2 sizes for input \"x\", which has 3 dimensions; give one for "
                        "each dimension"));
  EXPECT_THAT(
      message({.by_input = {{"x", {4, 5, 6}}}}),
      HasSubstr("a dimension of input \"x\" is 3, but the override of its input makes it 6"));
  EXPECT_THAT(message({.by_name = {{"batch", 2}}, .by_input = {{"x", {4, -1, -1}}}}),
              HasSubstr("dimension \"batch\" of input \"x\" is 2, but the override of its input "
                        "makes it 4"));
}

TEST(DimensionOverrides, ByInputHaveNoEffectOnInputsThatAreNotThere) {
  ImportReport report;
  ASSERT_THAT(import_with(open_model(), {.by_input = {{"xx", {4}}}}, &report), IsOk());
  EXPECT_THAT(report.without_effect,
              ElementsAre("the model has no input \"xx\", so its override has no effect"));
}

TEST(DimensionOverrides, ByNameReachBodies) {
  onnx::ModelProto proto = open_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "c", {}, onnx::TensorProto::BOOL);
  onnx::NodeProto& node = add_node(graph, "If", {"c"}, {"i"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = add_body(node, name);
    add_node(body, "Abs", {"x"}, {"r"});
    add_output(body, "r", {0, 0, 3});
    shape_of(*body.mutable_output(0)).mutable_dim(0)->set_dim_param("batch");
    shape_of(*body.mutable_output(0)).mutable_dim(1)->clear_dim_value();
  }
  const auto model = import_with(proto, {.by_name = {{"batch", 4}}});
  ASSERT_THAT(model, IsOk());
  const graph::Graph& body = *model->graph.nodes[2].subgraph("then_branch");
  EXPECT_EQ(graph::to_string(body.values[body.outputs[0]].type, {}), "float[4,?,3]");
}

TEST(DimensionOverrides, ByDenotationFixInputsAndWhatHasTheirName) {
  const auto model =
      import_with(open_model(), {.by_denotation = {{"data_batch", 2}, {"data_feature", 5}}});
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(type_of(*model, "x"), "float[2,5,3]");
  EXPECT_EQ(type_of(*model, "z"), "float[2,5,3]") << "inferred";
}

TEST(DimensionOverrides, MayRepeatWhatTheModelStates) {
  EXPECT_THAT(import_with(open_model(), {.by_denotation = {{"data_channel", 3}}}), IsOk());
  EXPECT_THAT(
      import_with(open_model(), {.by_name = {{"batch", 2}}, .by_denotation = {{"data_batch", 2}}}),
      IsOk());
}

TEST(DimensionOverrides, AreRefusedWhereTheyContradict) {
  const Status fixed = import_with(open_model(), {.by_denotation = {{"data_channel", 4}}}).status();
  EXPECT_EQ(fixed.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(fixed.message(),
              HasSubstr("a dimension of input \"x\" is 3, but the override of its denotation "
                        "\"DATA_CHANNEL\" makes it 4; leave one of them out"));
  const Status both =
      import_with(open_model(), {.by_name = {{"batch", 1}}, .by_denotation = {{"data_batch", 2}}})
          .status();
  EXPECT_EQ(both.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(both.message(), HasSubstr("dimension \"batch\" of input \"x\" is 1, but"));
}

TEST(DimensionOverrides, OfADefaultMustAgreeWithIt) {
  onnx::ModelProto proto = open_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "w", {0});
  shape_of(*graph.mutable_input(1)).mutable_dim(0)->set_dim_param("n");
  add_initializer(graph, "w", {2}, {1, 2});
  EXPECT_THAT(import_with(proto, {.by_name = {{"n", 2}}}), IsOk());
  EXPECT_THAT(import_with(proto, {.by_name = {{"n", 3}}}).status().message(),
              HasSubstr("initializer \"w\" is float[2], but is declared as float[3]"));
}

TEST(DimensionOverrides, WithoutEffectAreNamedWithTheNearestName) {
  ImportReport report;
  ASSERT_THAT(import_with(open_model(),
                          {.by_name = {{"bach", 1}, {"batch", 1}},
                           .by_denotation = {{"data_time", 1}, {"data_feature", 1}}},
                          &report),
              IsOk());
  EXPECT_THAT(
      report.without_effect,
      ElementsAre("the model has no dimension \"bach\", so its override has no effect; did you "
                  "mean \"batch\"?",
                  HasSubstr("no input of the model has a dimension with the denotation "
                            "\"data_time\", so its override has no effect")));
}

}  // namespace
}  // namespace ephost::onnx_io::dimension_overrides_test
