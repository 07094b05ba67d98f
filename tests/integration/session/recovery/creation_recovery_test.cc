// Workers that end while a session is created or a model compiled: what becomes of the cache store,
// of context models that were written before, and of specialisations.
#include <chrono>

#include "tests/integration/session/recovery/recovery_sample.h"
#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::creation_recovery_test {
namespace {

namespace fs = std::filesystem;
using test::count;
using test::FaultOnce;
using test::IsOk;
using test::kFault;
using test::kill_workers;
using test::names_of;
using test::Variable;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Outcome = CacheUse::Outcome;

constexpr const char* kProfiles = "session.shapes.profiles";

class CreationRecoveryTest : public test::RecoverySample {
 protected:
  // With a second scripted provider, in this process.
  static SessionOptions isolated_of_two(const std::string& policy, OptionList provider = {}) {
    SessionOptions options = isolated(policy, std::move(provider));
    options.append_execution_provider("scripted_two");
    return options;
  }
  [[nodiscard]] SessionOptions cached(SessionOptions options) const {
    options.add_config_entry("ep.cache_dir", (folder_ / "cache").native());
    return options;
  }
  [[nodiscard]] Result<Session> create_of_two(const SessionOptions& options) const {
    return Session::create(environment_of_two(), model_, options);
  }
  [[nodiscard]] fs::path save_open() const {
    return test::save(folder_, test::open_model(), "open.onnx");
  }
  static void expect_open_result(Session& session, std::vector<int64_t> shape) {
    const auto outputs = session.run({{{"x", test::floats_of(shape)}}});
    ASSERT_THAT(outputs, IsOk());
    const std::span<const float> got = (*outputs)[0].elements<float>();
    EXPECT_THAT(std::vector<float>(got.begin(), got.end()),
                ::testing::ElementsAreArray(test::open_result(shape)));
  }
};

TEST_F(CreationRecoveryTest, TheCacheStoreKeepsNothingThatLacksAProvider) {
  for (const char* policy : {"fail", "restart", "fallback"}) {
    SCOPED_TRACE(policy);
    fs::remove_all(folder_ / "cache");
    {
      const FaultOnce fault(folder_, "eph_provider_api.get_capability:abort");
      auto session = create_of_two(cached(isolated_of_two(policy)));
      ASSERT_THAT(session, IsOk());
      EXPECT_TRUE(fault.was_committed());
      expect_right(*session);
      const bool is_restarted = std::string_view(policy) == "restart";
      EXPECT_EQ(session->providers()[0].name, std::string_view(policy) == "fallback"
                                                  ? "ScriptedTwoExecutionProvider"
                                                  : "ScriptedExecutionProvider");
      if (is_restarted) {
        EXPECT_GT(session->providers()[0].node_count, 0U);
      }
    }
    auto session = create_of_two(cached(isolated_of_two(policy)));
    ASSERT_THAT(session, IsOk());
    EXPECT_EQ(session->providers()[0].name, "ScriptedExecutionProvider");
    EXPECT_GT(session->providers()[0].node_count, 0U);
    expect_right(*session);
  }
}

TEST_F(CreationRecoveryTest, TheCacheStoreKeepsNothingOfAProviderThatSaidTooLittle) {
  const auto create_failing = [&](const fs::path& model, const char* call) {
    return Session::create(test::scripted_environment(), model,
                           cached(test::both_scripted({{"fail", call}})));
  };
  const auto without_nodes = create_failing(model_, "capability");
  ASSERT_THAT(without_nodes, IsOk());
  EXPECT_EQ(without_nodes->cache_use().outcome, Outcome::kUncached);
  EXPECT_THAT(without_nodes->cache_use().reason,
              AllOf(HasSubstr("ScriptedExecutionProvider"), HasSubstr("which nodes it claims")));
  const auto without_wishes = create_failing(save_open(), "get_wishes");
  ASSERT_THAT(without_wishes, IsOk());
  EXPECT_EQ(without_wishes->cache_use().outcome, Outcome::kUncached);
  EXPECT_THAT(without_wishes->cache_use().reason,
              AllOf(HasSubstr("ScriptedExecutionProvider"), HasSubstr("wishes")));
}

TEST_F(CreationRecoveryTest, AnEntryThatEndsAWorkerCostsNoProvider) {
  ASSERT_THAT(create(cached(isolated("fallback"))), IsOk());
  const FaultOnce fault(folder_, "eph_computation_api.describe:abort");
  auto session = create(cached(isolated("fallback")));
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(fault.was_committed());
  EXPECT_EQ(count(log_.text(), "is quarantined"), 1U) << log_.text();
  EXPECT_THAT(names_of(*session), ElementsAre("ScriptedExecutionProvider", "CPUExecutionProvider"));
  EXPECT_THAT(session->fallbacks(), IsEmpty());
  expect_right(*session);
}

TEST_F(CreationRecoveryTest, ALaterAttemptReplacesTheContextModelOfTheFirst) {
  for (const bool embeds : {false, true}) {
    for (const char* policy : {"restart", "fallback"}) {
      SCOPED_TRACE(std::string(policy) + (embeds ? ", embedded" : ""));
      const fs::path output = folder_ / "out" / "ctx.onnx";
      fs::remove_all(output.parent_path());
      fs::create_directory(output.parent_path());
      SessionOptions options = isolated_of_two(policy, {{"keep_state", "true"}});
      options.add_config_entry("ep.context_enable", "1");
      options.add_config_entry("ep.context_file_path", output.native());
      options.add_config_entry("ep.context_embed_mode", embeds ? "1" : "0");
      const FaultOnce fault(folder_, "eph_computation_api.create_state:abort");
      auto session = create_of_two(options);
      ASSERT_THAT(session, IsOk());
      EXPECT_TRUE(fault.was_committed());
      expect_right(*session);
      const graph::Model written = test::import_file(output);
      const auto nodes = test::ep_context_nodes(written);
      ASSERT_EQ(nodes.size(), 2U);
      EXPECT_EQ(nodes[0]->string("source"), session->providers()[0].name);
      // What it did not write, it leaves alone.
      const Status again = create_of_two(options).status();
      EXPECT_THAT(again.message(), HasSubstr("exists already"));
    }
  }
}

TEST_F(CreationRecoveryTest, RestartCoversTheSpecialisationsOfProfiles) {
  SessionOptions options = isolated("restart", {{"fixed", "*"}, {"keep_state", "true"}});
  options.add_config_entry(kProfiles, "batch=2,seq=3");
  const FaultOnce fault(folder_, "eph_computation_api.create_state:abort");
  auto session = Session::create(environment(), save_open(), options);
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(fault.was_committed());
  EXPECT_EQ(count(log_.text(), "ScriptedExecutionProvider gets a new one"), 1U) << log_.text();
  EXPECT_EQ(session->specializations().size(), 1U);
  expect_open_result(*session, {2, 3});
}

TEST_F(CreationRecoveryTest, RestartCoversTheSpecialisationsOfAContextModel) {
  SessionOptions profiles = test::scripted({{"fixed", "*"}});
  profiles.add_config_entry(kProfiles, "batch=2,seq=3");
  ModelCompilationOptions compilation;
  compilation.input_model_path = save_open();
  compilation.output_model_path = folder_ / "ctx.onnx";
  const auto compiled = compile_model(environment(), profiles, compilation);
  ASSERT_THAT(compiled, IsOk());
  const FaultOnce fault(folder_, "eph_computation_api.create_state:abort");
  auto session = Session::create(environment(), compilation.output_model_path,
                                 isolated("restart", {{"fixed", "*"}, {"keep_state", "true"}}));
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(fault.was_committed());
  EXPECT_EQ(count(log_.text(), "ScriptedExecutionProvider gets a new one"), 1U) << log_.text();
  EXPECT_EQ(session->specializations().size(), 1U);
  expect_open_result(*session, {2, 3});
}

TEST_F(CreationRecoveryTest, TheDeadlineOfARunEndsSpecialisationsToo) {
  SessionOptions options = isolated("restart", {{"fixed", "*"}, {"compile_milliseconds", "1000"}});
  options.add_config_entry(kProfiles, "batch=2,seq=3;batch=3,seq=3;batch=4,seq=3;batch=5,seq=3");
  auto session = Session::create(environment(), save_open(), options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->specializations().size(), 4U);
  kill_workers();
  RunOptions run;
  const auto start = std::chrono::steady_clock::now();
  run.deadline = start + std::chrono::milliseconds(300);
  const Status status = session->run({{{"x", test::floats_of({2, 3})}}}, {}, run).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("the deadline of the run passed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  expect_open_result(*session, {2, 3});
}

TEST_F(CreationRecoveryTest, AFailureThatPassesIsNotTheEnd) {
  SessionOptions options = isolated_of_two("fallback");
  options.add_config_entry("session.isolation.scripted_two", "worker");
  options.add_config_entry("session.on_crash.scripted_two", "fallback");
  auto session = create_of_two(options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(test::worker_processes().size(), 2U);
  const pid_t first = test::worker_of(test::fixture_directory("faulty"));
  ASSERT_NE(first, 0);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  {
    const Variable program("EPHOST_WORKER_PROGRAM", "/nowhere/ephost-worker");
    const Status status = test::run(*session).status();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("continuing after"), HasSubstr("/nowhere")));
  }
  const Variable program("EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM);
  expect_right(*session);
  EXPECT_THAT(names_of(*session),
              ElementsAre("ScriptedTwoExecutionProvider", "CPUExecutionProvider"));
}

TEST_F(CreationRecoveryTest, PayloadsOfTheCreationAreNotAskedForAgain) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = folder_ / "ctx.onnx";
  ASSERT_THAT(compile_model(environment(), test::scripted(), compilation), IsOk());
  const std::string payload = test::read(folder_ / "ctx_scripted.bin");
  SessionOptions options = isolated("restart");
  options.set_ep_context_data_read_func([&](std::string_view) -> Result<EpContextData> {
    return EpContextData{std::as_bytes(std::span(payload)), nullptr};
  });
  auto session = Session::create(environment(), compilation.output_model_path, options);
  ASSERT_THAT(session, IsOk());
  kill_workers();
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(test::run(*session).status().message(),
                AllOf(HasSubstr("died of SIGKILL"), HasSubstr("create another session")));
  }
  EXPECT_EQ(count(log_.text(), "ScriptedExecutionProvider gets a new one"), 1U) << log_.text();
}

