// Who may ask for isolation: the strictest of machine, program, user, session and plugin counts.
#include <gmock/gmock.h>

#include "host/session/environment_state.h"
#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"

namespace ephost {
namespace {

using test::Variable;
using ::testing::HasSubstr;

class IsolationTest : public ::testing::Test {
 protected:
  static Environment environment(const std::filesystem::path& plugins, Isolation isolation) {
    EnvironmentOptions options;
    options.plugin_directories = {plugins, EPHOST_PLUGINS};
    options.search_default_directories = false;
    options.isolation = isolation;
    auto created = Environment::create(options);
    EXPECT_TRUE(created.ok()) << created.status().to_string();
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
    EXPECT_TRUE(session.ok()) << session.status().to_string();
    if (session.ok()) {
      const auto outputs = test::run(*session);
      EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
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
    EXPECT_TRUE(loaded.ok()) << loaded.to_string();
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

// Which file that is, no test can say; tests/unit/trust reads one.
TEST_F(IsolationTest, TheMachineMayAsk) {
  const Environment of_machine = environment();
  of_machine.state().isolation = Isolation::kWorker;
  EXPECT_EQ(level_of(of_machine, scripted()), Isolation::kWorker);
  EXPECT_EQ(level_of(of_machine, asking("none")), Isolation::kWorker);
  EXPECT_EQ(level_of(of_machine, asking("sandbox")), Isolation::kSandbox);
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
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const std::vector<int64_t> at = {3, 0, 1};
  const auto outputs = session->run(std::vector<NamedValue>{{"at", *Value::of<int64_t>({3}, at)}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
  EXPECT_THAT(outputs->front().elements<float>(), ::testing::ElementsAre(40, 10, 20));
}

}  // namespace
}  // namespace ephost
