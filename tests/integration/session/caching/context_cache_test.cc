// The EP context cache through whole sessions with the dnnl provider.
#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "host/base/hash.h"
#include "host/context/file_names.h"
#include "host/graph/connect.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"
#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::context_cache_test {
namespace {

using test::environment;
using test::IsOk;
using test::model_path;
using test::with_dnnl;

// Compiles a tiny model into `folder` and returns the context model's path.
std::filesystem::path compile(const test::TempDirectory& folder, std::string_view model,
                              bool embed = false) {
  ModelCompilationOptions options;
  options.input_model_path = model_path(model);
  options.output_model_path = folder / "model_ctx.onnx";
  options.ep_context_embed_mode = embed;
  const auto report = compile_model(environment(), with_dnnl(), options);
  EXPECT_THAT(report, IsOk());
  return options.output_model_path;
}

graph::Model import(const std::filesystem::path& model) {
  auto imported = onnx_io::import_model(model);
  EXPECT_THAT(imported, IsOk());
  return std::move(imported).value();
}

std::vector<const graph::Node*> context_nodes(const graph::Model& model) {
  std::vector<const graph::Node*> nodes;
  for (const graph::Node& node : model.graph.nodes) {
    if (node.op_type == "EPContext") nodes.push_back(&node);
  }
  return nodes;
}

TEST(ContextCache, GivesTheSameOutputsFromFileAndFromMemory) {
  for (const char* model :
       {"tiny_cnn", "tiny_mlp", "tiny_residual", "tiny_constants", "tiny_external", "tiny_quick"}) {
    SCOPED_TRACE(model);
    const auto expected = test::run_model(model_path(model), with_dnnl());
    ASSERT_THAT(expected, IsOk());
    for (const bool embed : {false, true}) {
      const test::TempDirectory folder;
      const auto outputs = test::run_model(compile(folder, model, embed), with_dnnl());
      ASSERT_THAT(outputs, IsOk());
      test::expect_close(*outputs, *expected);
    }
  }
}

TEST(ContextCache, HundredsOfPartitionsEachHaveAPayloadOfTheirOwn) {
  constexpr size_t kLength = 200;
  graph::Model chain{.ir_version = 8, .opset_imports = {{"", 17}}};
  graph::Graph& graph = chain.graph;
  graph.name = "chain";
  const graph::ValueType type{.kind = graph::ValueKind::kTensor,
                              .element = graph::ElementType::kFloat,
                              .shape = graph::Shape{3}};
  graph.inputs = {graph.add_value({.name = "x", .type = type})};
  for (size_t i = 0; i < kLength; ++i) {
    const auto input = static_cast<graph::ValueId>(i);
    graph.add_node({.name = "node" + std::to_string(i),
                    .op_type = "Neg",
                    .inputs = {input},
                    .outputs = {graph.add_value({.name = "y" + std::to_string(i), .type = type})}});
  }
  graph.outputs = {static_cast<graph::ValueId>(kLength)};
  graph::connect(graph);
  const auto exported = onnx_io::export_model(chain);
  ASSERT_THAT(exported, IsOk());
  const test::TempDirectory folder;
  const auto model = folder / "chain.onnx";
  ASSERT_THAT(write_file_atomically(model, exported->model.to_bytes()), IsOk());

  EnvironmentOptions environment_options;
  environment_options.plugin_directories = {EPHOST_PLUGINS, test::fixture_directory("scripted")};
  environment_options.search_default_directories = false;
  const auto created = Environment::create(environment_options);
  ASSERT_THAT(created, IsOk());
  SessionOptions options;
  options.append_execution_provider("scripted", {{"claim", "every:1"}, {"payloads", "each"}});
  ModelCompilationOptions compilation;
  compilation.input_model_path = model;
  compilation.output_model_path = folder / "chain_ctx.onnx";
  const auto report = compile_model(*created, options, compilation);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->partitions.size(), kLength);
  EXPECT_EQ(report->files.size(), kLength + 1);

  auto session = Session::create(*created, compilation.output_model_path, options);
  ASSERT_THAT(session, IsOk());
  const std::vector<NamedValue> inputs = test::random_inputs(*session);
  const auto outputs = session->run(inputs);
  ASSERT_THAT(outputs, IsOk());
  test::expect_close(*outputs, {inputs[0].value});
}

