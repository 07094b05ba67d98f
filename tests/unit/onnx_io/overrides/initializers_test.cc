#include "host/onnx_io/overrides/initializers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::initializers_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::testing::float_tensor;

const std::byte* data_of(const graph::Graph& graph, std::string_view name) {
  return graph.constant(graph.find_value(name))->data.bytes.data();
}

TEST(InitializerReplacement, TakeThePlaceOfTheModelsWithoutACopy) {
  const graph::Tensor given = float_tensor({7, 8, 9});
  ImportReport report;
  const auto model =
      import_proto(small_model(), {.initializers = {{"w", {.tensor = given}}}}, &report);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(data_of(model->graph, "w"), given.data.bytes.data());
  EXPECT_THAT(report.given_initializers, ElementsAre(Key("w")));
  EXPECT_THAT(report.without_effect, ::testing::IsEmpty());
}

TEST(InitializerReplacement, LeaveExternalDataUnread) {
  const onnx::ModelProto proto = testing::model_with_external_data("absent");
  EXPECT_FALSE(import_proto(proto).ok());
  ImportReport report;
  const GivenInitializer given{.tensor = float_tensor({7, 8, 9}), .replaces_external = true};
  ASSERT_THAT(import_proto(proto, {.initializers = {{"w", given}}}, &report), IsOk());
  EXPECT_THAT(report.read_external_data, ::testing::IsEmpty());
  EXPECT_EQ(import_proto(small_model(), {.initializers = {{"w", given}}}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(InitializerReplacement, TakeThePlaceOfSparseOnes) {
  onnx::ModelProto proto = small_model();
  proto.mutable_graph()->clear_initializer();
  onnx::SparseTensorProto& sparse = *proto.mutable_graph()->add_sparse_initializer();
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
  sparse.add_dims(3);
  const graph::Tensor given = float_tensor({7, 8, 9});
  const auto model =
      import_proto(proto, {.max_dense_bytes = 1, .initializers = {{"w", {.tensor = given}}}});
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(data_of(model->graph, "w"), given.data.bytes.data());
}

// A body may have an initializer of the same name.
TEST(InitializerReplacement, AreThoseOfTheMainGraphOnly) {
  onnx::ModelProto proto = small_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_input(graph, "c", {}, onnx::TensorProto::BOOL);
  onnx::NodeProto& node = add_node(graph, "If", {"c"}, {"i"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = add_body(node, name);
    add_initializer(body, "v", {3}, {4, 5, 6});
    add_node(body, "Identity", {"v"}, {"r"});
    add_output(body, "r", {3});
  }
  ImportReport report;
  const graph::Tensor given = float_tensor({7, 8, 9});
  const auto model = import_proto(
      proto, {.initializers = {{"v", {.tensor = given}}, {"w", {.tensor = given}}}}, &report);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(data_of(model->graph, "w"), given.data.bytes.data());
  const graph::Graph& body = *model->graph.nodes[2].subgraph("then_branch");
  EXPECT_NE(data_of(body, "v"), given.data.bytes.data());
  EXPECT_THAT(report.without_effect, ElementsAre(HasSubstr("no initializer \"v\"")));
}

TEST(InitializerReplacement, AreRefusedWithAnotherTypeOrShape) {
  for (const graph::Tensor& tensor :
       {float_tensor({1, 2}), graph::testing::int64_tensor({1, 2, 3})}) {
    const Status refused =
        import_proto(small_model(), {.initializers = {{"w", {.tensor = tensor}}}}).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("but the model's is float[3]"));
  }
}

}  // namespace
}  // namespace ephost::onnx_io::initializers_test
