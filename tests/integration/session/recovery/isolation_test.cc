// Who may ask for isolation: the strictest of machine, program, user, session and plugin counts.
#include <ephost/types/logging.h>
#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <string_view>
#include <thread>

#include "host/base/files/failure_records.h"
#include "host/session/environment/environment.h"
#include "host/trust/policy.h"
#include "host/worker/process/sandbox.h"
#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::isolation_test {
namespace {

using test::IsOk;
using test::Variable;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class IsolationTest : public ::testing::Test {
 protected:
  static EnvironmentOptions options_for(const std::filesystem::path& plugins, Isolation isolation) {
    EnvironmentOptions options;
    options.plugin_directories = {plugins, EPHOST_PLUGINS};
    options.search_default_directories = false;
    options.isolation = isolation;
    return options;
  }
  static Environment environment(const std::filesystem::path& plugins, Isolation isolation) {
    auto created = Environment::create(options_for(plugins, isolation));
    EXPECT_THAT(created, IsOk());
    return std::move(created).value();
  }
  static Environment environment(Isolation isolation = Isolation::kNone) {
    return environment(test::fixture_directory("scripted"), isolation);
  }

  // Where the scripted provider of such a session runs; the CPU provider runs in the same way, or
  // in this process.
  [[nodiscard]] Isolation level_of(const Environment& environment,
                                   const SessionOptions& options) const {
    auto session = Session::create(environment, model_, options);
    EXPECT_THAT(session, IsOk());
    if (session.ok()) {
      const auto outputs = test::run(*session);
      EXPECT_THAT(outputs, IsOk());
      if (outputs.ok()) test::expect_close(*outputs, expected_);
    }
    const std::vector<pid_t> workers = test::worker_processes();
    if (workers.empty()) return Isolation::kNone;
    const std::string status = test::read("/proc/" + std::to_string(workers.front()) + "/status");
    return status.find("Seccomp:\t2") == status.npos ? Isolation::kWorker : Isolation::kSandbox;
  }
  static SessionOptions asking(const std::string& level) {
    SessionOptions options = scripted();
    options.add_config_entry("session.isolation.scripted", level);
    return options;
  }
  static SessionOptions scripted() { return test::scripted({}); }

  const Variable program_{"EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM};
  const test::TempDirectory folder_;
  const std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  const std::vector<Value> expected_ = test::expected_outputs(model_);
};

TEST_F(IsolationTest, NobodyAsksForIt) {
  EXPECT_EQ(level_of(environment(), scripted()), Isolation::kNone);
}

TEST_F(IsolationTest, TheProgramMayAsk) {
  EXPECT_EQ(level_of(environment(Isolation::kWorker), scripted()), Isolation::kWorker);
  EXPECT_EQ(level_of(environment(Isolation::kWorker), asking("none")), Isolation::kWorker);
  EXPECT_EQ(level_of(environment(Isolation::kWorker), asking("sandbox")), Isolation::kSandbox);
  EXPECT_EQ(level_of(environment(Isolation::kSandbox), asking("worker")), Isolation::kSandbox);
}

TEST_F(IsolationTest, TheUserMayAsk) {
  const Variable variable("EPHOST_ISOLATION", "worker");
  EXPECT_EQ(level_of(environment(), scripted()), Isolation::kWorker);
  EXPECT_EQ(level_of(environment(Isolation::kSandbox), scripted()), Isolation::kSandbox);
  EXPECT_EQ(level_of(environment(), asking("none")), Isolation::kWorker);
}

TEST_F(IsolationTest, ASelectionMayAsk) {
  const std::filesystem::path file = folder_ / "selection.yaml";
  const auto level_with = [&](std::string_view text) {
    test::write(file, text);
    SessionOptions options;
    const Status loaded = options.load_selection(file);
    EXPECT_THAT(loaded, IsOk());
    return level_of(environment(), options);
  };
  EXPECT_EQ(level_with("selection: 1\nproviders: [{provider: scripted, isolation: worker}]\n"),
            Isolation::kWorker);
  EXPECT_EQ(level_with("selection: 1\nproviders: [scripted]\nisolation: worker\n"),
            Isolation::kWorker);
  EXPECT_EQ(level_with("selection: 1\nproviders: [{provider: scripted, isolation: none}]\n"
                       "isolation: sandbox\n"),
            Isolation::kSandbox);
}

TEST_F(IsolationTest, ThePluginMayAsk) {
  const std::filesystem::path plugins = folder_ / "plugins";
  std::filesystem::copy(test::fixture_directory("scripted"), plugins);
  const std::filesystem::path file = plugins / "scripted.yaml";
  const std::string manifest = test::read(file);
  const auto environment_with = [&](std::string_view line) {
    test::write(file, manifest + std::string(line));
    return environment(plugins, Isolation::kNone);
  };
  EXPECT_EQ(level_of(environment_with("isolation: worker\n"), scripted()), Isolation::kWorker);
  EXPECT_EQ(level_of(environment_with("isolation: worker\n"), asking("none")), Isolation::kWorker);
  EXPECT_EQ(level_of(environment_with("isolation: worker\n"), asking("sandbox")),
            Isolation::kSandbox);
  EXPECT_EQ(level_of(environment_with("isolation: none\n"), scripted()), Isolation::kNone);
  const Environment refused = environment_with("isolation: cell\n");
  ASSERT_FALSE(refused.skipped_plugins().empty());
  EXPECT_THAT(refused.skipped_plugins()[0].reason.message(),
              HasSubstr("write one of none, worker, sandbox"));
}

TEST_F(IsolationTest, TheUserGrantsFilesToAPluginInASandbox) {
  if (!worker::probe_sandbox().missing.empty()) GTEST_SKIP() << "the kernel lacks Landlock";
  const test::TempDirectory marks;
  const Variable fault("EPHOST_FAULT", "eph_computation_api.compute:nothing");
  const Variable mark("EPHOST_FAULT_MARK", marks / "mark");
  const auto leaves_mark = [&](const SessionOptions& options) {
    const Environment faulty = test::scripted_environment(test::fixture_directory("faulty"));
    auto session = Session::create(faulty, model_, options);
    EXPECT_THAT(session, IsOk());
    if (session.ok()) {
      EXPECT_THAT(test::run(*session), IsOk());
    }
    return std::filesystem::exists(marks / "mark");
  };
  EXPECT_FALSE(leaves_mark(asking("sandbox")));
  SessionOptions granted = asking("sandbox");
  granted.add_config_entry("session.sandbox.writable.scripted", marks.path().string());
  EXPECT_TRUE(leaves_mark(granted));
  SessionOptions unknown = asking("sandbox");
  unknown.add_config_entry("session.sandbox.writable.scriptd", marks.path().string());
  EXPECT_THAT(Session::create(environment(), model_, unknown).status().message(),
              HasSubstr("did you mean \"scripted\"?"));
}

TEST_F(IsolationTest, HoldsForRegisteredPlugins) {
  const std::filesystem::path plugins = folder_ / "plugins";
  std::filesystem::copy(test::fixture_directory("scripted"), plugins);
  const Environment of_program = environment(folder_.path() / "none", Isolation::kWorker);
  const Status registered =
      of_program.register_execution_provider_library(plugins / "scripted.yaml", "mine");
  ASSERT_THAT(registered, IsOk());
  EXPECT_EQ(test::worker_processes().size(), 1U);
  EXPECT_THAT(test::read("/proc/self/maps"), Not(HasSubstr(plugins.string())));
  EXPECT_EQ(level_of(of_program, scripted()), Isolation::kWorker);
  ASSERT_THAT(of_program.unregister_execution_provider_library("mine"), IsOk());
  EXPECT_THAT(test::worker_processes(), IsEmpty());
}

TEST_F(IsolationTest, IsNotAskedForByANameThatNobodyHas) {
  for (const char* const policy : {"session.isolation.", "session.on_crash.", "session.layers."}) {
    SessionOptions options = scripted();
    const bool is_layer = std::string_view(policy) == "session.layers.";
    const bool is_isolation = std::string_view(policy) == "session.isolation.";
    const std::string value = is_layer ? "validate" : is_isolation ? "sandbox" : "restart";
    options.add_config_entry(std::string(policy) + "scriptd", value);
    const Status refused = Session::create(environment(), model_, options).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr(std::string(policy) + "scriptd"),
                                         HasSubstr("did you mean \"scripted\"?")));
    // One that is installed need not be asked for.
    SessionOptions others = scripted();
    others.add_config_entry(std::string(policy) + "CPU", value);
    others.add_config_entry(std::string(policy) + "ScriptedExecutionProvider", value);
    const auto session = Session::create(environment(), model_, others);
    EXPECT_THAT(session, IsOk());
  }
}

