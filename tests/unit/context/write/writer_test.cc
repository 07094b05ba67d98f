// The content of the context models that the writer makes. For its output files see
// writer_output_test.cc.
#include "host/context/write/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>

#include <atomic>

#include "host/context/read/verify.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"
#include "tests/unit/context/write/writer_helpers.h"

namespace ephost::context::writer_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using testing::content_of;
using ::testing::ElementsAre;
using testing::files_in;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::load_file;
using testing::Loaded;
using testing::partition_of;
using testing::refusal;
using testing::sample_model;
using testing::sample_partitions;
using testing::text_of;
using testing::write_sample;
using testing::writer_of;

TEST(ContextWriter, WritesAModelThatLoads) {
  const TempDirectory dir;
  const Result<WrittenContext> written = write_sample(
      {.output_path = dir / "m_ctx.onnx", .source_path = "somewhere/m.onnx"}, "the payload");
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin"));
  EXPECT_EQ(content_of(dir / "m_test.bin"), "the payload");
  EXPECT_EQ(written->remaining_nodes, 1U);
  ASSERT_EQ(written->files.size(), 2U);
  EXPECT_EQ(written->files[0].path, dir / "m_test.bin");
  EXPECT_EQ(written->files[0].checksum.size, 11U);
  EXPECT_EQ(written->files[1].path, dir / "m_ctx.onnx");
  EXPECT_EQ(written->files[1].checksum.size, fs::file_size(dir / "m_ctx.onnx"));

  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("first"), "the payload");
  EXPECT_EQ(loaded->context.compatibility.at(std::string(testing::kSource)), "works with 1.2");
  EXPECT_EQ(loaded->model->opset_imports.at("com.microsoft"), 1);
  EXPECT_EQ(loaded->model->producer_name, "ephost");
  const EpContextNode& node = loaded->context.partitions[0].attributes;
  EXPECT_EQ(node.sdk_version, "sdk 1.2");
  EXPECT_EQ(node.hardware_architecture, "avx2");
  EXPECT_EQ(node.onnx_model_filename, "m.onnx");
  EXPECT_EQ(node.notes, "a note");
  EXPECT_EQ(node.max_size, 7);
}

TEST(ContextWriter, EmbedsPayloads) {
  const TempDirectory dir;
  const std::string payload(3 << 20, 'p');
  const Result<WrittenContext> written =
      write_sample({.output_path = dir / "m_ctx.onnx", .embed = true}, payload);
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx"));
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("second"), payload);
}

TEST(ContextWriter, EmbedsAnEmptyPayload) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx", .embed = true}, ""), IsOk());
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("first"), "");
}

TEST(ContextWriter, TakesPayloadsInPiecesOfAnySize) {
  for (const bool embed : {false, true}) {
    const TempDirectory dir;
    Result<ContextWriter> writer =
        ContextWriter::create({.output_path = dir / "m_ctx.onnx", .embed = embed});
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(writer->begin_payload("test"), IsOk());
    std::string expected;
    for (const size_t size : {1, 0, 7, 300000, 262144, 1, 100000, 262143}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      ASSERT_THAT(writer->append(0, as_bytes(piece)), IsOk());
      expected += piece;
    }
    graph::Model model = sample_model();
    const auto partitions = sample_partitions(model.graph);
    ASSERT_THAT(std::move(*writer).finish(std::move(model), partitions, {}), IsOk());
    const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
    ASSERT_THAT(loaded, IsOk());
    EXPECT_TRUE(loaded->payload_of("first") == expected);
  }
}

TEST(ContextWriter, HandsOutAModelInMemory) {
  const Result<WrittenContext> written =
      write_sample({.destination = Destination::kMemory, .embed = true}, "in memory");
  ASSERT_THAT(written, IsOk());
  EXPECT_TRUE(written->files.empty());
  const Result<graph::Model> model = onnx_io::import_model(written->model);
  ASSERT_THAT(model, IsOk());
  const Result<LoadedContext> loaded = load_context(*model, {});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(text_of(loaded->payloads[0].bytes), "in memory");
}

