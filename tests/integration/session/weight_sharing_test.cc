// Session groups with the dnnl provider: weight sharing across sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::weight_sharing_test {
namespace {

namespace fs = std::filesystem;
using test::environment;
using test::expect_close;
using test::IsOk;
using test::random_inputs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

SessionOptions sharing(bool last = false) {
  SessionOptions options = test::with_dnnl();
  options.add_config_entry("ep.share_ep_contexts", "1");
  if (last) options.add_config_entry("ep.stop_share_ep_contexts", "1");
  return options;
}

SessionOptions generating(bool last = false) {
  SessionOptions options = sharing(last);
  options.add_config_entry("ep.context_enable", "1");
  return options;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// Models of the group: copies of `sources` named a.onnx, b.onnx, ...
std::vector<fs::path> copy_models(const test::TempDirectory& folder,
                                  const std::vector<std::string>& sources) {
  std::vector<fs::path> models;
  for (const std::string& source : sources) {
    const std::string name(1, static_cast<char>('a' + models.size()));
    models.push_back(folder.write(name + ".onnx", test::read(test::model_path(source))));
  }
  return models;
}

fs::path context_of(const fs::path& model) {
  return model.parent_path() / (model.stem().string() + "_ctx.onnx");
}

// Compiles all models as one group and deletes them, so that only the contexts can be loaded.
void compile_group(const std::vector<fs::path>& models) {
  const Environment shared = environment();
  for (const fs::path& model : models) {
    const auto session = Session::create(shared, model, generating(model == models.back()));
    ASSERT_THAT(session, IsOk());
  }
  for (const fs::path& model : models) fs::remove(model);
}

std::vector<Value> expected_of(std::string_view source) {
  return *test::run_model(test::model_path(source), {});
}

void expect_runs_like(Session& session, std::string_view source) {
  const auto outputs = session.run(random_inputs(session));
  ASSERT_THAT(outputs, IsOk());
  expect_close(*outputs, expected_of(source));
}

TEST(WeightSharing, TheLastSessionWritesOneBinaryForAllModels) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp", "tiny_cnn"});
  const Environment shared = environment();
  ASSERT_THAT(Session::create(shared, models[0], generating()), IsOk());
  ASSERT_THAT(Session::create(shared, models[1], generating()), IsOk());
  EXPECT_THAT(files_in(folder.path()), UnorderedElementsAre("a.onnx", "b.onnx", "c.onnx"));
  ASSERT_EQ(shared.session_groups().size(), 1U);
  EXPECT_THAT(shared.session_groups()[0].unwritten_models,
              ElementsAre(context_of(models[0]), context_of(models[1])));

  auto last = Session::create(shared, models[2], generating(true));
  ASSERT_THAT(last, IsOk());
  EXPECT_THAT(files_in(folder.path()),
              UnorderedElementsAre("a.onnx", "b.onnx", "c.onnx", "a_ctx.onnx", "b_ctx.onnx",
                                   "c_ctx.onnx", "a_dnnl.bin"));
  EXPECT_THAT(shared.session_groups(), IsEmpty());
  expect_runs_like(*last, "tiny_cnn");
}

TEST(WeightSharing, StoresIdenticalWeightsOnce) {
  const auto binary_of = [](const std::vector<std::string>& sources) {
    const test::TempDirectory folder;
    compile_group(copy_models(folder, sources));
    return fs::file_size(folder / "a_dnnl.bin");
  };
  const uint64_t one = binary_of({"tiny_cnn"});
  const uint64_t three = binary_of({"tiny_cnn", "tiny_cnn", "tiny_cnn"});
  // Only recipes are added, each less than a page.
  EXPECT_GT(three, one);
  EXPECT_LE(three, one + 2 * 4096);
  EXPECT_GT(binary_of({"tiny_cnn", "tiny_mlp"}), one + 4096);
}

TEST(WeightSharing, ContextModelsOfAGroupLoadWithoutAGroup) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp"});
  compile_group(models);
  expect_close(*test::run_model(context_of(models[1]), test::with_dnnl()), expected_of("tiny_mlp"));
  expect_close(*test::run_model(context_of(models[0]), test::with_dnnl()), expected_of("tiny_cnn"));
}

