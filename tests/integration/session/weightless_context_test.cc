// Contexts whose constants stay outside of the payload, through whole sessions with the scripted
// provider, which reads them again in each run.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/context/ep_context_node.h"
#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::weightless_context_test {
namespace {

namespace fs = std::filesystem;
using test::ep_context_nodes;
using test::expect_runs;
using test::files_in;
using test::IsOk;
using test::scripted;
using test::scripted_environment;
using test::TempDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Form {
  bool embed = false;
  std::string weights;
};

class WeightlessContextTest : public ::testing::Test {
 protected:
  Result<CompileReport> compile(const SessionOptions& options, const fs::path& output,
                                const Form& form = {}) {
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = output;
    compilation.ep_context_embed_mode = form.embed;
    compilation.output_model_external_initializers_file = form.weights;
    return compile_model(scripted_environment(), options, compilation);
  }
  fs::path compiled(const fs::path& output, const Form& form = {}) {
    const auto report = compile(weightless_, output, form);
    EXPECT_THAT(report, IsOk());
    return output;
  }
  // Loads without compiling anything.
  static Result<Session> load(const fs::path& context) {
    SessionOptions options = scripted();
    options.add_config_entry("session.disable_model_compile", "1");
    return Session::create(scripted_environment(), context, options);
  }
  Status refusal(const OptionList& options) {
    const TempDirectory folder;
    const auto report = compile(scripted(options), folder / "m_ctx.onnx");
    EXPECT_THAT(files_in(folder.path()), ::testing::IsEmpty());
    return report.status();
  }

  TempDirectory folder_;
  fs::path model_ = test::save(folder_, test::scripted_model(1000));
  std::vector<Value> expected_ = test::expected_outputs(model_);
  SessionOptions weightless_ = scripted({{"weightless", "true"}});
};

TEST_F(WeightlessContextTest, RunsLikeItsModelInEveryForm) {
  for (const Form& form : {Form{false, ""}, Form{true, ""}, Form{false, "w"}, Form{true, "w"}}) {
    const TempDirectory folder;
    const fs::path context = compiled(folder / "m_ctx.onnx", form);
    expect_runs(load(context), expected_);
    const graph::Model model = test::import_file(context);
    EXPECT_EQ(model.graph.initializers.size(), 2U);
    EXPECT_NE(model.graph.constant(model.graph.find_value("w0")), nullptr);
    for (const graph::Node* node : ep_context_nodes(model)) {
      EXPECT_NE(node->attribute(context::kNamedConstantsAttribute), nullptr);
      EXPECT_EQ(node->inputs.size(), 1U);
    }
  }
}

TEST_F(WeightlessContextTest, HasPayloadsWithoutTheConstants) {
  const TempDirectory folder;
  compiled(folder / "m_ctx.onnx");
  EXPECT_LT(fs::file_size(folder / "m_scripted.bin"), 1000U);
  ASSERT_THAT(compile(scripted(), folder / "full_ctx.onnx"), IsOk());
  EXPECT_GT(fs::file_size(folder / "full_scripted.bin"), 8000U);
  EXPECT_EQ(test::import_file(folder / "full_ctx.onnx").graph.initializers.size(), 0U);
}

TEST_F(WeightlessContextTest, WorksInAnotherFolder) {
  const TempDirectory folder;
  fs::create_directory(folder / "a");
  compiled(folder / "a/m_ctx.onnx", {false, "w"});
  fs::rename(folder / "a", folder / "b");
  fs::remove(model_);
  expect_runs(load(folder / "b/m_ctx.onnx"), expected_);
}

TEST_F(WeightlessContextTest, GoesThroughTheCacheStore) {
  const TempDirectory folder;
  SessionOptions options = weightless_;
  options.add_config_entry("ep.cache_dir", folder.path().native());
  auto first = Session::create(scripted_environment(), model_, options);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->cache_use().outcome, CacheUse::Outcome::kMiss);
  options.add_config_entry("session.disable_model_compile", "1");
  auto second = Session::create(scripted_environment(), model_, options);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->cache_use().outcome, CacheUse::Outcome::kHit);
  expect_runs(std::move(second), expected_);
}

TEST_F(WeightlessContextTest, IsWrittenFromTheStoreAsWithoutOne) {
  const TempDirectory folder;
  SessionOptions cached = weightless_;
  cached.add_config_entry("ep.cache_dir", (folder / "store").native());
  ASSERT_THAT(Session::create(scripted_environment(), model_, cached), IsOk());
  for (const char* name : {"a", "b"}) fs::create_directory(folder / name);
  ASSERT_THAT(compile(weightless_, folder / "a/m_ctx.onnx"), IsOk());
  const auto report = compile(cached, folder / "b/m_ctx.onnx");
  ASSERT_THAT(report, IsOk());
  for (const std::string& name : files_in(folder / "a")) {
    EXPECT_EQ(test::read(folder / "a" / name), test::read(folder / "b" / name)) << name;
  }
  expect_runs(load(folder / "b/m_ctx.onnx"), expected_);
}