TEST_F(CreationRecoveryTest, SpellingsOfAProviderHaveToAgree) {
  SessionOptions options = isolated("restart");
  options.add_config_entry("session.on_crash.scriptedexecutionprovider", "fallback");
  const Status status = create(options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("session.on_crash.scripted=restart"),
                    HasSubstr("session.on_crash.scriptedexecutionprovider=fallback"),
                    HasSubstr("ScriptedExecutionProvider")));
  options.add_config_entry("session.on_crash.scriptedexecutionprovider", "restart");
  const auto session = create(options);
  EXPECT_THAT(session, IsOk());
}

TEST_F(CreationRecoveryTest, SessionsShareNoProviderAcrossLevels) {
  const Environment shared = environment();
  const auto create_with = [&](const char* level, const char* memory) {
    SessionOptions options = test::scripted();
    options.add_config_entry("session.isolation.scripted", level);
    options.add_config_entry("session.isolation.memory", memory);
    options.add_config_entry("ep.share_ep_contexts", "1");
    return Session::create(shared, model_, options);
  };
  const auto first = create_with("worker", "0");
  ASSERT_THAT(first, IsOk());
  for (const auto& [level, memory] :
       {std::pair{"sandbox", "0"}, std::pair{"worker", "8589934592"}}) {
    const Status status = create_with(level, memory).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("isolation"));
  }
  const auto same = create_with("worker", "0");
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(inside(*same).prepared().providers[0], inside(*first).prepared().providers[0]);
}