TEST(WeightSharing, TheFirstSessionLoadsTheBinaryForAll) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp", "tiny_cnn"});
  compile_group(models);
  const Environment shared = environment();
  auto first = Session::create(shared, context_of(models[0]), sharing());
  ASSERT_THAT(first, IsOk());
  ASSERT_EQ(shared.session_groups().size(), 1U);
  EXPECT_EQ(shared.session_groups()[0].waiting_partitions.size(), 2U);

  // The other sessions do not open the file again.
  fs::remove(folder / "a_dnnl.bin");
  auto second = Session::create(shared, context_of(models[1]), sharing());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(shared.session_groups()[0].waiting_partitions.size(), 1U);
  // Partitions that were taken are no longer in the workspace.
  const auto again = Session::create(shared, context_of(models[1]), sharing());
  EXPECT_EQ(again.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(again.status().message(), HasSubstr("a_dnnl.bin"));
  auto third = Session::create(shared, context_of(models[2]), sharing());
  ASSERT_THAT(third, IsOk());
  EXPECT_THAT(shared.session_groups()[0].waiting_partitions, IsEmpty());

  expect_runs_like(*first, "tiny_cnn");
  expect_runs_like(*second, "tiny_mlp");
  expect_runs_like(*third, "tiny_cnn");
}

TEST(WeightSharing, AReplacedBinaryIsLoadedAgain) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp"});
  compile_group(models);
  const Environment shared = environment();
  ASSERT_THAT(Session::create(shared, context_of(models[0]), sharing()), IsOk());
  for (const fs::path& model : models) fs::remove(context_of(model));
  fs::remove(folder / "a_dnnl.bin");
  copy_models(folder, {"tiny_mlp", "tiny_residual"});
  compile_group(models);
  auto session = Session::create(shared, context_of(models[1]), sharing());
  ASSERT_THAT(session, IsOk());
  expect_runs_like(*session, "tiny_residual");
}