TEST_F(WeightlessContextTest, IsCompiledAgainIfTheStoreHasADamagedConstant) {
  const TempDirectory folder;
  SessionOptions options = weightless_;
  options.add_config_entry("ep.cache_dir", folder.path().native());
  ASSERT_THAT(Session::create(scripted_environment(), model_, options), IsOk());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() != "initializers.bin") continue;
    std::string bytes = test::read(entry.path());
    bytes[100] = static_cast<char>(bytes[100] ^ 1);
    test::write(entry.path(), bytes);
  }
  auto session = Session::create(scripted_environment(), model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_NE(session->cache_use().outcome, CacheUse::Outcome::kHit);
  expect_runs(std::move(session), expected_);
}

TEST_F(WeightlessContextTest, BelongsToAGroupOfSessions) {
  const TempDirectory folder;
  std::vector<fs::path> models;
  for (const char* name : {"a.onnx", "b.onnx"}) {
    models.push_back(folder / name);
    fs::copy_file(model_, models.back());
  }
  {
    const Environment shared = scripted_environment();
    for (const fs::path& model : models) {
      SessionOptions options = weightless_;
      options.add_config_entry("ep.context_enable", "1");
      options.add_config_entry("ep.share_ep_contexts", "1");
      if (model == models.back()) options.add_config_entry("ep.stop_share_ep_contexts", "1");
      const auto session = Session::create(shared, model, options);
      ASSERT_THAT(session, IsOk());
    }
  }
  const Environment shared = scripted_environment();
  SessionOptions sharing = scripted();
  sharing.add_config_entry("ep.share_ep_contexts", "1");
  std::optional<Result<Session>> second;
  {
    auto first = Session::create(shared, folder / "a_ctx.onnx", sharing);
    second.emplace(Session::create(shared, folder / "b_ctx.onnx", sharing));
    expect_runs(std::move(first), expected_);
  }
  // What the second one reads does not depend on the first one, which has ended.
  expect_runs(std::move(*second), expected_);
}

TEST_F(WeightlessContextTest, WorksInsideBodies) {
  const TempDirectory folder;
  model_ = test::write_model(folder / "model.onnx", test::nested_flow());
  const fs::path context = compiled(folder / "m_ctx.onnx");
  auto plain = Session::create(scripted_environment(), model_, {});
  auto session = load(context);
  ASSERT_THAT(plain, IsOk());
  ASSERT_THAT(session, IsOk());
  for (const bool condition : {true, false}) {
    const auto inputs = test::nested_flow_inputs(4, condition, {0.5F, -1.25F});
    const auto outputs = session->run(inputs);
    ASSERT_THAT(outputs, IsOk());
    test::expect_close(*outputs, *plain->run(inputs));
  }
}

// The context model after `change`.
Status refusal_after(const fs::path& context, const std::function<void(graph::Graph&)>& change) {
  graph::Model model = test::import_file(context);
  change(model.graph);
  const auto exported = onnx_io::export_model(model);
  EXPECT_THAT(exported, IsOk());
  if (exported.ok()) {
    EXPECT_THAT(exported->write(context), IsOk());
  }
  SessionOptions options = scripted();
  options.add_config_entry("session.disable_model_compile", "1");
  return Session::create(scripted_environment(), context, options).status();
}

TEST_F(WeightlessContextTest, IsRefusedWithADamagedConstant) {
  const Status status =
      refusal_after(compiled(folder_ / "m_ctx.onnx", {true, ""}), [](graph::Graph& graph) {
        graph.initializers[graph.values[graph.find_value("w0")].initializer] = test::row(1000, 9);
      });
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("its constant \"w0\" has the checksum"));
}

TEST_F(WeightlessContextTest, IsRefusedWithoutAConstant) {
  const Status status = refusal_after(
      compiled(folder_ / "m_ctx.onnx", {true, ""}),
      [](graph::Graph& graph) { graph.values[graph.find_value("w1")].name = "renamed"; });
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("it names \"w1\", which is not a constant of its graph"));
}

TEST_F(WeightlessContextTest, IsRefusedWithAConstantOfAnotherType) {
  const Status status =
      refusal_after(compiled(folder_ / "m_ctx.onnx", {true, ""}), [](graph::Graph& graph) {
        graph.initializers[graph.values[graph.find_value("w1")].initializer] = test::row(10, 3);
      });
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("its constant \"w1\" is float[10], but it was compiled"));
}

TEST_F(WeightlessContextTest, CannotNameWhatTheClaimGaveUp) {
  const Status status = refusal({{"weightless", "true"}, {"drop_constants", "true"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("names constant \"w0\" for the context of partition"));
  EXPECT_THAT(status.message(), HasSubstr("EPH_CLAIM_DROP_CONSTANTS"));
}

TEST_F(WeightlessContextTest, CannotNameWhatIsNotThereOrTwice) {
  EXPECT_THAT(refusal({{"weightless", "true"}, {"misbehave", "unknown_constant"}}).message(),
              HasSubstr("names constant \"nowhere\" for the context of partition \"scripted_0\", "
                        "which has no such constant"));
  EXPECT_THAT(refusal({{"weightless", "true"}, {"misbehave", "constant_twice"}}).message(),
              HasSubstr("names constant \"w0\" for the context of partition \"scripted_0\", and "
                        "names it twice"));
}

}  // namespace
}  // namespace ephost::weightless_context_test