TEST_F(CreationRecoveryTest, CompilingAModelGoesOnAsSessionsDo) {
  const auto compile = [&](const char* policy, const char* place) {
    const FaultOnce fault(folder_, std::string(place) + ":abort");
    ModelCompilationOptions compilation;
    compilation.input_model_path = model_;
    compilation.output_model_path = folder_ / "ctx.onnx";
    auto report = compile_model(environment_of_two(), isolated_of_two(policy), compilation);
    EXPECT_TRUE(fault.was_committed());
    return report;
  };
  for (const char* place : {"eph_provider_api.get_capability", "eph_provider_api.compile",
                            "eph_provider_api.get_ep_context_nodes"}) {
    SCOPED_TRACE(place);
    const auto restarted = compile("restart", place);
    ASSERT_THAT(restarted, IsOk());
    ASSERT_EQ(restarted->partitions.size(), 2U);
    EXPECT_EQ(restarted->partitions[0].provider, "ScriptedExecutionProvider");
    EXPECT_THAT(restarted->fallbacks, IsEmpty());
    const auto replaced = compile("fallback", place);
    ASSERT_THAT(replaced, IsOk());
    ASSERT_EQ(replaced->partitions.size(), 2U);
    EXPECT_EQ(replaced->partitions[0].provider, "ScriptedTwoExecutionProvider");
    ASSERT_EQ(replaced->fallbacks.size(), 1U);
    EXPECT_THAT(replaced->fallbacks[0].reason.message(), HasSubstr("died of SIGABRT"));
  }
}

}  // namespace
}  // namespace ephost::creation_recovery_test