TEST(ContextCache, AModelFromMemoryNeedsAnOutputPath) {
  const std::string bytes = test::read(model_path("tiny_cnn"));
  const ModelBytes model{std::as_bytes(std::span(bytes.data(), bytes.size()))};
  SessionOptions options = with_dnnl();
  options.add_config_entry("ep.context_enable", "1");
  EXPECT_EQ(Session::create(environment(), model, options).status().code(),
            StatusCode::kInvalidArgument);
  const test::TempDirectory folder;
  options.add_config_entry("ep.context_file_path", (folder / "m_ctx.onnx").string());
  EXPECT_THAT(Session::create(environment(), model, options), IsOk());
  EXPECT_TRUE(std::filesystem::exists(folder / "m_ctx.onnx"));
}

TEST(ContextCache, WritesBesideTheModelByDefault) {
  const test::TempDirectory folder;
  const auto copy = folder.write("dir.v1/model.onnx", test::read(model_path("tiny_cnn")));
  SessionOptions options = with_dnnl();
  options.add_config_entry("ep.context_enable", "1");
  ASSERT_THAT(Session::create(environment(), copy, options), IsOk());
  EXPECT_TRUE(std::filesystem::exists(folder / "dir.v1/model_ctx.onnx"));
  EXPECT_TRUE(std::filesystem::exists(folder / "dir.v1/model_dnnl.bin"));
}

TEST(ContextCache, RefusesAFolderOrAnExistingFileAsOutput) {
  const test::TempDirectory folder;
  SessionOptions options = with_dnnl();
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", folder.path().string());
  EXPECT_EQ(Session::create(environment(), model_path("tiny_cnn"), options).status().code(),
            StatusCode::kInvalidArgument);
  const auto existing = folder.write("m_ctx.onnx", "mine");
  options.add_config_entry("ep.context_file_path", existing.string());
  EXPECT_EQ(Session::create(environment(), model_path("tiny_cnn"), options).status().code(),
            StatusCode::kFail);
  EXPECT_EQ(test::read(existing), "mine");
  ModelCompilationOptions compile_options;
  compile_options.input_model_path = model_path("tiny_cnn");
  compile_options.output_model_path = existing;
  EXPECT_EQ(compile_model(environment(), with_dnnl(), compile_options).status().code(),
            StatusCode::kFail);
  EXPECT_EQ(test::read(existing), "mine");
  options.add_config_entry("ep.context_force_overwrite", "1");
  EXPECT_THAT(Session::create(environment(), model_path("tiny_cnn"), options), IsOk());
  EXPECT_THAT(compile_model(environment(), with_dnnl(), compile_options), IsOk());
}

TEST(ContextCache, WritesThePlainModelOrNothingWhenNothingIsCompiled) {
  const test::TempDirectory folder;
  const auto output = folder / "m_ctx.onnx";
  SessionOptions session_options;
  session_options.add_config_entry("ep.context_enable", "1");
  session_options.add_config_entry("ep.context_file_path", output.string());
  EXPECT_THAT(Session::create(environment(), model_path("tiny_cnn"), session_options), IsOk());
  EXPECT_FALSE(std::filesystem::exists(output));
  ModelCompilationOptions options;
  options.input_model_path = model_path("tiny_cnn");
  options.output_model_path = output;
  options.error_if_no_nodes_compiled = true;
  EXPECT_EQ(compile_model(environment(), {}, options).status().code(), StatusCode::kFail);
  EXPECT_FALSE(std::filesystem::exists(output));
  options.error_if_no_nodes_compiled = false;
  ASSERT_THAT(compile_model(environment(), {}, options), IsOk());
  test::expect_close(*test::run_model(output, {}), *test::run_model(model_path("tiny_cnn"), {}));
}

TEST(ContextCache, RefusesToCompileAContextModel) {
  const test::TempDirectory folder;
  const auto context = compile(folder, "tiny_cnn");
  const auto report = compile_model(environment(), with_dnnl(), {.input_model_path = context});
  EXPECT_EQ(report.status().code(), StatusCode::kInvalidGraph);
  EXPECT_NE(report.status().message().find("EPContext"), std::string::npos);
}

TEST(ContextCache, WritesOneBinaryForSeveralPartitions) {
  const test::TempDirectory folder;
  const graph::Model model = import(compile(folder, "tiny_quick"));
  const auto nodes = context_nodes(model);
  ASSERT_GE(nodes.size(), 2U);
  int primaries = 0;
  for (const graph::Node* node : nodes) {
    primaries += static_cast<int>(node->integer("main_context").value_or(1));
    EXPECT_EQ(node->string("source"), "ephost.dnnl");
    EXPECT_FALSE(node->string("partition_name").value_or("").empty());
  }
  EXPECT_EQ(primaries, 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "model_dnnl.bin"));
  EXPECT_FALSE(std::filesystem::exists(folder / "model_dnnl_1.bin"));
}

