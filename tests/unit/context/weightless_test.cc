// Context models whose nodes name constants that stay outside of the payload: what is written, and
// every way in which it may come back changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/hash.h"
#include "host/context/read/verify.h"
#include "host/onnx_io/export/export.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"
#include "tests/unit/context/write/writer_helpers.h"

namespace ephost::context::weightless_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using testing::content_of;
using ::testing::ElementsAre;
using testing::files_in;
using testing::four;
using ::testing::HasSubstr;
using testing::load_file;
using testing::Loaded;
using testing::sample_model;
using testing::sample_partitions;
using testing::writer_of;

// `first` names w1, and `second` w3 and w1, which it does not read.
Result<WrittenContext> write_weightless(const WriteOptions& options) {
  graph::Model model = sample_model();
  std::vector<WrittenPartition> partitions = sample_partitions(model.graph);
  partitions[0].constants = {model.graph.find_value("w1")};
  partitions[1].constants = {model.graph.find_value("w3"), model.graph.find_value("w1")};
  ContextWriter writer = writer_of(options);
  return std::move(writer).finish(std::move(model), partitions, {});
}

std::vector<float> elements(const graph::Tensor& tensor) {
  std::vector<float> values(tensor.data.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.bytes.data(), tensor.data.bytes.size());
  return values;
}

// The context model in memory, as a session would import it.
graph::Model imported(const fs::path& path) {
  auto model = onnx_io::import_model(path);
  EXPECT_THAT(model, IsOk());
  return std::move(model).value();
}

TEST(WeightlessContext, ComesBackWithItsConstantsInTheirOrder) {
  const TempDirectory dir;
  for (const bool embed : {false, true}) {
    for (const char* weights : {"", "w.bin"}) {
      SCOPED_TRACE(std::string(embed ? "embedded " : "file ") + weights);
      const fs::path path = dir / "m_ctx.onnx";
      const auto written = write_weightless({.output_path = path,
                                             .embed = embed,
                                             .external_initializers_file_name = weights,
                                             .force_overwrite = true});
      ASSERT_THAT(written, IsOk());
      const Result<Loaded> loaded = load_file(path);
      ASSERT_THAT(loaded, IsOk());
      const auto& partitions = loaded->context.partitions;
      ASSERT_EQ(partitions.size(), 2U);
      ASSERT_EQ(partitions[0].constants.size(), 1U);
      EXPECT_EQ(partitions[0].attributes.constants[0].name, "w1");
      EXPECT_THAT(elements(partitions[0].constants[0]), ElementsAre(1, 1, 1, 1));
      ASSERT_EQ(partitions[1].constants.size(), 2U);
      EXPECT_EQ(partitions[1].attributes.constants[0].name, "w3");
      EXPECT_THAT(elements(partitions[1].constants[0]), ElementsAre(3, 3, 3, 3));
      EXPECT_THAT(elements(partitions[1].constants[1]), ElementsAre(1, 1, 1, 1));
      // Once for both nodes.
      EXPECT_EQ(partitions[1].constants[1].data.bytes.data(),
                partitions[0].constants[0].data.bytes.data());
      EXPECT_EQ(loaded->model->graph.initializers.size(), 3U);
    }
  }
}

TEST(WeightlessContext, StatesTypeChecksumAndName) {
  const TempDirectory dir;
  ASSERT_THAT(write_weightless({.output_path = dir / "m_ctx.onnx"}), IsOk());
  const graph::Model model = imported(dir / "m_ctx.onnx");
  const auto* entries = std::get_if<std::vector<std::string>>(
      model.graph.nodes[0].attribute(kNamedConstantsAttribute));
  ASSERT_NE(entries, nullptr);
  const graph::Tensor one = four(1);
  EXPECT_THAT(
      *entries,
      ElementsAre("float[4] " + to_string(ContentChecksum{content_checksum(one.data.bytes), 16}) +
                  " w1"));
}

TEST(WeightlessContext, PassesTheOnnxChecker) {
  const TempDirectory dir;
  ASSERT_THAT(
      write_weightless({.output_path = dir / "m_ctx.onnx", .external_initializers_file_name = "w"}),
      IsOk());
  EXPECT_NO_THROW(onnx::checker::check_model((dir / "m_ctx.onnx").native()));
}

// As a host checks a node whose operator it knows, such as ONNX Runtime its EPContext.
TEST(WeightlessContext, HasAnAttributeThatOperatorChecksIgnore) {
  onnx::NodeProto node;
  node.set_op_type("Relu");
  node.add_input("x");
  node.add_output("y");
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(std::string(kNamedConstantsAttribute));
  attribute.set_type(onnx::AttributeProto::STRINGS);
  onnx::checker::CheckerContext context;
  context.set_ir_version(8);
  context.set_opset_imports({{"", 17}});
  onnx::checker::LexicalScopeContext scope;
  EXPECT_NO_THROW(onnx::checker::check_node(node, context, scope));
  attribute.set_name("ephost_constants");
  EXPECT_ANY_THROW(onnx::checker::check_node(node, context, scope));
}

TEST(WeightlessContext, HasTheSameBytesEachTime) {
  const TempDirectory dir;
  fs::create_directory(dir / "a");
  fs::create_directory(dir / "b");
  for (const char* folder : {"a", "b"}) {
    ASSERT_THAT(write_weightless({.output_path = dir / folder / "m_ctx.onnx"}), IsOk());
  }
  EXPECT_EQ(content_of(dir / "a/m_ctx.onnx"), content_of(dir / "b/m_ctx.onnx"));
}

