// What a session does when the worker of a provider ends: session.on_crash.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/integration/session/recovery/recovery_sample.h"
#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::recovery_test {
namespace {

using test::count;
using test::IsOk;
using test::kFault;
using test::kill_workers;
using test::names_of;
using test::Variable;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecoveryTest : public test::RecoverySample {};

TEST_F(RecoveryTest, WithoutItEveryRunFailsFromThenOn) {
  auto session = create_doomed(isolated("fail"));
  ASSERT_THAT(session, IsOk());
  for (int run = 0; run < 3; ++run) {
    const Status status = test::run(*session).status();
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("the worker of \"scripted\" died of SIGSEGV"),
                                        HasSubstr("compute")));
  }
}

TEST_F(RecoveryTest, RestartRepeatsTheRunWithANewWorker) {
  for (const char* claim : {"fuse:*", "kernels:*"}) {
    SCOPED_TRACE(claim);
    auto session = create_doomed(isolated("restart", {{"claim", claim}, {"keep_state", "true"}}));
    ASSERT_THAT(session, IsOk());
    for (int run = 0; run < 3; ++run) expect_right(*session);
    EXPECT_THAT(names_of(*session),
                ElementsAre("ScriptedExecutionProvider", "CPUExecutionProvider"));
    EXPECT_THAT(inside(*session).model()->fallbacks, IsEmpty());
  }
  EXPECT_EQ(count(log_.text(), "ScriptedExecutionProvider gets a new one"), 2U) << log_.text();
}

TEST_F(RecoveryTest, RestartsOnceForARun) {
  std::optional<Variable> fault(std::in_place, kFault, "eph_computation_api.compute:segv");
  auto session = create(isolated("restart"));
  ASSERT_THAT(session, IsOk());
  for (int run = 0; run < 2; ++run) {
    const Status status = test::run(*session).status();
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("died of SIGSEGV"),
                                        HasSubstr("it had been started again once before")));
  }
  fault.reset();
  expect_right(*session);
}

TEST_F(RecoveryTest, RestartsEndInQuarantine) {
  const Variable policy("EPHOST_QUARANTINE", "3/600");
  const Variable state("XDG_STATE_HOME", folder_.path().native());
  const Variable fault(kFault, "eph_computation_api.compute:segv");
  auto session = create(isolated("restart"));
  ASSERT_THAT(session, IsOk());
  std::string message;
  for (int run = 0; run < 5; ++run) message = test::run(*session).status().message();
  EXPECT_THAT(message, AllOf(HasSubstr("quarantined until"), HasSubstr("died of SIGSEGV")));
}

TEST_F(RecoveryTest, FallbackGoesOnWithoutTheProvider) {
  SessionOptions options = isolated("fallback", {{"keep_state", "true"}});
  options.enable_profiling(folder_ / "trace.json");
  auto session = create_doomed(options);
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(names_of(*session), ElementsAre("ScriptedExecutionProvider", "CPUExecutionProvider"));
  for (int run = 0; run < 3; ++run) expect_right(*session);
  ASSERT_THAT(names_of(*session), ElementsAre("CPUExecutionProvider"));
  const auto now = inside(*session).model();
  EXPECT_EQ(now->providers[0].node_count, 5U);
  ASSERT_EQ(now->fallbacks.size(), 1U);
  EXPECT_EQ(now->fallbacks[0].provider, "ScriptedExecutionProvider");
  EXPECT_THAT(now->fallbacks[0].reason.message(), HasSubstr("died of SIGSEGV"));
  EXPECT_EQ(count(log_.text(), "the session continues without ScriptedExecutionProvider"), 1U)
      << log_.text();
  ASSERT_THAT(session->end_profiling(), IsOk());
  EXPECT_THAT(test::read(folder_ / "trace.json"),
              AllOf(HasSubstr("recovery"), HasSubstr("5 on CPUExecutionProvider")));
  EXPECT_THAT(test::worker_processes(), IsEmpty());
}

