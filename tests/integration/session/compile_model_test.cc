// compile_model: what it reads, what it writes, and what it refuses.
#include "host/session/compile/compile_model.h"

#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::compile_model_test {
namespace {

using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(std::span<const std::byte> bytes) {
  const void* data = bytes.data();
  return {static_cast<const char*>(data), bytes.size()};
}

// Reads `text` in pieces of different sizes.
ReadFunction reader_of(const std::string& text) {
  return [rest = std::as_bytes(std::span(text)),
          step = size_t{0}](std::span<std::byte> buffer) mutable -> Result<size_t> {
    const size_t wanted = std::vector<size_t>{1, 7, 100, 4096}[step++ % 4];
    const size_t count = std::min({wanted, buffer.size(), rest.size()});
    std::copy_n(rest.begin(), count, buffer.begin());
    rest = rest.subspan(count);
    return count;
  };
}

class CompileModel : public ::testing::Test {
 protected:
  Result<CompileReport> compile(const ModelCompilationOptions& compilation,
                                const SessionOptions& options = scripted()) {
    return compile_model(environment_, options, compilation);
  }
  // The file of the sample model, or of a model that does not exist.
  ModelCompilationOptions from_file() { return {.input_model_path = model_}; }

  TempDirectory folder_;
  TempDirectory source_;
  Environment environment_ = scripted_environment();
  std::filesystem::path model_ = test::save(source_, test::scripted_model());
  std::string bytes_ = test::read(model_);
  std::vector<Value> expected_ = test::expected_outputs(model_);
};

TEST_F(CompileModel, TakesTheModelFromAPathABufferOrAFunction) {
  std::vector<ModelCompilationOptions> inputs(3);
  inputs[0].input_model_path = model_;
  inputs[1].input_model_buffer = test::model_bytes(bytes_).bytes;
  inputs[2].input_model_read_func = reader_of(bytes_);
  for (ModelCompilationOptions& compilation : inputs) {
    compilation.output_model_path = folder_ / "m_ctx.onnx";
    const auto report = compile(compilation);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->output_path, folder_ / "m_ctx.onnx");
    EXPECT_EQ(report->partitions.size(), 2U);
    EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("m_ctx.onnx", "m_scripted.bin"));
    test::expect_runs(Session::create(environment_, report->output_path, scripted()), expected_);
  }
}

TEST_F(CompileModel, ReadsExternalWeightsOfABufferFromTheNamedFolder) {
  const std::string bytes =
      test::read(test::save(source_, test::scripted_model(), "e.onnx", "e.weights"));
  ModelCompilationOptions compilation{.input_model_buffer = test::model_bytes(bytes).bytes,
                                      .output_model_path = folder_ / "e_ctx.onnx"};
  const auto refused = compile(compilation);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("e.weights"));
  SessionOptions options = scripted();
  options.add_config_entry("session.model_external_initializers_file_folder_path",
                           source_.path().string());
  const auto report = compile(compilation, options);
  ASSERT_THAT(report, IsOk());
  test::expect_runs(Session::create(environment_, report->output_path, scripted()), expected_);

  // A context model from memory, with its binary and its initializers in the folders that are
  // named.
  const std::string context = test::read(report->output_path);
  options.add_config_entry("ep.context_file_path", (folder_ / "any.onnx").string());
  test::expect_runs(Session::create(environment_, test::model_bytes(context), options), expected_);
}

TEST_F(CompileModel, ABufferNeedsAnOutputPath) {
  ModelCompilationOptions compilation{.input_model_buffer = test::model_bytes(bytes_).bytes};
  const auto refused = compile(compilation);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("ep.context_file_path"));
  SessionOptions options = scripted();
  options.add_config_entry("ep.context_file_path", (folder_ / "named.onnx").string());
  ASSERT_THAT(compile(compilation, options), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("named.onnx", "named_scripted.bin"));
}

