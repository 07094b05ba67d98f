// Messages of environments, sessions, runs and plugins in the application's own log.
#include <ephost/types/logging.h>
#include <gmock/gmock.h>

#include <mutex>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::logging_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

struct Received {
  LoggingLevel severity;
  std::string category;
  std::string id;
  std::string place;
  std::string message;
};

auto with_message(const auto& matcher) { return Field("message", &Received::message, matcher); }
auto with_id(const auto& matcher) { return Field("id", &Received::id, matcher); }
auto with_category(const auto& matcher) { return Field("category", &Received::category, matcher); }

// The log of an application; several threads may write to it.
class ApplicationLog {
 public:
  LoggingFunction function() {
    return [this](const LogMessage& message) {
      const std::lock_guard lock(mutex_);
      received_.push_back({message.severity, std::string(message.category),
                           std::string(message.log_id), std::string(message.code_location),
                           std::string(message.message)});
    };
  }
  std::vector<Received> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(received_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Received> received_;
};

class LoggingTest : public ::testing::Test {
 protected:
  static Environment environment(ApplicationLog& log, std::string id,
                                 std::optional<LoggingLevel> level = LoggingLevel::kInfo,
                                 std::chrono::milliseconds call_warning = {}) {
    EnvironmentOptions options;
    options.plugin_directories = {test::fixture_directory("scripted"), EPHOST_PLUGINS};
    options.search_default_directories = false;
    options.logging_function = log.function();
    options.log_severity_level = level;
    options.log_id = std::move(id);
    options.call_warning = call_warning;
    auto created = Environment::create(options);
    EXPECT_THAT(created, IsOk());
    return std::move(created).value();
  }
  Session create(const Environment& environment, const SessionOptions& options) {
    auto session = Session::create(environment, model_, options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static SessionOptions loud() { return test::scripted({{"log_runs", "true"}}); }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  ApplicationLog a_;
  ApplicationLog b_;
  test::LogCapture process_;
};

TEST_F(LoggingTest, EachEnvironmentGetsTheMessagesOfItsSessions) {
  {
    Session first = create(environment(a_, "a"), loud().add_config_entry("ep.nonsense", "1"));
    Session second = create(environment(b_, "b"), loud());
    std::thread other([&] {
      for (int i = 0; i < 10; ++i) EXPECT_THAT(test::run(second), IsOk());
    });
    for (int i = 0; i < 10; ++i) EXPECT_THAT(test::run(first), IsOk());
    other.join();
  }
  const std::vector<Received> a = a_.take();
  EXPECT_THAT(a, Each(with_id("a")));
  EXPECT_THAT(a, Contains(AllOf(with_message(HasSubstr("\"ep.nonsense\" is unknown")),
                                with_category("ephost"),
                                Field("place", &Received::place,
                                      MatchesRegex("host/session/creation/pipeline.cc:[0-9]+")))));
  EXPECT_THAT(a, Contains(AllOf(with_message(StartsWith("begin run")),
                                with_category("ScriptedExecutionProvider"),
                                Field("place", &Received::place, IsEmpty())))
                     .Times(10));
  const std::vector<Received> b = b_.take();
  EXPECT_THAT(b, Each(with_id("b")));
  EXPECT_THAT(b, Contains(with_message(StartsWith("begin run"))).Times(10));
  EXPECT_THAT(b, Not(Contains(with_message(HasSubstr("ep.nonsense")))));
  EXPECT_EQ(process_.text(), "");
}

TEST_F(LoggingTest, ASessionHasAnIdAndALevelOfItsOwn) {
  const Environment environment = LoggingTest::environment(a_, "a", LoggingLevel::kWarning);
  Session quiet = create(environment, loud());
  Session loud_one =
      create(environment, loud().set_log_id("loud").set_log_severity_level(LoggingLevel::kInfo));
  Session silent = create(
      environment,
      loud().add_config_entry("ep.nonsense", "1").set_log_severity_level(LoggingLevel::kError));
  a_.take();
  EXPECT_THAT(test::run(quiet), IsOk());
  EXPECT_THAT(a_.take(), IsEmpty());
  EXPECT_THAT(test::run(loud_one), IsOk());
  EXPECT_THAT(a_.take(), AllOf(Not(IsEmpty()), Each(with_id("loud"))));
  EXPECT_THAT(test::run(silent), IsOk());
  EXPECT_THAT(a_.take(), IsEmpty());
}

TEST_F(LoggingTest, ARunHasItsTagInTheIdAndALevelOfItsOwn) {
  Session session = create(environment(a_, "a", LoggingLevel::kWarning), loud());
  const std::vector<NamedValue> inputs = test::random_inputs(session);
  RunOptions options;
  options.log_severity_level = LoggingLevel::kInfo;
  EXPECT_THAT(session.run(inputs, {}, options), IsOk());
  EXPECT_THAT(a_.take(), AllOf(Not(IsEmpty()), Each(with_id("a"))));
  options.tag = "frame 17";
  EXPECT_THAT(session.run(inputs, {}, options), IsOk());
  EXPECT_THAT(a_.take(), AllOf(Not(IsEmpty()), Each(with_id("a:frame 17"))));
  options.log_severity_level.reset();
  EXPECT_THAT(session.run(inputs, {}, options), IsOk());
  EXPECT_THAT(a_.take(), IsEmpty());
}

TEST_F(LoggingTest, ARunInTheBackgroundLogsAsOthersDo) {
  {
    Session session = create(environment(a_, "a"), loud());
    a_.take();
    RunOptions options;
    options.tag = "later";
    ASSERT_THAT(session.run_async(
                    test::random_inputs(session), {},
                    [](const Status&, const std::vector<Value>&) { throw 1; }, options),
                IsOk());
  }
  const std::vector<Received> all = a_.take();
  EXPECT_THAT(all, Contains(AllOf(with_message(StartsWith("begin run")), with_id("a:later"))));
  EXPECT_THAT(all, Contains(with_message(HasSubstr("the callback of run_async threw"))));
  EXPECT_EQ(process_.text(), "");
}

TEST_F(LoggingTest, StepsInParallelLogWhereTheirRunDoes) {
  SessionOptions options = loud();
  options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(4);
  {
    Session session = create(environment(a_, "a"), options);
    for (int i = 0; i < 10; ++i) EXPECT_THAT(test::run(session), IsOk());
  }
  EXPECT_THAT(a_.take(), Contains(with_message(StartsWith("end run"))).Times(10));
  EXPECT_EQ(process_.text(), "");
}

TEST_F(LoggingTest, NamesLongCallsInTheLogOfTheirSession) {
  const std::chrono::milliseconds limit(20);
  Session session = create(environment(a_, "a", LoggingLevel::kWarning, limit),
                           test::scripted({{"compute_milliseconds", "500"}}));
  EXPECT_THAT(test::run(session), IsOk());
  EXPECT_THAT(a_.take(), Contains(AllOf(with_message(HasSubstr("has been running for more than")),
                                        with_id("a"))));
  EXPECT_EQ(process_.text(), "");
}

TEST_F(LoggingTest, WithoutAFunctionMessagesGoToTheProcess) {
  EnvironmentOptions options;
  options.plugin_directories = {test::fixture_directory("scripted"), EPHOST_PLUGINS};
  options.search_default_directories = false;
  options.log_severity_level = LoggingLevel::kInfo;
  auto environment = Environment::create(options);
  ASSERT_THAT(environment, IsOk());
  Session session = create(*environment, loud().set_log_id("mine"));
  EXPECT_THAT(test::run(session), IsOk());
  EXPECT_THAT(process_.text(), HasSubstr("[mine] ScriptedExecutionProvider: begin run"));
}

TEST_F(LoggingTest, GetsTheMessagesOfOtherFunctionsToo) {
  const Environment environment = LoggingTest::environment(a_, "a");
  EXPECT_THAT(partition_model(environment, model_, loud()), IsOk());
  EXPECT_THAT(a_.take(), Contains(with_message(HasSubstr("loaded "))));
  EXPECT_THAT(partition_model(environment, model_, loud().add_config_entry("x", "1")), IsOk());
  EXPECT_THAT(a_.take(), Contains(with_message(HasSubstr("\"x\" is unknown"))));
  EXPECT_EQ(process_.text(), "");
}

}  // namespace
}  // namespace ephost::logging_test