TEST(WeightlessContext, WorksInAnotherFolder) {
  const TempDirectory dir;
  fs::create_directory(dir / "a");
  ASSERT_THAT(write_weightless(
                  {.output_path = dir / "a/m_ctx.onnx", .external_initializers_file_name = "w"}),
              IsOk());
  fs::rename(dir / "a", dir / "b");
  const Result<Loaded> loaded = load_file(dir / "b/m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(elements(loaded->context.partitions[0].constants[0]), ElementsAre(1, 1, 1, 1));
}

TEST(WeightlessContext, RefusesToKeepWhatIsNoConstant) {
  const graph::Model model = sample_model();
  auto partitions = sample_partitions(model.graph);
  partitions[0].constants = {model.graph.find_value("b")};
  EXPECT_THAT(testing::refusal(partitions).message(), HasSubstr("is not a constant"));
  partitions[0].constants = {99};
  EXPECT_THAT(testing::refusal(partitions).message(), HasSubstr("is not a constant"));
}

// What the loader says of the model after `change`; verification says the same.
std::string refusal_after(const std::function<void(graph::Graph&)>& change,
                          const LoadOptions& options = {}) {
  const TempDirectory dir;
  EXPECT_THAT(write_weightless({.output_path = dir / "m_ctx.onnx", .embed = true}), IsOk());
  graph::Model model = imported(dir / "m_ctx.onnx");
  change(model.graph);
  graph::connect(model.graph);
  const auto loaded = load_context(model, options);
  const VerifyReport report = verify_context_model(model, options);
  if (loaded.ok()) {
    EXPECT_TRUE(report.problems.empty());
    return "accepted";
  }
  EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidGraph);
  EXPECT_FALSE(report.problems.empty());
  if (!report.problems.empty()) {
    EXPECT_EQ(report.problems.front(), loaded.status().message());
  }
  return loaded.status().message();
}

graph::Tensor& tensor_of(graph::Graph& graph, std::string_view name) {
  return graph.initializers[graph.values[graph.find_value(name)].initializer];
}

TEST(WeightlessContext, IsRefusedWhereAConstantWasDamaged) {
  EXPECT_EQ(refusal_after([](graph::Graph&) {}), "accepted");
  const auto damage = [](graph::Graph& graph) {
    graph::Tensor changed = four(1);
    auto bytes = std::vector<std::byte>(changed.data.bytes.begin(), changed.data.bytes.end());
    bytes[7] ^= std::byte{1};
    tensor_of(graph, "w1").data = graph::make_blob(std::move(bytes));
  };
  EXPECT_THAT(refusal_after(damage),
              HasSubstr("EPContext node \"first\": its constant \"w1\" has the checksum"));
  EXPECT_EQ(refusal_after(damage, {.verify_checksums = false}), "accepted");
}

TEST(WeightlessContext, IsRefusedWhereAConstantHasAnotherTypeOrShape) {
  EXPECT_THAT(refusal_after([](graph::Graph& graph) {
                tensor_of(graph, "w3").type = graph::ElementType::kInt32;
              }),
              HasSubstr("EPContext node \"second\": its constant \"w3\" is int32[4], but it was "
                        "compiled with \"float[4]\""));
  EXPECT_THAT(refusal_after([](graph::Graph& graph) {
                tensor_of(graph, "w1").shape = {2, 2};
              }),
              HasSubstr("its constant \"w1\" is float[2,2], but"));
  EXPECT_THAT(refusal_after([](graph::Graph& graph) {
                tensor_of(graph, "w1") = graph::testing::float_tensor({1, 1, 1});
              }),
              HasSubstr("its constant \"w1\" is float[3], but"));
}

TEST(WeightlessContext, IsRefusedWhereAConstantIsMissing) {
  EXPECT_THAT(refusal_after([](graph::Graph& graph) {
                graph.values[graph.find_value("w1")].name = "renamed";
              }),
              HasSubstr("it names \"w1\", which is not a constant of its graph; compile"));
  // A caller could override an input that has a default.
  EXPECT_THAT(
      refusal_after([](graph::Graph& graph) { graph.inputs.push_back(graph.find_value("w1")); }),
      HasSubstr("it names \"w1\", which is not a constant of its graph"));
}

TEST(WeightlessContext, IsRefusedWhereTwoConstantsChangedPlaces) {
  EXPECT_THAT(refusal_after([](graph::Graph& graph) {
                std::swap(tensor_of(graph, "w1"), tensor_of(graph, "w3"));
              }),
              HasSubstr("its constant \"w1\" has the checksum"));
}

// Whatever is cut off or changed, the model is refused, or its constants are what they were.
TEST(WeightlessContext, SurvivesDamageAnywhere) {
  const TempDirectory dir;
  ASSERT_THAT(write_weightless({.output_path = dir / "m_ctx.onnx", .embed = true}), IsOk());
  const std::string good = content_of(dir / "m_ctx.onnx");
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    const graph::Blob bytes = testing::blob_of(bad);
    const auto model = onnx_io::import_model(bytes);
    if (!model.ok()) continue;
    const auto loaded = load_context(*model, {});
    if (!loaded.ok()) continue;
    for (const CachedPartition& partition : loaded->partitions) {
      ASSERT_EQ(partition.constants.size(), partition.attributes.constants.size());
      for (const graph::Tensor& tensor : partition.constants) {
        const std::vector<float> values = elements(tensor);
        EXPECT_TRUE(values == std::vector<float>(4, 1) || values == std::vector<float>(4, 3)) << at;
      }
    }
  }
}

}  // namespace
}  // namespace ephost::context::weightless_test