TEST(ContextWriter, WritesTheBinariesOfAModelInMemoryBesideItsPath) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx",
                             .destination = Destination::kMemory};
  const Result<WrittenContext> written = write_sample(options, "beside");
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_test.bin"));
  const Result<graph::Model> model = onnx_io::import_model(written->model);
  ASSERT_THAT(model, IsOk());
  EXPECT_THAT(load_context(*model, {.folder = dir.path()}), IsOk());

  const Result<WrittenContext> again = write_sample(options, "other");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().code(), StatusCode::kFail);
  EXPECT_THAT(again.status().message(), HasSubstr("m_test.bin\" exists already"));
}

TEST(ContextWriter, GivesModelAndBinariesToFunctions) {
  std::map<std::string, std::string> binaries;
  std::string model;
  WriteOptions options{.output_path = "m_ctx.onnx", .destination = Destination::kFunction};
  options.write_payload = [&](const std::string& name, std::span<const std::byte> bytes) {
    EXPECT_TRUE(model.empty());
    binaries[name] = text_of({.bytes = bytes});
    return Status();
  };
  options.write_model = [&](std::span<const std::byte> bytes) {
    EXPECT_LE(bytes.size(), kModelPieceBytes);
    model += text_of({.bytes = bytes});
    return Status();
  };
  const Result<WrittenContext> written = write_sample(options, "kept elsewhere");
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(written->files, IsEmpty());
  EXPECT_THAT(binaries, ElementsAre(::testing::Pair("m_test.bin", "kept elsewhere")));
  EXPECT_FALSE(fs::exists("m_test.bin"));
  const Result<graph::Model> again = onnx_io::import_model(testing::blob_of(model));
  ASSERT_THAT(again, IsOk());
  LoadOptions load_options;
  load_options.read_payload = [&](const std::string& name) -> Result<graph::Blob> {
    return testing::blob_of(binaries.at(name));
  };
  const Result<LoadedContext> loaded = load_context(*again, load_options);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(text_of(loaded->payloads[0].bytes), "kept elsewhere");
}

TEST(ContextWriter, WritesAModelWithoutPartitionsAsItIs) {
  const TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"}, 0);
  const Result<WrittenContext> written = std::move(writer).finish(sample_model(), {}, {});
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(written->remaining_nodes, 5U);
  const Result<graph::Model> model = onnx_io::import_model(dir / "m_ctx.onnx");
  ASSERT_THAT(model, IsOk());
  EXPECT_FALSE(model->opset_imports.contains("com.microsoft"));
  EXPECT_TRUE(model->metadata.empty());
}

TEST(ContextWriter, OnePayloadHasOnePrimaryNode) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}), IsOk());
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->context.partitions.size(), 2U);
  const EpContextNode& first = loaded->context.partitions[0].attributes;
  const EpContextNode& second = loaded->context.partitions[1].attributes;
  EXPECT_TRUE(first.main_context);
  EXPECT_EQ(first.reference, "m_test.bin");
  EXPECT_FALSE(second.main_context);
  EXPECT_EQ(second.reference, "first");
  EXPECT_EQ(second.partition_name, "second");
  EXPECT_EQ(loaded->context.payloads.size(), 1U);
}

TEST(ContextWriter, NumbersFurtherPayloadsOfAProvider) {
  const TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"}, 2);
  graph::Model model = sample_model();
  auto partitions = sample_partitions(model.graph);
  partitions[1].payload = 1;
  ASSERT_THAT(std::move(writer).finish(std::move(model), partitions, {}), IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin", "m_test_1.bin"));
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("first"), "payload 0");
  EXPECT_EQ(loaded->payload_of("second"), "payload 1");
}