TEST_F(CompileModel, RequiresOneInputAndAtMostOneOutput) {
  EXPECT_EQ(compile({}).status().code(), StatusCode::kInvalidArgument);
  std::vector<std::byte> model;
  ModelCompilationOptions two_inputs = from_file();
  two_inputs.input_model_buffer = test::model_bytes(bytes_).bytes;
  EXPECT_THAT(compile(two_inputs).status().message(), HasSubstr("needs one model and got 2"));
  ModelCompilationOptions two_outputs = from_file();
  two_outputs.output_model_path = folder_ / "m_ctx.onnx";
  two_outputs.output_model_buffer = &model;
  EXPECT_THAT(compile(two_outputs).status().message(), HasSubstr("several places"));
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

TEST_F(CompileModel, ReturnsTheFailureOfTheReadFunction) {
  ModelCompilationOptions compilation{.output_model_path = folder_ / "m_ctx.onnx"};
  compilation.input_model_read_func = [](std::span<std::byte>) -> Result<size_t> {
    return Status(StatusCode::kEngineError, "the tape is torn");
  };
  EXPECT_EQ(compile(compilation).status().to_string(), "ENGINE_ERROR: the tape is torn");
  compilation.input_model_read_func = [](std::span<std::byte> buffer) -> Result<size_t> {
    return buffer.size() + 1;
  };
  EXPECT_EQ(compile(compilation).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CompileModel, HandsOutTheModelAsABuffer) {
  std::vector<std::byte> model;
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_buffer = &model;
  compilation.ep_context_embed_mode = true;
  const auto report = compile(compilation);
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->output_path.empty());
  EXPECT_THAT(report->files, IsEmpty());
  EXPECT_THAT(test::files_in(source_.path()), ElementsAre("model.onnx"));
  test::expect_runs(Session::create(environment_, ModelBytes{model}, scripted()), expected_);
}

TEST_F(CompileModel, PutsTheBinariesOfABufferWhereItIsTold) {
  std::vector<std::byte> model;
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_buffer = &model;
  const auto refused = compile(compilation);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(model.empty());
  compilation.ep_context_binary_folder = folder_.path();
  compilation.ep_context_binary_model_name = "net.v2";
  ASSERT_THAT(compile(compilation), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("net.v2_scripted.bin"));
  SessionOptions options = scripted();
  options.add_config_entry("ep.context_file_path", (folder_ / "any.onnx").string());
  test::expect_runs(Session::create(environment_, ModelBytes{model}, options), expected_);
  compilation.ep_context_binary_model_name = "a/b";
  EXPECT_EQ(compile(compilation).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CompileModel, WritesTheModelToAFunctionInPiecesOf64KiB) {
  const SessionOptions options = scripted({{"padding_bytes", "200000"}});
  std::vector<size_t> pieces;
  std::string written;
  ModelCompilationOptions compilation = from_file();
  compilation.ep_context_embed_mode = true;
  compilation.output_model_write_func = [&](std::span<const std::byte> bytes) {
    pieces.push_back(bytes.size());
    written += text_of(bytes);
    return Status::ok_status();
  };
  ASSERT_THAT(compile(compilation, options), IsOk());
  ASSERT_GE(pieces.size(), 4U);
  EXPECT_LE(pieces.back(), size_t{65536});
  pieces.pop_back();
  EXPECT_THAT(pieces, Each(65536U));
  compilation.output_model_write_func = nullptr;
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  ASSERT_THAT(compile(compilation, options), IsOk());
  EXPECT_TRUE(written == test::read(folder_ / "m_ctx.onnx"));
}

TEST_F(CompileModel, ReturnsTheFailureOfTheWriteFunctionAsItIs) {
  ModelCompilationOptions compilation = from_file();
  compilation.ep_context_binary_folder = folder_.path();
  int calls = 0;
  compilation.output_model_write_func = [&](std::span<const std::byte>) {
    ++calls;
    EXPECT_THAT(test::files_in(folder_.path()), ::testing::Contains("model_scripted.bin"));
    return Status(StatusCode::kNotFound, "nobody listens");
  };
  EXPECT_EQ(compile(compilation).status().to_string(), "NOT_FOUND: nobody listens");
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

TEST_F(CompileModel, TheDefaultNameReplacesOnlyTheFileExtension) {
  for (const auto& [name, context] : {std::pair("dir.v1/model", "dir.v1/model_ctx.onnx"),
                                      std::pair("dir.v1/net.v2.onnx", "dir.v1/net.v2_ctx.onnx")}) {
    const auto copy = folder_.write(name, bytes_);
    const auto report = compile({.input_model_path = copy});
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->output_path, folder_ / context);
    EXPECT_TRUE(std::filesystem::exists(folder_ / context));
  }
}

// The provider cannot be created, so a refusal of the output must come before it.
TEST_F(CompileModel, RefusesInvalidOutputsBeforeCompiling) {
  const SessionOptions options = scripted({{"fail", "create"}});
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_.path();
  EXPECT_EQ(compile(compilation, options).status().code(), StatusCode::kInvalidArgument);
  compilation.output_model_path = folder_ / "gone/m_ctx.onnx";
  EXPECT_EQ(compile(compilation, options).status().code(), StatusCode::kNoSuchFile);
  compilation.output_model_path = folder_.write("m_ctx.onnx", "precious");
  compilation.error_if_output_exists = true;
  const Status exists = compile(compilation, options).status();
  EXPECT_EQ(exists.code(), StatusCode::kFail);
  EXPECT_THAT(exists.message(), AllOf(HasSubstr("exists already"), HasSubstr("remove it")));
  compilation.error_if_output_exists = false;
  const Status foreign = compile(compilation, options).status();
  EXPECT_EQ(foreign.code(), StatusCode::kFail);
  EXPECT_THAT(foreign.message(), HasSubstr("is not a context model"));
  compilation.force_overwrite = true;
  EXPECT_EQ(compile(compilation, options).status().code(), StatusCode::kEpFail);
  EXPECT_EQ(test::read(folder_ / "m_ctx.onnx"), "precious");
  ASSERT_THAT(compile(compilation), IsOk());
  EXPECT_NE(test::read(folder_ / "m_ctx.onnx"), "precious");
}

TEST_F(CompileModel, RefusesToForceAndToSpareTheOutput) {
  ModelCompilationOptions compilation = from_file();
  compilation.error_if_output_exists = true;
  compilation.force_overwrite = true;
  EXPECT_EQ(compile(compilation).status().code(), StatusCode::kInvalidArgument);
}

// The provider cannot be created, so the refusal must come before it.
TEST_F(CompileModel, KeepsTheFilesOfTheApplication) {
  const auto input = folder_.write("input.npy", "precious");
  SessionOptions options = scripted({{"fail", "create"}});
  options.add_input_file(input);
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = input;
  compilation.force_overwrite = true;
  const Status overwriting = compile(compilation, options).status();
  EXPECT_EQ(overwriting.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(overwriting.message(), HasSubstr("would overwrite"));
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  options.add_output_file(folder_ / "m_ctx.onnx");
  const Status same = compile(compilation, options).status();
  EXPECT_EQ(same.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(same.message(), HasSubstr("are the same file"));
}

TEST_F(CompileModel, FailsWhenNothingCanBeCachedIfAskedTo) {
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  compilation.error_if_no_nodes_compiled = true;
  EXPECT_EQ(compile(compilation, {}).status().code(), StatusCode::kFail);
  // The same after a provider that claimed nodes and failed to compile them.
  EXPECT_EQ(compile(compilation, scripted({{"fail", "compile"}})).status().code(),
            StatusCode::kFail);
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
  compilation.error_if_no_nodes_compiled = false;
  const auto report = compile(compilation, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->partitions, IsEmpty());
  EXPECT_EQ(report->remaining_nodes, 5U);
  test::expect_runs(Session::create(environment_, report->output_path), expected_);
}

TEST_F(CompileModel, ASessionThatCachesNothingWarnsAndWritesNoFile) {
  SessionOptions options;
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", (folder_ / "m_ctx.onnx").string());
  const test::LogCapture log;
  ASSERT_THAT(Session::create(environment_, model_, options), IsOk());
  EXPECT_THAT(log.text(), HasSubstr("no context model was written"));
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
}

TEST_F(CompileModel, NamesTheContextNodeOfAnInputThatIsAContextModel) {
  const auto report = compile(from_file());
  ASSERT_THAT(report, IsOk());
  const Status refused = compile({.input_model_path = report->output_path}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.message(), HasSubstr("scripted_0"));
}

TEST_F(CompileModel, NumbersFurtherPayloadsOfAProvider) {
  for (const auto& [payloads, primaries] : {std::pair("one", 1), std::pair("each", 2)}) {
    const TempDirectory folder;
    ModelCompilationOptions compilation = from_file();
    compilation.output_model_path = folder / "m_ctx.onnx";
    ASSERT_THAT(compile(compilation, scripted({{"payloads", payloads}})), IsOk());
    const graph::Model model = test::import_file(folder / "m_ctx.onnx");
    int64_t found = 0;
    for (const graph::Node* node : test::ep_context_nodes(model)) {
      found += node->integer("main_context").value_or(1);
    }
    EXPECT_EQ(found, primaries);
    EXPECT_EQ(std::filesystem::exists(folder / "m_scripted_1.bin"), primaries == 2);
    test::expect_runs(Session::create(environment_, folder / "m_ctx.onnx", scripted()), expected_);
  }
}

TEST_F(CompileModel, GivesEachProviderItsOwnNodesAndBinary) {
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  const SessionOptions options = test::both_scripted({{"claim", "fuse:Add,Relu"}});
  ASSERT_THAT(compile(compilation, options), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()),
              ElementsAre("m_ctx.onnx", "m_scripted.bin", "m_scripted_two.bin"));
  const graph::Model model = test::import_file(folder_ / "m_ctx.onnx");
  ASSERT_EQ(model.graph.nodes.size(), 3U);
  EXPECT_EQ(model.graph.nodes[0].string("source"), "ScriptedExecutionProvider");
  EXPECT_EQ(model.graph.nodes[1].op_type, "Abs");
  EXPECT_EQ(model.graph.nodes[2].string("source"), "ScriptedTwoExecutionProvider");
  test::expect_runs(Session::create(environment_, folder_ / "m_ctx.onnx", options), expected_);
}

TEST_F(CompileModel, WritesAPayloadOver2GiBToAFileOnly) {
  const SessionOptions options = scripted({{"padding_bytes", "2147483648"}});
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  compilation.ep_context_embed_mode = true;
  const Status refused = compile(compilation, options).status();
  EXPECT_EQ(refused.code(), StatusCode::kFail);
  EXPECT_THAT(refused.message(), HasSubstr("ep.context_embed_mode 0"));
  EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
  compilation.ep_context_embed_mode = false;
  const auto report = compile(compilation, options);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->files[0].bytes, uint64_t{1} << 31);
  test::expect_runs(Session::create(environment_, report->output_path, options), expected_);
}

TEST_F(CompileModel, WritesTheSameBytesToEveryKindOfOutput) {
  std::vector<std::vector<std::byte>> models(2);
  for (std::vector<std::byte>& model : models) {
    ModelCompilationOptions compilation = from_file();
    compilation.output_model_buffer = &model;
    compilation.ep_context_embed_mode = true;
    ASSERT_THAT(compile(compilation), IsOk());
  }
  EXPECT_EQ(models[0], models[1]);
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_ / "m_ctx.onnx";
  compilation.ep_context_embed_mode = true;
  ASSERT_THAT(compile(compilation), IsOk());
  EXPECT_TRUE(text_of(models[0]) == test::read(folder_ / "m_ctx.onnx"));
}

TEST_F(CompileModel, ReportsProgress) {
  SessionOptions options = scripted({{"compile_milliseconds", "3"}});
  std::vector<double> fractions;
  options.set_progress_func(
      [&](std::string_view provider, double fraction, std::string_view message) {
        if (provider == "ephost") return;
        EXPECT_EQ(provider, "ScriptedExecutionProvider");
        EXPECT_EQ(message, "compiling a script");
        fractions.push_back(fraction);
      });
  ASSERT_THAT(compile(from_file(), options), IsOk());
  EXPECT_THAT(fractions, ::testing::Contains(0.5));
}

TEST_F(CompileModel, ReportsThePhasesOfTheHostToo) {
  SessionOptions options = scripted();
  std::vector<std::string> phases;
  options.set_progress_func(
      [&](std::string_view provider, double fraction, std::string_view message) {
        if (provider != "ephost") return;
        EXPECT_EQ(fraction, 0);
        phases.emplace_back(message);
      });
  ASSERT_THAT(compile(from_file(), options), IsOk());
  EXPECT_THAT(phases,
              ::testing::IsSupersetOf({"reading the model", "creating the providers",
                                       "optimizing the graph", "partitioning", "ordering the steps",
                                       "compiling", "writing what was compiled"}));
  EXPECT_EQ(phases.front(), "reading the model");
  EXPECT_EQ(phases.back(), "writing what was compiled");
}

TEST_F(CompileModel, ACancelledCompilationLeavesNoFile) {
  for (const bool embed : {false, true}) {
    std::atomic<bool> cancelled = false;
    SessionOptions options = scripted({{"compile_milliseconds", "60000"}});
    options.set_load_cancellation_flag(&cancelled);
    options.set_progress_func([&](std::string_view provider, double, std::string_view) {
      if (provider != "ephost") cancelled = true;
    });
    ModelCompilationOptions compilation = from_file();
    compilation.output_model_path = folder_ / "m_ctx.onnx";
    compilation.ep_context_embed_mode = embed;
    EXPECT_EQ(compile(compilation, options).status().code(), StatusCode::kCancelled);
    EXPECT_THAT(test::files_in(folder_.path()), IsEmpty());
  }
}

// Providers that never ask about cancellation get no further calls.
TEST_F(CompileModel, ChecksForCancellationBetweenSteps) {
  const std::atomic<bool> cancelled = true;
  SessionOptions options = scripted({{"fail", "create"}});
  options.set_load_cancellation_flag(&cancelled);
  EXPECT_EQ(compile(from_file(), options).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(Session::create(environment_, model_, options).status().code(), StatusCode::kCancelled);
}

TEST_F(CompileModel, FailsWhereAProviderFailsToWriteItsContext) {
  for (const char* rule : {"forgotten_node", "node_twice", "wrong_computation", "wrong_payload"}) {
    SCOPED_TRACE(rule);
    EXPECT_EQ(compile(from_file(), scripted({{"misbehave", rule}})).status().code(),
              StatusCode::kEpFail);
  }
  EXPECT_EQ(compile(from_file(), scripted({{"fail", "context"}})).status().code(),
            StatusCode::kEpFail);
  EXPECT_THAT(test::files_in(source_.path()), ElementsAre("model.onnx"));
}

TEST_F(CompileModel, TakesTheEntriesOfTheSessionForWhatItIsNotTold) {
  SessionOptions options = scripted();
  options.add_config_entry("ep.context_file_path", (folder_ / "entry.onnx").string());
  options.add_config_entry("ep.context_embed_mode", "1");
  ASSERT_THAT(compile(from_file(), options), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()), ElementsAre("entry.onnx"));
  ModelCompilationOptions compilation = from_file();
  compilation.output_model_path = folder_ / "told.onnx";
  compilation.ep_context_embed_mode = false;
  ASSERT_THAT(compile(compilation, options), IsOk());
  EXPECT_THAT(test::files_in(folder_.path()),
              ElementsAre("entry.onnx", "told.onnx", "told_scripted.bin"));
}

// Memory may run out anywhere; here a function of the application throws std::bad_alloc.
TEST_F(CompileModel, TurnsWhatIsThrownIntoAnError) {
  ModelCompilationOptions compilation = from_file();
  compilation.ep_context_embed_mode = true;
  compilation.output_model_write_func = [](std::span<const std::byte>) -> Status {
    throw std::bad_alloc();
  };
  const SessionOptions options = scripted();
  EXPECT_EQ(
      session::compile_model(inside(environment_), inside(options), compilation)
          .status()
          .to_string(),
      "OUT_OF_MEMORY: compiling a model ran out of memory; free some, or raise the limit of this "
      "process");
}

}  // namespace
}  // namespace ephost::compile_model_test
