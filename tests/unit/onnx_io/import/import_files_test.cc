#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "host/base/files/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::import_files_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the builders of model_protos.h
using graph::Model;

TEST(ImportFiles, BorrowsLargeInitializersFromTheMappedFile) {
  test::TempDirectory folder;
  onnx::ModelProto proto = small_model();
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.clear_initializer();
  onnx::TensorProto& w = *graph.add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(1024);
  w.add_dims(3);
  w.set_raw_data(std::string(1024 * 3 * 4, '\0'));
  // Aligned in the file, as our own exporter places it.
  while (proto.SerializeAsString().find(std::string(1024 * 3 * 4, '\0')) % 4 != 0) {
    proto.set_producer_name(proto.producer_name() + "x");
  }
  graph.mutable_output(0)->mutable_type()->clear_tensor_type();
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  const auto path = folder.write("model.onnx", proto.SerializeAsString());
  std::optional<Model> copy;
  {
    Result<Model> model = import_model(path);
    ASSERT_THAT(model, IsOk());
    copy = std::move(model).value();
  }
  const graph::Tensor& tensor = copy->graph.initializers[0];
  ASSERT_EQ(tensor.data.bytes.size(), 12288u);
  ASSERT_TRUE(tensor.data.owner);
  const auto* file = static_cast<const MappedFile*>(tensor.data.owner.get());
  EXPECT_EQ(file->path(), path);
  EXPECT_GE(tensor.data.bytes.data(), file->bytes().data());
  EXPECT_LE(tensor.data.bytes.data() + 12288, file->bytes().data() + file->bytes().size());
}

TEST(ImportFiles, NamesTheFileInMessages) {
  test::TempDirectory folder;
  const auto path = folder.write("broken.onnx", "not a model");
  const auto model = import_model(path);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(model.status().message(), HasSubstr("while importing"));
  EXPECT_THAT(model.status().message(), HasSubstr("broken.onnx"));
  EXPECT_EQ(import_model(folder / "none.onnx").status().code(), StatusCode::kNoSuchFile);
}

TEST(ImportFiles, FindsExternalDataBesideTheModel) {
  test::TempDirectory folder;
  const auto path =
      folder.write("model.onnx", testing::model_with_external_data("w.bin").SerializeAsString());
  EXPECT_EQ(import_model(path).status().code(), StatusCode::kNoSuchFile);
  folder.write("w.bin", std::string(12, 'w'));
  const auto model = import_model(path);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->graph.initializers[0].data.bytes[0], std::byte{'w'});
}

TEST(ImportFiles, FindsExternalDataWhereOptionsSay) {
  test::TempDirectory folder;
  folder.write("w.bin", std::string(12, 'w'));
  const onnx::ModelProto proto = testing::model_with_external_data("w.bin");
  EXPECT_EQ(import_proto(proto).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(import_proto(proto, {.external_data_dir = folder.path()}), IsOk());
  const std::string content(12, 'b');
  ImportOptions options;
  options.external_files["w.bin"] = as_blob(content);
  const auto model = import_proto(proto, options);
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->graph.initializers[0].data.bytes[0], std::byte{'b'});
}

TEST(ImportFiles, FindsExternalDataOfAttributes) {
  test::TempDirectory folder;
  folder.write("w.bin", std::string(12, 'w'));
  onnx::ModelProto proto = empty_model();
  onnx::NodeProto& node = add_node(*proto.mutable_graph(), "Constant", {}, {"y"});
  *add_attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t() =
      testing::model_with_external_data("w.bin").graph().initializer(0);
  add_output(*proto.mutable_graph(), "y", {3});
  const auto model = import_proto(proto, {.external_data_dir = folder.path()});
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(std::get<graph::Tensor>(*model->graph.nodes[0].attribute("value")).data.bytes[0],
            std::byte{'w'});
}

}  // namespace
}  // namespace ephost::onnx_io::import_files_test