TEST(ContextWriter, GivesEachProviderItsOwnNodesAndBinary) {
  const TempDirectory dir;
  Result<ContextWriter> writer = ContextWriter::create({.output_path = dir / "m_ctx.onnx"});
  ASSERT_THAT(writer, IsOk());
  // The third name belongs to the second payload of the first provider.
  for (const std::string_view name : {"test", "test", "test_1"}) {
    const Result<uint32_t> payload = writer->begin_payload(name);
    ASSERT_THAT(payload, IsOk());
    ASSERT_THAT(writer->append(*payload, as_bytes("of payload " + std::to_string(*payload))),
                IsOk());
  }
  graph::Model model = sample_model();
  std::vector<WrittenPartition> partitions{partition_of(model.graph, "a", {0}, "x", "a", 0),
                                           partition_of(model.graph, "b", {1}, "a", "b", 1),
                                           partition_of(model.graph, "c", {3, 4}, "c", "y", 2)};
  partitions[2].source = "OtherExecutionProvider";
  ASSERT_THAT(std::move(*writer).finish(std::move(model), partitions, {}), IsOk());
  EXPECT_THAT(files_in(dir.path()),
              ElementsAre("m_ctx.onnx", "m_test.bin", "m_test_1.bin", "m_test_1_1.bin"));
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("b"), "of payload 1");
  EXPECT_EQ(loaded->payload_of("c"), "of payload 2");
  EXPECT_EQ(loaded->context.payloads[2].source, "OtherExecutionProvider");
}

// Inputs x0 and x1, outputs y1 and y0, in this order.
graph::Model crossed_model() {
  graph::Model model = testing::wrap(GraphBuilder()
                                         .input("x0", testing::vector_type())
                                         .input("x1", testing::vector_type())
                                         .node("Neg", {"x1"}, {"y1"})
                                         .node("Relu", {"x0"}, {"y0"})
                                         .node("Abs", {"x0"}, {"rest"})
                                         .output("y1")
                                         .output("rest")
                                         .output("y0")
                                         .build());
  for (graph::Value& value : model.graph.values) value.type = testing::vector_type();
  return model;
}

TEST(ContextWriter, KeepsInputsAndOutputsInOrder) {
  const TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"});
  graph::Model model = crossed_model();
  WrittenPartition partition = partition_of(model.graph, "p", {0, 1}, "x1", "y0");
  partition.inputs.push_back(model.graph.find_value("x0"));
  partition.outputs.push_back(model.graph.find_value("y1"));
  ASSERT_THAT(std::move(writer).finish(std::move(model), {{partition}}, {}), IsOk());
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  const graph::Graph& graph = loaded->model->graph;
  using graph::testing::value_names;
  EXPECT_THAT(value_names(graph, graph.inputs), ElementsAre("x0", "x1"));
  EXPECT_THAT(value_names(graph, graph.outputs), ElementsAre("y1", "rest", "y0"));
  const graph::Node& node = graph.nodes[loaded->context.partitions[0].place.node];
  EXPECT_THAT(value_names(graph, node.inputs), ElementsAre("x1", "x0"));
  EXPECT_THAT(value_names(graph, node.outputs), ElementsAre("y0", "y1"));
}

// If(condition) with then: Relu(x + w1), else: Neg(x), followed by Abs.
graph::Model nested_model() {
  GraphBuilder builder;
  builder.input("condition", graph::testing::tensor_type(graph::ElementType::kBool, graph::Shape{}))
      .input("x", testing::vector_type())
      .constant("w1", testing::four(1));
  graph::Graph then_branch = GraphBuilder()
                                 .capture("x", builder.value("x"))
                                 .capture("w1", builder.value("w1"))
                                 .node("Add", {"x", "w1"}, {"sum"})
                                 .node("Relu", {"sum"}, {"then_y"})
                                 .output("then_y")
                                 .build();
  graph::Graph else_branch = GraphBuilder()
                                 .capture("x", builder.value("x"))
                                 .node("Neg", {"x"}, {"else_y"})
                                 .output("else_y")
                                 .build();
  for (graph::Graph* branch : {&then_branch, &else_branch}) {
    branch->name = "branch";
    for (graph::Value& value : branch->values) value.type = testing::vector_type();
  }
  graph::Model model = testing::wrap(builder.node("If", {"condition"}, {"chosen"})
                                         .subgraph("then_branch", std::move(then_branch))
                                         .subgraph("else_branch", std::move(else_branch))
                                         .node("Abs", {"chosen"}, {"y"})
                                         .output("y")
                                         .build());
  for (const std::string_view name : {"chosen", "y"}) {
    model.graph.values[model.graph.find_value(name)].type = testing::vector_type();
  }
  return model;
}