TEST(WeightSharing, SessionsMayBeDestroyedInAnyOrder) {
  const test::TempDirectory folder;
  const std::vector<std::string> sources = {"tiny_cnn", "tiny_mlp", "tiny_residual"};
  const std::vector<fs::path> models = copy_models(folder, sources);
  compile_group(models);
  std::vector<size_t> order = {0, 1, 2};
  do {
    std::vector<std::unique_ptr<Session>> sessions;
    {
      const Environment shared = environment();
      for (const fs::path& model : models) {
        sessions.push_back(
            std::make_unique<Session>(*Session::create(shared, context_of(model), sharing())));
      }
    }
    for (const size_t gone : order) {
      sessions[gone].reset();
      for (size_t i = 0; i < sessions.size(); ++i) {
        if (sessions[i] != nullptr) expect_runs_like(*sessions[i], sources[i]);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(WeightSharing, GroupsAreIndependentAcrossThreads) {
  const Environment shared = environment();
  const test::TempDirectory folder;
  std::vector<std::thread> threads;
  for (const char* group : {"one", "two", "three"}) {
    threads.emplace_back([&, group] {
      fs::create_directory(folder / group);
      for (const bool last : {false, true}) {
        SessionOptions options = generating(last);
        options.add_config_entry("ep.share_ep_contexts_group", group);
        options.add_config_entry("ep.context_file_path",
                                 (folder / group / (last ? "b_ctx.onnx" : "a_ctx.onnx")).string());
        const auto session =
            Session::create(shared, test::model_path(last ? "tiny_mlp" : "tiny_cnn"), options);
        EXPECT_THAT(session, IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* group : {"one", "two", "three"}) {
    EXPECT_THAT(files_in(folder / group),
                UnorderedElementsAre("a_ctx.onnx", "b_ctx.onnx", "a_dnnl.bin"));
    expect_close(*test::run_model(folder / group / "b_ctx.onnx", test::with_dnnl()),
                 expected_of("tiny_mlp"));
  }
}

TEST(WeightSharing, AFailedSessionLeavesTheGroupUsable) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp"});
  const Environment shared = environment();
  ASSERT_THAT(Session::create(shared, models[0], generating()), IsOk());
  const auto broken = folder.write("broken.onnx", "no model");
  EXPECT_FALSE(Session::create(shared, broken, generating()).ok());
  EXPECT_FALSE(Session::create(shared, broken, generating(true)).ok());
  // Two models with the same output are refused before anything is compiled.
  EXPECT_EQ(Session::create(shared, models[0], generating()).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(shared.session_groups()[0].unwritten_models.size(), 1U);

  // Writing fails; the last session can be created again.
  folder.write("a_ctx.onnx", "in the way");
  EXPECT_FALSE(Session::create(shared, models[1], generating(true)).ok());
  EXPECT_EQ(shared.session_groups()[0].unwritten_models.size(), 1U);
  fs::remove(folder / "a_ctx.onnx");
  ASSERT_THAT(Session::create(shared, models[1], generating(true)), IsOk());
  expect_close(*test::run_model(context_of(models[0]), test::with_dnnl()), expected_of("tiny_cnn"));
  expect_close(*test::run_model(context_of(models[1]), test::with_dnnl()), expected_of("tiny_mlp"));
}

TEST(WeightSharing, AnAbandonedGroupLeavesNoFile) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn"});
  const Environment shared = environment();
  auto session = Session::create(shared, models[0], generating());
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(shared.abandon_session_group(""), IsOk());
  EXPECT_EQ(shared.abandon_session_group("").code(), StatusCode::kNotFound);
  EXPECT_THAT(files_in(folder.path()), ElementsAre("a.onnx"));
  expect_runs_like(*session, "tiny_cnn");
}

TEST(WeightSharing, RefusesSessionsThatCannotJoinTheGroup) {
  const test::TempDirectory folder;
  const std::vector<fs::path> models = copy_models(folder, {"tiny_cnn", "tiny_mlp"});
  const Environment shared = environment();
  SessionOptions embedded = generating();
  embedded.add_config_entry("ep.context_embed_mode", "1");
  EXPECT_THAT(Session::create(shared, models[0], embedded).status().message(),
              HasSubstr("ep.context_embed_mode"));
  ASSERT_THAT(Session::create(shared, models[0], generating()), IsOk());
  SessionOptions elsewhere = generating(true);
  const test::TempDirectory other;
  elsewhere.add_config_entry("ep.context_file_path", (other / "b_ctx.onnx").string());
  EXPECT_THAT(Session::create(shared, models[1], elsewhere).status().message(),
              HasSubstr("one folder"));
  SessionOptions other_options;
  other_options.append_execution_provider("dnnl", {{"num_threads", "1"}});
  other_options.add_config_entry("ep.share_ep_contexts", "1");
  EXPECT_THAT(Session::create(shared, models[1], other_options).status().message(),
              HasSubstr("other options"));
}

TEST(WeightSharing, NamesAProviderThatCannotShare) {
  EnvironmentOptions search;
  search.plugin_directories = {EPHOST_PLUGINS, test::fixture_directory("scripted")};
  search.search_default_directories = false;
  const Environment shared = *Environment::create(search);
  const test::TempDirectory folder;
  const auto session_with = [&](const char* provider) {
    SessionOptions options;
    options.append_execution_provider(provider);
    options.add_config_entry("ep.share_ep_contexts", "1");
    options.add_config_entry("ep.context_enable", "1");
    options.add_config_entry("ep.context_file_path", (folder / "m_ctx.onnx").string());
    return Session::create(shared, test::model_path("tiny_residual"), options).status();
  };
  const Status refused = session_with("scripted_two");
  EXPECT_EQ(refused.code(), StatusCode::kNotImplemented);
  EXPECT_THAT(refused.message(), HasSubstr("ScriptedTwoExecutionProvider cannot share contexts"));
  EXPECT_THAT(session_with("scripted"), IsOk());
}

}  // namespace
}  // namespace ephost::weight_sharing_test