// The workers are shared by sessions, but not what follows from their end.
TEST_F(IsolationTest, EachSessionRecordsTheFailuresThatItsPolicyCounts) {
  const Variable state("XDG_STATE_HOME", folder_.path().string());
  const Variable off("EPHOST_QUARANTINE", "off");
  const Environment shared = environment();
  const auto careless = Session::create(shared, model_, asking("worker"));
  ASSERT_THAT(careless, IsOk());
  SessionOptions options = asking("worker");
  options.add_config_entry("session.quarantine", "2/60");
  const auto careful = Session::create(shared, model_, options);
  ASSERT_THAT(careful, IsOk());
  test::kill_workers();
  const FailureRecords records(FailureRecords::default_file());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (records.read().records.empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(records.read().records.size(), 1U);
  EXPECT_EQ(records.read().records[0].name, "scripted");
}

TEST_F(IsolationTest, TheMachineMayAsk) {
  const auto with_policy = [&](std::string_view policy, Isolation of_program) {
    test::write(folder_ / "policy.yaml", "policy: 1\n" + std::string(policy));
    Environment made = environment(of_program);
    auto state = session::create_environment(
        options_for(test::fixture_directory("scripted"), of_program),
        {.path = folder_ / "policy.yaml", .owner = trust::Owner::kRootOrUser});
    EXPECT_THAT(state, IsOk());
    made.handle()->state = std::move(state).value();
    return made;
  };
  const Environment strict = with_policy("signatures: warn\nquarantine: 2/60\n", Isolation::kNone);
  EXPECT_EQ(inside(strict).registry.verifier().policy(), SignaturePolicy::kWarn);
  EXPECT_EQ(inside(strict).quarantine, (trust::QuarantinePolicy{2, std::chrono::seconds(60)}));
  EXPECT_EQ(level_of(strict, scripted()), Isolation::kNone);
  EXPECT_EQ(level_of(with_policy("isolation: worker\n", Isolation::kSandbox), scripted()),
            Isolation::kSandbox);
  const Environment of_machine = with_policy("isolation: worker\n", Isolation::kNone);
  EXPECT_EQ(level_of(of_machine, scripted()), Isolation::kWorker);
  EXPECT_EQ(level_of(of_machine, asking("none")), Isolation::kWorker);
  EXPECT_EQ(level_of(of_machine, asking("sandbox")), Isolation::kSandbox);
}

TEST_F(IsolationTest, LogsOfAPluginThatIsLoadedWhileTheModelIsReadGoToTheSession) {
  std::mutex mutex;
  std::vector<std::string> messages;
  EnvironmentOptions options = options_for(test::fixture_directory("scripted"), Isolation::kNone);
  options.logging_function = [&](const LogMessage& message) {
    const std::lock_guard lock(mutex);
    messages.emplace_back(message.message);
  };
  options.log_severity_level = LoggingLevel::kInfo;
  const auto logging = Environment::create(options);
  ASSERT_THAT(logging, IsOk());
  const auto session = Session::create(*logging, model_, asking("worker"));
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(messages, ::testing::Contains(HasSubstr("for provider \"ScriptedExecutionProvider\" "
                                                      "in a worker")));
}

// The values of such a graph are as many as those of its node, which has them in another order.
TEST_F(IsolationTest, KernelsOfASingleNodeHaveItsValuesByNumber) {
  using graph::testing::GraphBuilder;
  const graph::Model model = test::model_of(
      GraphBuilder()
          .input("at", graph::testing::tensor_type(ElementType::kInt64, graph::Shape{{3}}))
          .constant("from", graph::testing::float_tensor({10, 20, 30, 40}))
          .node("Gather", {"from", "at"}, {"y"})
          .output("y")
          .build());
  SessionOptions options;
  options.add_config_entry("session.isolation", "worker");
  auto session = Session::create(environment(), test::save(folder_, model), options);
  ASSERT_THAT(session, IsOk());
  const std::vector<int64_t> at = {3, 0, 1};
  const auto outputs = session->run(std::vector<NamedValue>{{"at", *Value::of<int64_t>({3}, at)}});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(outputs->front().elements<float>(), ::testing::ElementsAre(40, 10, 20));
}

}  // namespace
}  // namespace ephost::isolation_test