TEST(ContextWriter, WritesPartitionsInNestedGraphs) {
  const TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"});
  graph::Model model = nested_model();
  const graph::Node& branches = model.graph.nodes[0];
  WrittenPartition inner =
      partition_of(*branches.subgraph("then_branch"), "inner", {0, 1}, "x", "then_y");
  inner.graph = {{.node = 0, .subgraph = 0}};
  WrittenPartition other =
      partition_of(*branches.subgraph("else_branch"), "other", {0}, "x", "else_y");
  other.graph = {{.node = 0, .subgraph = 1}};
  const std::vector<WrittenPartition> partitions{
      partition_of(model.graph, "outer", {1}, "chosen", "y"), inner, other};
  const auto written = std::move(writer).finish(std::move(model), partitions, {});
  ASSERT_THAT(written, IsOk());
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->context.partitions.size(), 3U);
  EXPECT_EQ(loaded->payload_of("inner"), "payload 0");
  EXPECT_EQ(loaded->payload_of("other"), "payload 0");
  // Only the inner partition used the constant.
  EXPECT_TRUE(loaded->model->graph.initializers.empty());
}

TEST(ContextWriter, DropsInitializersThatOnlyPartitionsUsed) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}), IsOk());
  const Result<graph::Model> model = onnx_io::import_model(dir / "m_ctx.onnx");
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->graph.initializers.size(), 1U);
  EXPECT_NE(model->graph.constant(model->graph.find_value("w2")), nullptr);
  EXPECT_EQ(model->graph.nodes.size(), 3U);
}

TEST(ContextWriter, WritesInitializersToTheNamedFile) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx",
                             .external_initializers_file_name = "m.weights"};
  const Result<WrittenContext> written = write_sample(options);
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m.weights", "m_ctx.onnx", "m_test.bin"));
  EXPECT_EQ(written->files[1].path, dir / "m.weights");
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  const graph::Graph& graph = loaded->model->graph;
  EXPECT_EQ(graph.constant(graph.find_value("w2"))->data.bytes.size(), 16U);

  // A checksum other than the stated one is found.
  std::string weights = content_of(dir / "m.weights");
  weights[0] ^= 1;
  dir.write("m.weights", weights);
  const Result<Loaded> damaged = load_file(dir / "m_ctx.onnx");
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.status().code(), StatusCode::kInvalidGraph);
}

TEST(ContextWriter, WritesTheSameBytesForTheSameInput) {
  const TempDirectory dir;
  fs::create_directory(dir / "a");
  fs::create_directory(dir / "b");
  for (const bool embed : {false, true}) {
    for (const std::string_view folder : {"a", "b"}) {
      ASSERT_THAT(write_sample({.output_path = dir / folder / "m_ctx.onnx",
                                .embed = embed,
                                .external_initializers_file_name = "weights",
                                .overwrite = true}),
                  IsOk());
    }
    for (const std::string& name : files_in(dir / "a")) {
      EXPECT_EQ(content_of(dir / "a" / name), content_of(dir / "b" / name)) << name;
    }
  }
}

TEST(ContextWriter, WritesAModelThatPassesTheOnnxChecker) {
  const TempDirectory dir;
  for (const bool embed : {false, true}) {
    const fs::path path = dir / (embed ? "e_ctx.onnx" : "m_ctx.onnx");
    ASSERT_THAT(write_sample({.output_path = path,
                              .embed = embed,
                              .external_initializers_file_name = "w",
                              .overwrite = true}),
                IsOk());
    EXPECT_NO_THROW(onnx::checker::check_model(path.native()));
    fs::remove(dir / "w");
  }
}