TEST_F(RecoveryTest, FallbackGivesTheNodesToTheNextProvider) {
  SessionOptions options = isolated("fallback");
  options.append_execution_provider("scripted_two");
  auto session = Session::create(test::scripted_environment(), model_, options);
  ASSERT_THAT(session, IsOk());
  ASSERT_EQ(session->providers()[0].node_count, 4U);
  kill_workers();
  expect_right(*session);
  const std::vector<SessionProvider> providers = inside(*session).model()->providers;
  ASSERT_EQ(providers.size(), 2U);
  EXPECT_EQ(providers[0].name, "ScriptedTwoExecutionProvider");
  EXPECT_EQ(providers[0].node_count, 4U);
}

TEST_F(RecoveryTest, FallbackCoversTheCreationOfASession) {
  for (const char* place : {"constructors", "eph_plugin_v1", "eph_provider_api.get_devices",
                            "eph_provider_api.create", "eph_provider_api.get_capability",
                            "eph_provider_api.compile", "eph_provider_api.get_provider_extension",
                            "eph_computation_api.describe", "eph_computation_api.create_state"}) {
    SCOPED_TRACE(place);
    const Variable fault(kFault, std::string(place) + ":abort");
    auto session = create(isolated("fallback", {{"keep_state", "true"}}));
    ASSERT_THAT(session, IsOk());
    EXPECT_THAT(names_of(*session), ElementsAre("CPUExecutionProvider"));
    ASSERT_EQ(session->fallbacks().size(), 1U);
    EXPECT_THAT(session->fallbacks()[0].reason.message(), HasSubstr("died of SIGABRT"));
    expect_right(*session);
  }
}

TEST_F(RecoveryTest, KernelsOfAWorkerThatDiedLaterAreNotKept) {
  const Variable fault(kFault, "eph_provider_api.compile:abort");
  auto session = create(isolated("fallback", {{"claim", "kernels:Add;fuse:*"}}));
  ASSERT_THAT(session, IsOk());
  expect_right(*session);
  EXPECT_THAT(names_of(*session), ElementsAre("CPUExecutionProvider"));
}