TEST(ContextCache, KeepsInputsAndOutputsOfTheModel) {
  const test::TempDirectory folder;
  const auto before = Session::create(environment(), model_path("tiny_quick"));
  const auto after = Session::create(environment(), compile(folder, "tiny_quick"), with_dnnl());
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  const auto names = [](const std::vector<ValueDescription>& descriptions) {
    std::vector<std::string> result;
    for (const ValueDescription& description : descriptions) result.push_back(description.name);
    return result;
  };
  EXPECT_EQ(names(before->inputs()), names(after->inputs()));
  EXPECT_EQ(names(before->outputs()), names(after->outputs()));
}

TEST(ContextCache, DoesNotDependOnTheSourceFiles) {
  const test::TempDirectory folder;
  const auto copy = folder.write("source/model.onnx", test::read(model_path("tiny_external")));
  for (const auto& file :
       std::filesystem::directory_iterator(model_path("tiny_external").parent_path())) {
    if (file.is_regular_file() && file.path().filename() != "model.onnx") {
      std::filesystem::copy(file.path(), folder / "source");
    }
  }
  ModelCompilationOptions options;
  options.input_model_path = copy;
  options.output_model_path = folder / "m_ctx.onnx";
  ASSERT_THAT(compile_model(environment(), with_dnnl(), options), IsOk());
  std::filesystem::remove_all(folder / "source");
  EXPECT_THAT(test::run_model(options.output_model_path, with_dnnl()), IsOk());
}

TEST(ContextCache, WritesTheSameBytesAgain) {
  const test::TempDirectory one;
  const test::TempDirectory two;
  const auto first = compile(one, "tiny_quick");
  const auto second = compile(two, "tiny_quick");
  EXPECT_EQ(test::read(first), test::read(second));
  EXPECT_EQ(test::read(one / "model_dnnl.bin"), test::read(two / "model_dnnl.bin"));
}

TEST(ContextCache, NamesTheSourceOfAnUnclaimedNode) {
  const test::TempDirectory folder;
  const auto session = Session::create(environment(), compile(folder, "tiny_cnn"), {});
  EXPECT_EQ(session.status().code(), StatusCode::kNotImplemented);
  EXPECT_NE(session.status().message().find("ephost.dnnl"), std::string::npos);
  EXPECT_NE(session.status().message().find("CPUExecutionProvider"), std::string::npos);
}

TEST(ContextCache, RefusesPathsThatLeaveTheFolder) {
  for (const char* path : {"../model_dnnl.bin", "/etc/passwd", "", ".", "nowhere.bin"}) {
    SCOPED_TRACE(path);
    const test::TempDirectory folder;
    const auto context = compile(folder, "tiny_cnn");
    std::string bytes = test::read(context);
    // A path of another length would change the lengths around it, so the node is rebuilt.
    graph::Model model = import(context);
    for (graph::Node& node : model.graph.nodes) {
      for (graph::Attribute& attribute : node.attributes) {
        if (attribute.name == "ep_cache_context") attribute.value = std::string(path);
      }
    }
    ASSERT_THAT(onnx_io::export_model(model)->write(context), IsOk());
    EXPECT_EQ(test::run_model(context, with_dnnl()).status().code(), StatusCode::kInvalidGraph);
  }
}

TEST(ContextCache, RefusesDamagedBinaries) {
  const test::TempDirectory folder;
  const auto context = compile(folder, "tiny_quick");
  const auto binary = folder / "model_dnnl.bin";
  const std::string intact = test::read(binary);
  const auto code_with = [&](const std::string& bytes) {
    test::write(binary, bytes);
    return test::run_model(context, with_dnnl()).status().code();
  };
  EXPECT_EQ(code_with(intact), StatusCode::kOk);
  EXPECT_EQ(code_with(intact.substr(0, intact.size() / 2)), StatusCode::kInvalidGraph);
  EXPECT_EQ(code_with(""), StatusCode::kInvalidGraph);
  EXPECT_EQ(code_with(intact + "x"), StatusCode::kInvalidGraph);
  std::mt19937 engine(1);
  for (int round = 0; round < 50; ++round) {
    std::string flipped = intact;
    flipped[engine() % flipped.size()] ^= static_cast<char>(1U << engine() % 8);
    EXPECT_EQ(code_with(flipped), StatusCode::kInvalidGraph);
  }
  std::filesystem::remove(binary);
  EXPECT_EQ(test::run_model(context, with_dnnl()).status().code(), StatusCode::kInvalidGraph);
}