TEST(ContextWriter, RefusesPartitionsThatDoNotFitTogether) {
  const graph::Model model = sample_model();
  auto partitions = sample_partitions(model.graph);
  partitions[1].name = "first";
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("two partitions are named \"first\""));
  partitions[1].name = "";
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("the partition name \"\""));
  partitions = sample_partitions(model.graph);
  partitions[0].source = "\xff";
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("the source"));
  partitions = sample_partitions(model.graph);
  partitions[1].source = "OtherExecutionProvider";
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("refers to a payload of source"));
  partitions = sample_partitions(model.graph);
  partitions[1].payload = 4;
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("payload 4, which was not begun"));
  partitions = sample_partitions(model.graph);
  EXPECT_THAT(refusal(partitions, 2).message(), HasSubstr("payload 1 belongs to no partition"));
  partitions[0].max_size = -1;
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("negative max_size"));
  partitions = sample_partitions(model.graph);
  EXPECT_THAT(refusal(partitions, 1, {{"EP", "\xff"}}).message(),
              HasSubstr("the compatibility string"));
}

TEST(ContextWriter, RefusesPartitionsThatDoNotFitTheModel) {
  const graph::Model model = sample_model();
  auto partitions = sample_partitions(model.graph);
  partitions[0].inputs = {1000};
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("an input or output does not exist"));
  partitions = sample_partitions(model.graph);
  partitions[0].graph = {{.node = 0, .subgraph = 0}};
  EXPECT_THAT(refusal(partitions).message(), HasSubstr("its nested graph does not exist"));
  partitions = {partition_of(model.graph, "torn", {0, 3}, "x", "d")};
  partitions[0].outputs.push_back(model.graph.find_value("a"));
  partitions[0].inputs.push_back(model.graph.find_value("c"));
  EXPECT_EQ(refusal(partitions).code(), StatusCode::kInvalidGraph);
}

TEST(ContextWriter, RefusesAPayloadThatWasNotBegun) {
  const TempDirectory dir;
  Result<ContextWriter> writer = ContextWriter::create({.output_path = dir / "m_ctx.onnx"});
  ASSERT_THAT(writer, IsOk());
  EXPECT_EQ(writer->append(0, as_bytes("x")).code(), StatusCode::kInvalidArgument);
}

TEST(ContextWriter, WritesFileNamesInAnyScript) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "模型_ctx.onnx"}), IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("模型_ctx.onnx", "模型_test.bin"));
  EXPECT_THAT(load_file(dir / "模型_ctx.onnx"), IsOk());
}

TEST(ContextWriter, NoDamagedByteOfTheModelLeadsToAnotherPayload) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}), IsOk());
  const std::string intact = content_of(dir / "m_ctx.onnx");
  for (size_t i = 0; i < intact.size(); ++i) {
    std::string damaged = intact;
    damaged[i] ^= 0x10;
    const auto model = onnx_io::import_model(testing::blob_of(damaged), {.infer_shapes = false});
    if (!model.ok()) continue;
    for (const VerifiedNode& node : verify_context_model(*model, {.folder = dir.path()}).nodes) {
      // A damaged name may have no stated checksum; a stated one is that of the payload.
      if (node.checksum != ChecksumState::kOk) continue;
      EXPECT_EQ(node.file, "m_test.bin") << "byte " << i;
    }
  }
}

TEST(ContextWriter, LeavesNothingWhenItIsCancelled) {
  const test::TempDirectory dir;
  std::atomic<bool> cancelled = false;
  {
    ContextWriter writer =
        writer_of({.output_path = dir / "m_ctx.onnx", .cancellation = Cancellation(&cancelled)});
    cancelled = true;
    EXPECT_EQ(writer.append(0, as_bytes("more")).code(), StatusCode::kCancelled);
    graph::Model model = sample_model();
    const auto partitions = sample_partitions(model.graph);
    const auto written = std::move(writer).finish(std::move(model), partitions, {});
    EXPECT_EQ(written.status().code(), StatusCode::kCancelled);
  }
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace ephost::context::writer_test