TEST_F(RecoveryTest, AContextModelIsWrittenOnce) {
  const Variable fault(kFault, "eph_provider_api.compile:abort");
  SessionOptions options = isolated("fallback");
  options.append_execution_provider("scripted_two");
  options.add_config_entry("ep.context_enable", "1");
  options.add_config_entry("ep.context_file_path", (folder_ / "ctx.onnx").native());
  auto session = Session::create(environment_of_two(), model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(names_of(*session),
              ElementsAre("ScriptedTwoExecutionProvider", "CPUExecutionProvider"));
  const graph::Model written = test::import_file(folder_ / "ctx.onnx");
  EXPECT_EQ(test::ep_context_nodes(written).size(), 2U);
  expect_right(*session);
}

TEST_F(RecoveryTest, RestartCoversTheCreationOfASessionOnce) {
  const Variable fault(kFault, "eph_provider_api.create:abort");
  const auto session = create(isolated("restart"));
  EXPECT_EQ(session.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(session.status().message(),
              AllOf(HasSubstr("died of SIGABRT"), HasSubstr("it had been started again")));
  EXPECT_EQ(count(log_.text(), "gets a new one"), 1U) << log_.text();
}

TEST_F(RecoveryTest, AHangCountsOnceItsLimitIsOver) {
  std::optional<Variable> fault(std::in_place, kFault, "eph_computation_api.compute:hang");
  SessionOptions options = isolated("restart");
  options.add_config_entry("session.isolation.run_limit", "1");
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  fault.reset();
  expect_right(*session);
  EXPECT_THAT(log_.text(), HasSubstr("session.isolation.run_limit"));
}

TEST_F(RecoveryTest, OneRunMakesTheModelAgainForAll) {
  for (const char* policy : {"restart", "fallback"}) {
    SCOPED_TRACE(policy);
    auto session = create(isolated(policy, {{"compute_milliseconds", "20"}}));
    ASSERT_THAT(session, IsOk());
    const std::vector<NamedValue> inputs = test::random_inputs(*session);
    std::atomic<int> wrong = 0;
    std::atomic<int> runs = 0;
    std::atomic<bool> is_killed = false;
    std::vector<std::thread> threads;
    threads.reserve(6);
    for (int thread = 0; thread < 6; ++thread) {
      threads.emplace_back([&] {
        for (int left = 4; left > 0; left -= is_killed ? 1 : 0) {
          const auto outputs = session->run(inputs);
          ++runs;
          if (!outputs.ok()) {
            ADD_FAILURE() << outputs.status().to_string();
            ++wrong;
            continue;
          }
          const std::span<const float> got = (*outputs)[0].elements<float>();
          const std::span<const float> want = expected_[0].elements<float>();
          if (!std::ranges::equal(got, want)) ++wrong;
        }
      });
    }
    while (runs < 12) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill_workers();
    is_killed = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(count(log_.text(), "ScriptedExecutionProvider gets a new one"), 1U) << log_.text();
  EXPECT_EQ(count(log_.text(), "the session continues without ScriptedExecutionProvider"), 1U)
      << log_.text();
}

TEST_F(RecoveryTest, OptionsThatWereChangedHoldForTheNewWorker) {
  auto session = create(isolated("restart", {{"claim", "fuse:Neg"}}));
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT(session->set_ep_dynamic_options({{"ep.scripted.offset", "5"}}), IsOk());
  const auto before = test::run(*session);
  ASSERT_THAT(before, IsOk());
  EXPECT_NE((*before)[0].elements<float>()[0], expected_[0].elements<float>()[0]);
  kill_workers();
  const auto after = test::run(*session);
  ASSERT_THAT(after, IsOk());
  test::expect_close(*after, *before);
  kill_workers();
  EXPECT_THAT(session->set_ep_dynamic_options({{"ep.scripted.offset", "0"}}), IsOk());
  expect_right(*session);
}

TEST_F(RecoveryTest, OptionsOfALostProviderHaveNoEffect) {
  auto session = create(isolated("fallback"));
  ASSERT_THAT(session, IsOk());
  kill_workers();
  RunOptions options;
  options.add_config_entry("ep.scripted.run_offset", "1");
  const auto outputs = session->run(test::random_inputs(*session), {}, options);
  ASSERT_THAT(outputs, IsOk());
  test::expect_close(*outputs, expected_);
  EXPECT_THAT(session->set_ep_dynamic_options({{"ep.scripted.offset", "5"}}), IsOk());
  EXPECT_FALSE(session->set_ep_dynamic_options({{"ep.other.offset", "5"}}).ok());
  expect_right(*session);
}

TEST_F(RecoveryTest, ARunThatWritesItsInputsIsRepeatedWithWhatTheyWere) {
  auto session = create_doomed(isolated("restart", {{"claim", "fuse:Neg"}}));
  ASSERT_THAT(session, IsOk());
  std::vector<float> memory(4, 1);
  const auto borrow = [&] {
    return *Value::borrow(ElementType::kFloat, {4}, std::as_writable_bytes(std::span(memory)));
  };
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  ASSERT_THAT(binding->bind_input("x", borrow()), IsOk());
  ASSERT_THAT(binding->bind_output("y", borrow()), IsOk());
  const Status status = session->run(*binding);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(memory, ElementsAre(-4.5F, -4.5F, -4.5F, -4.5F));
}

TEST_F(RecoveryTest, NoFallbackForTheCpuProvider) {
  SessionOptions options;
  options.add_config_entry("session.isolation", "worker");
  options.add_config_entry("session.on_crash", "fallback");
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  kill_workers();
  EXPECT_THAT(
      test::run(*session).status().message(),
      AllOf(HasSubstr("nodes of CPUExecutionProvider, which every session has, cannot fall back"),
            HasSubstr("session.on_crash.cpu=restart")));
  options.add_config_entry("session.on_crash.cpu", "restart");
  session = create(options);
  ASSERT_THAT(session, IsOk());
  kill_workers();
  expect_right(*session);
}

TEST_F(RecoveryTest, AContextModelIsRestoredOrRefused) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = folder_ / "ctx.onnx";
  ASSERT_THAT(compile_model(environment(), test::scripted(), compilation), IsOk());
  const auto load = [&](const char* policy) {
    return Session::create(environment(), compilation.output_model_path, isolated(policy));
  };
  auto restarted = load("restart");
  ASSERT_THAT(restarted, IsOk());
  kill_workers();
  expect_right(*restarted);
  auto refused = load("fallback");
  ASSERT_THAT(refused, IsOk());
  for (int run = 0; run < 2; ++run) {
    kill_workers();
    EXPECT_THAT(test::run(*refused).status().message(),
                AllOf(HasSubstr("died of SIGKILL"), HasSubstr("EPContext"),
                      HasSubstr("none of the session's providers")));
  }
  // It was not tried again.
  EXPECT_EQ(count(log_.text(), "the session continues without ScriptedExecutionProvider"), 1U)
      << log_.text();
}

TEST_F(RecoveryTest, SpecialisationsAreMadeAgain) {
  const std::filesystem::path open = test::save(folder_, test::open_model(), "open.onnx");
  for (const char* policy : {"restart", "fallback"}) {
    SCOPED_TRACE(policy);
    SessionOptions options = isolated(policy, {{"fixed", "*"}});
    auto session = Session::create(environment(), open, options);
    ASSERT_THAT(session, IsOk());
    const auto run = [&] {
      const auto outputs = session->run({{{"x", test::floats_of({2, 3})}}});
      ASSERT_THAT(outputs, IsOk());
      const std::span<const float> got = (*outputs)[0].elements<float>();
      EXPECT_THAT(std::vector<float>(got.begin(), got.end()),
                  ::testing::ElementsAreArray(test::open_result({2, 3})));
    };
    for (int i = 0; i < 3; ++i) run();
    ASSERT_EQ(session->specializations().size(), 1U);
    kill_workers();
    for (int i = 0; i < 3; ++i) run();
    const bool has_provider = std::string_view(policy) == "restart";
    EXPECT_EQ(session->specializations().size(), has_provider ? 1U : 0U);
    EXPECT_EQ(names_of(*session).size(), has_provider ? 2U : 1U);
  }
}

TEST_F(RecoveryTest, AModelThatWasReplacedMeanwhileIsNotRead) {
  auto session = create(isolated("fallback"));
  ASSERT_THAT(session, IsOk());
  std::filesystem::remove(model_);
  test::save(folder_, test::open_model());
  kill_workers();
  expect_right(*session);
}

TEST_F(RecoveryTest, ACancelledRunStopsWaiting) {
  auto session = create(isolated("restart", {{"compile_milliseconds", "3000"}}));
  ASSERT_THAT(session, IsOk());
  kill_workers();
  RunOptions options;
  const auto start = std::chrono::steady_clock::now();
  options.deadline = start + std::chrono::milliseconds(200);
  const Status status = session->run(test::random_inputs(*session), {}, options).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("the deadline of the run passed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  expect_right(*session);
}

TEST_F(RecoveryTest, MeansNothingInTheHostsProcess) {
  SessionOptions options = test::scripted();
  options.add_config_entry("session.on_crash", "restart");
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(inside(*session).recovery, nullptr);
  EXPECT_FALSE(inside(*session).prepared().origin);
  expect_right(*session);
}

TEST_F(RecoveryTest, RefusesWhatCannotGoTogether) {
  const auto error_of = [&](const std::string& policy, const char* key, const char* value) {
    SessionOptions options = isolated(policy);
    options.add_config_entry(key, value);
    const Status status = create(options).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(error_of("again", "session.isolation", "worker"),
              AllOf(HasSubstr("session.on_crash.scripted"),
                    HasSubstr("\"fail\", \"restart\" or \"fallback\"")));
  EXPECT_THAT(error_of("fallback", "session.disable_ep_fallback", "1"),
              HasSubstr("session.disable_ep_fallback=1 forbids"));
  EXPECT_THAT(error_of("restart", "ep.share_ep_contexts", "1"),
              HasSubstr("cannot replace a provider that sessions share"));
}

}  // namespace
}  // namespace ephost::recovery_test
