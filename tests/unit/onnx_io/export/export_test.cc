#include "host/onnx_io/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>

#include "host/base/files/file.h"
#include "host/graph/clone.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/export/rich_model.h"
#include "tests/unit/onnx_io/model_protos.h"
#include "tests/unit/onnx_io/model_text.h"

namespace ephost::onnx_io::export_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: the builders of model_protos.h and model_text.h
using graph::ElementType;
using graph::Graph;
using graph::Model;
using graph::Shape;
using graph::Tensor;
using graph::testing::GraphBuilder;

ExportedModel exported(const Model& model, const ExportOptions& options = {}) {
  Result<ExportedModel> result = export_model(model, options);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? std::move(result).value() : ExportedModel{};
}

std::string bytes_of(const EncodedFile& file) {
  const std::vector<std::byte> bytes = file.to_bytes();
  EXPECT_EQ(bytes.size(), file.size);
  const void* data = bytes.data();
  return {static_cast<const char*>(data), bytes.size()};
}

onnx::ModelProto parsed(const EncodedFile& file) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes_of(file)));
  return proto;
}

void expect_checked(const onnx::ModelProto& proto) {
  EXPECT_NO_THROW(onnx::checker::check_model(proto)) << proto.ShortDebugString();
}

Tensor floats(size_t count, float value = 1) {
  return graph::testing::make_tensor(ElementType::kFloat, {static_cast<int64_t>(count)},
                                     std::vector<float>(count, value));
}

Model model_of(Graph graph) {
  Model model{.graph = std::move(graph), .ir_version = 8, .opset_imports = {{"", 17}}};
  model.graph.name = "main";
  return model;
}

// x[n] + w[n] -> y[n].
Model model_with_weight(Tensor weight) {
  const graph::ValueType type = graph::testing::tensor_type(weight.type, weight.shape);
  Model model = model_of(GraphBuilder()
                             .input("x", type)
                             .constant("w", std::move(weight))
                             .node("Add", {"x", "w"}, {"y"})
                             .output("y")
                             .build());
  model.graph.values[model.graph.find_value("y")].type = type;
  return model;
}

TEST(Export, WhatItWritesReadsBackAsTheSameModel) {
  const Model model = rich_model();
  const ExportedModel file = exported(model);
  const auto again = import_model(graph::make_blob(file.model.to_bytes()));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(to_text(*again), to_text(model));
  EXPECT_EQ(exported(*again).model.to_bytes(), file.model.to_bytes());
}

TEST(Export, KeepsTheMetadataOfNodes) {
  Model model = model_with_weight(floats(4));
  model.graph.nodes[0].metadata = {{"origin", "layer.1"}, {"empty", ""}};
  const auto again = import_model(graph::make_blob(exported(model).model.to_bytes()));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->graph.nodes[0].metadata, model.graph.nodes[0].metadata);
  EXPECT_EQ(graph::clone(*again).graph.nodes[0].metadata, model.graph.nodes[0].metadata);
}