// The checksum of a large binary is compared while the provider restores from it; its superseded
// form is found all the same.
TEST(ContextCache, LoadsTheSupersededFormOfALargeBinary) {
  const test::TempDirectory folder;
  const auto context = compile(folder, "tiny_quick");
  const auto binary = folder / "model_dnnl.bin";
  const std::string intact = test::read(binary);
  ASSERT_GT(intact.size(), size_t{4} << 20);
  std::string newer = intact;
  newer.back() ^= 1;
  test::write(binary, newer);
  const auto refused = test::run_model(context, with_dnnl());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  EXPECT_NE(refused.status().message().find("has the checksum"), std::string::npos);
  const Hash128 checksum = content_checksum(std::as_bytes(std::span(intact)));
  test::write(folder / context::superseded_name("model_dnnl.bin", to_hex(checksum)), intact);
  const auto outputs = test::run_model(context, with_dnnl());
  ASSERT_THAT(outputs, IsOk());
  test::expect_close(*outputs, *test::run_model(model_path("tiny_quick"), with_dnnl()));
}

// Without the checksums the provider itself has to see the damage, or give the right result.
TEST(ContextCache, TheProviderWithstandsDamageThatNoChecksumReveals) {
  const test::TempDirectory folder;
  const auto context = compile(folder, "tiny_cnn");
  graph::Model model = import(context);
  model.metadata.clear();
  ASSERT_THAT(onnx_io::export_model(model)->write(context), IsOk());
  const auto binary = folder / "model_dnnl.bin";
  const std::string intact = test::read(binary);
  SessionOptions options = with_dnnl();
  options.add_config_entry("ep.require_checksums", "0");
  ASSERT_THAT(test::run_model(context, options), IsOk());
  std::mt19937 engine(2);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = intact;
    if (round % 4 == 0) {
      damaged.resize(engine() % damaged.size());
    } else {
      damaged[engine() % std::min<size_t>(damaged.size(), 2048)] ^=
          static_cast<char>(1U << engine() % 8);
    }
    test::write(binary, damaged);
    const auto outputs = test::run_model(context, options);
    if (!outputs.ok()) {
      EXPECT_EQ(outputs.status().code(), StatusCode::kInvalidGraph) << outputs.status().message();
    }
  }
}

TEST(ContextCache, RefusesAContextOfAnotherMachine) {
  const test::TempDirectory folder;
  const auto context = compile(folder, "tiny_cnn");
  graph::Model model = import(context);
  bool stated = false;
  for (auto& [key, value] : model.metadata) {
    if (key != "ephost.ep_context.compatibility.ephost.dnnl") continue;
    value = "made elsewhere";
    stated = true;
  }
  ASSERT_TRUE(stated);
  ASSERT_THAT(onnx_io::export_model(model)->write(context), IsOk());
  EXPECT_EQ(test::run_model(context, with_dnnl()).status().code(), StatusCode::kInvalidGraph);
}

TEST(ContextCache, RefusesToCompileWhenCompilationIsDisabled) {
  SessionOptions options = with_dnnl();
  options.add_config_entry("session.disable_model_compile", "1");
  EXPECT_EQ(Session::create(environment(), model_path("tiny_cnn"), options).status().code(),
            StatusCode::kModelRequiresCompilation);
  const test::TempDirectory folder;
  EXPECT_THAT(Session::create(environment(), compile(folder, "tiny_cnn"), options), IsOk());
}

TEST(ContextCache, PrefixesTheNamesOfItsNodes) {
  const test::TempDirectory folder;
  SessionOptions options = with_dnnl();
  options.add_config_entry("ep.context_node_name_prefix", "left_");
  ModelCompilationOptions compile_options;
  compile_options.input_model_path = model_path("tiny_cnn");
  compile_options.output_model_path = folder / "m_ctx.onnx";
  ASSERT_THAT(compile_model(environment(), options, compile_options), IsOk());
  const graph::Model model = import(compile_options.output_model_path);
  for (const graph::Node* node : context_nodes(model)) {
    EXPECT_EQ(node->name.rfind("left_", 0), 0U) << node->name;
    EXPECT_EQ(node->string("partition_name")->rfind("left_", 0), 0U);
  }
}

}  // namespace
}  // namespace ephost::context_cache_test