TEST(Export, RefusesMetadataOfANodeWithOneKeyTwice) {
  Model model = model_with_weight(floats(4));
  model.graph.nodes[0].metadata = {{"origin", "layer.1"}, {"origin", "layer.2"}};
  const auto again = import_model(graph::make_blob(exported(model).model.to_bytes()));
  EXPECT_EQ(again.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(again.status().message(),
              HasSubstr("metadata key \"origin\" of Add node \"y\" occurs twice"));
}

TEST(Export, MarksTheTypesThatTheModelDoesNotStateIfAsked) {
  Model model = model_with_weight(floats(4));
  graph::Value& output = model.graph.values[model.graph.outputs[0]];
  output.type = {
      .kind = graph::ValueKind::kTensor, .element = ElementType::kFloat, .shape = graph::Shape{4}};
  ExportOptions options;
  options.marks_inferred_types = true;
  const auto declared_again = [&] {
    const Model again = *import_model(graph::make_blob(exported(model, options).model.to_bytes()));
    const graph::Value& value = again.graph.values[again.graph.outputs[0]];
    EXPECT_EQ(value.type, output.type);
    return value.declared == nullptr ? std::nullopt : std::optional(*value.declared);
  };
  EXPECT_EQ(declared_again(), std::nullopt);
  graph::ValueType stated = output.type;
  stated.shape = graph::Shape{graph::kUnknownDim};
  output.declared = std::make_shared<const graph::ValueType>(stated);
  EXPECT_EQ(declared_again(), std::nullopt);
  output.declared = std::make_shared<const graph::ValueType>(output.type);
  EXPECT_EQ(declared_again(), output.type);
  options.marks_inferred_types = false;
  output.declared = nullptr;
  EXPECT_EQ(declared_again(), output.type);
}

TEST(Export, RefersToWhatIsOutside) {
  const Model model = model_with_weight(floats(4));
  ExportOptions options;
  options.outside.emplace(&model.graph.initializers[0], "eph:value/1");
  const ExportedModel file = exported(model, options);
  EXPECT_FALSE(file.external);
  EXPECT_TRUE(file.originals.empty());
  const onnx::ModelProto proto = parsed(file.model);
  const onnx::TensorProto& tensor = proto.graph().initializer(0);
  EXPECT_EQ(tensor.data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_FALSE(tensor.has_raw_data());
  ASSERT_EQ(tensor.external_data_size(), 3);
  EXPECT_EQ(tensor.external_data(0).value(), "eph:value/1");
  EXPECT_EQ(tensor.external_data(1).value(), "0");
  EXPECT_EQ(tensor.external_data(2).value(), "16");
}

TEST(Export, IsDeterministic) {
  const Model model = rich_model();
  EXPECT_EQ(exported(model).model.to_bytes(), exported(model).model.to_bytes());
  ExportOptions options;
  options.external_file_name = "data";
  EXPECT_EQ(exported(model, options).model.to_bytes(), exported(model, options).model.to_bytes());
  EXPECT_EQ(exported(model, options).external->to_bytes(),
            exported(model, options).external->to_bytes());
}

TEST(Export, SmallModelsAreWrittenAsProtobufWritesThem) {
  const auto model = import_proto(small_model());
  ASSERT_THAT(model, IsOk());
  const ExportedModel file = exported(*model);
  const onnx::ModelProto proto = parsed(file.model);
  EXPECT_EQ(proto.SerializeAsString(), bytes_of(file.model));
  expect_checked(proto);
}

TEST(Export, LargePayloadsAreBorrowedAndAligned) {
  const Model model = model_with_weight(floats(1000, 3));
  const ExportedModel file = exported(model);
  uint64_t offset = 0;
  bool found = false;
  for (const graph::Blob& part : file.model.parts) {
    if (part.bytes.data() == model.graph.initializers[0].data.bytes.data()) {
      found = true;
      EXPECT_EQ(offset % 64, 0u);
      EXPECT_EQ(part.owner, model.graph.initializers[0].data.owner);
    }
    offset += part.bytes.size();
  }
  EXPECT_TRUE(found);
  const onnx::ModelProto proto = parsed(file.model);
  expect_checked(proto);
  EXPECT_EQ(proto.graph().initializer(0).raw_data().size(), 4000u);
}

TEST(Export, WhatItWroteIsBorrowedWhenRead) {
  test::TempDirectory folder;
  const auto path = folder / "model.onnx";
  ASSERT_THAT(exported(model_with_weight(floats(1000))).write(path), IsOk());
  const auto model = import_model(path);
  ASSERT_THAT(model, IsOk());
  const Tensor& weight = model->graph.initializers[0];
  const auto* file = static_cast<const MappedFile*>(weight.data.owner.get());
  ASSERT_EQ(file->path(), path);
  EXPECT_GE(weight.data.bytes.data(), file->bytes().data());
  EXPECT_LT(weight.data.bytes.data(), file->bytes().data() + file->bytes().size());
}

TEST(Export, WritesEpContextNodesWithTheirPayload) {
  Model model =
      model_of(GraphBuilder()
                   .input("x", graph::testing::tensor_type(ElementType::kFloat, Shape{2}))
                   .node("EPContext", {"x"}, {"y"})
                   .attribute("embed_mode", int64_t{1})
                   .attribute("ep_cache_context",
                              graph::make_blob(std::vector<std::byte>(100'000, std::byte{'c'})))
                   .attribute("source", std::string("test"))
                   .output("y")
                   .build());
  model.graph.nodes[0].domain = "com.microsoft";
  model.graph.values[1].type = model.graph.values[0].type;
  model.opset_imports["com.microsoft"] = 1;
  const ExportedModel file = exported(model);
  const onnx::ModelProto proto = parsed(file.model);
  expect_checked(proto);
  EXPECT_EQ(proto.graph().node(0).attribute(1).s(), std::string(100'000, 'c'));
  const std::string bytes = bytes_of(file.model);
  EXPECT_EQ(bytes.find(std::string(1000, 'c')) % 64, 0u);
  const auto again = import_model(graph::make_blob(file.model.to_bytes()));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->graph.nodes[0].string("ep_cache_context"), std::string(100'000, 'c'));
}

TEST(Export, PutsInitializersIntoOneExternalFile) {
  test::TempDirectory folder;
  Graph graph = GraphBuilder()
                    .input("x", graph::testing::tensor_type(ElementType::kFloat, Shape{3}))
                    .constant("small", floats(3, 1))
                    .constant("large", floats(300'000, 2))
                    .constant("last", floats(5, 3))
                    .constant("none", floats(0))
                    .node("Any", {"x", "small", "large", "last", "none"}, {"y"})
                    .output("y")
                    .build();
  graph.nodes[0].domain = "com.example";
  graph.values[graph.outputs[0]].type =
      graph::testing::tensor_type(graph::ElementType::kFloat, graph::Shape{1});
  Model model = model_of(std::move(graph));
  model.opset_imports["com.example"] = 1;
  ExportOptions options;
  options.external_file_name = "weights.data";
  const ExportedModel file = exported(model, options);
  ASSERT_TRUE(file.external);
  const onnx::ModelProto proto = parsed(file.model);
  const auto entry = [&](int index, int number) {
    return proto.graph().initializer(index).external_data(number).value();
  };
  EXPECT_EQ(entry(0, 0), "weights.data");
  EXPECT_EQ(entry(0, 1), "0");
  EXPECT_EQ(entry(0, 2), "12");
  EXPECT_EQ(entry(1, 1), "4096");
  EXPECT_EQ(entry(1, 2), "1200000");
  EXPECT_EQ(entry(2, 1), std::to_string((4096 + 1'200'000 + 63) / 64 * 64));
  EXPECT_EQ(proto.graph().initializer(3).external_data_size(), 0);

  ASSERT_THAT(file.write(folder / "model.onnx"), IsOk());
  EXPECT_NO_THROW(onnx::checker::check_model((folder / "model.onnx").string()));
  const auto again = import_model(folder / "model.onnx");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(to_text(*again), to_text(model));
}

TEST(Export, KeepsTypesThatTheLinkedOnnxDoesNotKnow) {
  for (int32_t type = 17; type <= static_cast<int32_t>(ElementType::kInt2); ++type) {
    const auto element = static_cast<ElementType>(type);
    std::vector<uint8_t> bytes(*graph::byte_size(element, Shape{5}));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(0x71 * (i + 1));
    Graph graph = GraphBuilder()
                      .constant("w", graph::testing::make_tensor(element, {5}, bytes))
                      .node("Any", {"w"}, {"y"})
                      .output("y")
                      .build();
    graph.nodes[0].domain = "com.example";
    graph.values[graph.outputs[0]].type = graph::testing::tensor_type(element, Shape{5});
    Model model = model_of(std::move(graph));
    model.opset_imports["com.example"] = 1;
    for (const char* external : {"", "weights.data"}) {
      test::TempDirectory folder;
      ExportOptions options;
      options.external_file_name = external;
      ASSERT_THAT(exported(model, options).write(folder / "model.onnx"), IsOk());
      const auto again = import_model(folder / "model.onnx");
      ASSERT_THAT(again, IsOk());
      EXPECT_EQ(to_text(*again), to_text(model)) << type << external;
    }
  }
}

TEST(Export, StoresSharedDataOnce) {
  const Tensor weight = floats(2000);
  Graph graph = GraphBuilder()
                    .constant("a", weight)
                    .constant("b", weight)
                    .node("Add", {"a", "b"}, {"y"})
                    .output("y")
                    .build();
  ExportOptions options;
  options.external_file_name = "data";
  EXPECT_EQ(exported(model_of(std::move(graph)), options).external->size, 8000u);
}

TEST(Export, MakesNoExternalFileForAModelWithoutData) {
  ExportOptions options;
  options.external_file_name = "data";
  Model model = model_of(GraphBuilder().input("x").node("Relu", {"x"}, {"y"}).output("y").build());
  EXPECT_FALSE(exported(model, options).external);
}

// A model with `w`, whose data came from a file, and `v`, whose data did not.
Model model_of_two_origins(const test::TempDirectory& folder) {
  Model model = model_of(GraphBuilder()
                             .constant("w", graph::testing::float_tensor({1, 2, 3, 4}))
                             .constant("v", graph::testing::float_tensor({5, 6}))
                             .node("Add", {"w", "v"}, {"y"})
                             .output("y")
                             .build());
  folder.write("sub/old", "0123456789abcdef");
  model.graph.initializers[0].external = std::make_shared<const graph::ExternalLocation>(
      graph::ExternalLocation{.location = "old", .path = folder / "sub/old", .size = 16});
  return model;
}

TEST(Export, AsksForThePlaceOfEachInitializerOnce) {
  const test::TempDirectory folder;
  const Model model = model_of_two_origins(folder);
  std::vector<std::string> asked;
  ExportOptions options;
  options.external_file_name = "data";
  options.folder = folder.path();
  options.placement = [&](std::string_view name, const graph::Tensor&) -> Result<Placement> {
    asked.emplace_back(name);
    return name == "w" ? Placement::kOriginal : Placement::kExternal;
  };
  const ExportedModel file = exported(model, options);
  EXPECT_EQ(asked, (std::vector<std::string>{"w", "v"}));
  EXPECT_EQ(file.external->size, 8U);
  EXPECT_EQ(file.originals.at("sub/old"), folder / "sub/old");
  const onnx::ModelProto proto = parsed(file.model);
  EXPECT_EQ(proto.graph().initializer(0).external_data(0).value(), "sub/old");
  EXPECT_EQ(proto.graph().initializer(0).external_data(2).value(), "16");
  EXPECT_EQ(proto.graph().initializer(1).external_data(0).value(), "data");
}

TEST(Export, KeepsStatedLocationsOfAModelWithoutAFolder) {
  const test::TempDirectory folder;
  ExportOptions options;
  options.placement = [](std::string_view name, const graph::Tensor&) -> Result<Placement> {
    return name == "w" ? Placement::kOriginal : Placement::kEmbedded;
  };
  const ExportedModel file = exported(model_of_two_origins(folder), options);
  EXPECT_FALSE(file.external);
  EXPECT_EQ(parsed(file.model).graph().initializer(0).external_data(0).value(), "old");
}

TEST(Export, RefusesPlacesThatCannotBe) {
  const test::TempDirectory folder;
  const Model model = model_of_two_origins(folder);
  ExportOptions options;
  options.folder = folder / "elsewhere";
  Result<Placement> answer = Placement::kOriginal;
  options.placement = [&](std::string_view, const graph::Tensor&) { return answer; };
  const auto refused = [&] { return export_model(model, options).status().to_string(); };
  EXPECT_THAT(refused(), HasSubstr("does not lie below the model's folder"));
  options.folder = folder.path();
  options.external_file_name = "sub/old";
  EXPECT_THAT(refused(), HasSubstr("the external file has the name of its file"));
  options.external_file_name.clear();
  answer = Placement::kExternal;
  EXPECT_THAT(refused(), HasSubstr("initializer \"w\" is to be external, but no external file"));
  answer = Status(StatusCode::kEngineError, "undecided");
  EXPECT_EQ(refused(), "ENGINE_ERROR: undecided");
  options.folder.clear();
  answer = Placement::kOriginal;
  EXPECT_THAT(refused(),
              HasSubstr("initializer \"v\" is to stay where it is, but its data is not in a file"));
}

TEST(Export, RefusesExternalFilesOutsideTheModelsFolder) {
  const Model model = model_with_weight(floats(3));
  for (const char* name : {"/tmp/data", "../data", "a/../../data", "folder/"}) {
    ExportOptions options;
    options.external_file_name = name;
    const auto result = export_model(model, options);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(result.status().message(), HasSubstr("must be a relative path without \"..\""));
  }
}

TEST(Export, RefusesAlignmentsThatAreNone) {
  const Model model = model_with_weight(floats(3));
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{48}, uint64_t{1} << 40}) {
    ExportOptions options;
    options.external_file_name = "data";
    options.large_alignment = alignment;
    EXPECT_THAT(export_model(model, options).status().message(),
                HasSubstr("must be a power of two"));
  }
}

// Address space without memory behind it.
class HugeBlob {
 public:
  explicit HugeBlob(size_t size) : size_(size) {
    address_ = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  HugeBlob(const HugeBlob&) = delete;
  HugeBlob& operator=(const HugeBlob&) = delete;
  ~HugeBlob() {
    if (ok()) ::munmap(address_, size_);
  }
  bool ok() const { return address_ != MAP_FAILED; }
  graph::Blob blob() const { return {.bytes = {static_cast<const std::byte*>(address_), size_}}; }

 private:
  size_t size_;
  void* address_;
};

TEST(Export, RefusesToEmbedMoreThanProtobufHolds) {
  const HugeBlob huge(size_t{3} << 30);
  if (!huge.ok()) GTEST_SKIP() << "no address space";
  const Model model = model_with_weight(
      {.type = ElementType::kUint8, .shape = {int64_t{3} << 30}, .data = huge.blob()});
  const auto refused = export_model(model);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kFail);
  EXPECT_THAT(
      refused.status().message(),
      HasSubstr("an ONNX file holds at most 2 GiB; name an external file for its initializers"));
  ExportOptions options;
  options.external_file_name = "data";
  const ExportedModel file = exported(model, options);
  EXPECT_EQ(file.external->size, uint64_t{3} << 30);
  EXPECT_LT(file.model.size, 1000u);
}

TEST(Export, RaisesOldIrVersionsToTheFirstThatAllowsConstants) {
  onnx::ModelProto proto = small_model();
  proto.set_ir_version(3);
  add_input(*proto.mutable_graph(), "w", {3});
  const auto model = import_proto(proto);
  ASSERT_THAT(model, IsOk());
  const onnx::ModelProto written = parsed(exported(*model).model);
  EXPECT_EQ(written.ir_version(), 4);
  EXPECT_EQ(written.graph().input_size(), 1);
  expect_checked(written);
}

Graph graph_with_capture(const std::string& inner_name, const std::string& local_name) {
  GraphBuilder outer;
  outer.input("cond", graph::testing::tensor_type(ElementType::kBool, Shape{}))
      .input("x", graph::testing::tensor_type(ElementType::kFloat, Shape{2}));
  Graph body = GraphBuilder()
                   .capture(inner_name, outer.value("x"))
                   .node("Neg", {inner_name}, {local_name})
                   .output(local_name)
                   .build();
  Graph other = clone(body);
  return outer.node("If", {"cond"}, {"y"})
      .subgraph("then_branch", std::move(body))
      .subgraph("else_branch", std::move(other))
      .output("y")
      .build();
}

TEST(Export, WritesCapturedValuesUnderTheNameTheyHaveOutside) {
  const onnx::ModelProto proto = parsed(exported(model_of(graph_with_capture("inner", "n"))).model);
  EXPECT_EQ(proto.graph().node(0).attribute(0).g().node(0).input(0), "x");
}

TEST(Export, RefusesASubgraphWhoseNamesWouldClash) {
  const auto result = export_model(model_of(graph_with_capture("inner", "x")));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(result.status().message(), HasSubstr("captures \"x\" and has a value of that name"));
}

TEST(Export, WritesFilesOrNothing) {
  test::TempDirectory folder;
  ExportOptions options;
  options.external_file_name = "data";
  const ExportedModel file = exported(model_with_weight(floats(3)), options);
  EXPECT_EQ(file.write(folder / "none/model.onnx").code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(file.write(folder / "data").message(), HasSubstr("would both be"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THAT(file.write(folder / "model.onnx"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(folder / "data"));
}

}  // namespace
}  // namespace ephost::onnx_io::export_test
