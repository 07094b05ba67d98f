// What providers are told about runs, the options of a run, its deadline, and options that change
// between runs. The scripted provider adds its options `offset` and `run_offset` to what it
// computes.
#include <gmock/gmock.h>

#include <chrono>
#include <regex>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::run_options_test {
namespace {

using graph::testing::GraphBuilder;
using test::both_scripted;
using test::IsOk;
using test::scripted;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// y = -x for one number; the Neg is for the scripted provider, and the Identity for the second.
graph::Model negation() {
  return test::model_of(GraphBuilder()
                            .input("x", test::row_type(1))
                            .node("Neg", {"x"}, {"a"})
                            .node("Relu", {"a"}, {"y"})
                            .output("y")
                            .build());
}

class RunOptionsTest : public ::testing::Test {
 protected:
  RunOptionsTest() { set_log_level(LoggingLevel::kInfo); }
  ~RunOptionsTest() override { set_log_level(LoggingLevel::kWarning); }

  Session create(const SessionOptions& options) {
    auto session = Session::create(test::scripted_environment(), model_, options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static Result<float> run(Session& session, const RunOptions& options = {}) {
    const std::vector<float> minus_ten = {-10};
    EPHOST_ASSIGN_OR_RETURN(Value x, Value::of<float>({1}, minus_ten));
    EPHOST_ASSIGN_OR_RETURN(const std::vector<Value> outputs,
                            session.run({{{"x", std::move(x)}}}, {}, options));
    return outputs[0].elements<float>()[0];
  }
  static std::string error_of(Session& session, const RunOptions& options) {
    return run(session, options).status().message();
  }
  static RunOptions with(const std::string& key, const std::string& value) {
    RunOptions options;
    return options.add_config_entry(key, value);
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, negation());
  test::LogCapture log_;
};

// Both nodes in one partition, so that an offset is added once.
SessionOptions one() { return scripted({{"log_runs", "true"}}); }
SessionOptions two(OptionList first, OptionList second) {
  first.emplace_back("claim", "fuse:Neg");
  first.emplace_back("log_runs", "true");
  return both_scripted(std::move(first), std::move(second));
}

TEST_F(RunOptionsTest, BeginsAndEndsEachRunWithAnIdOfItsOwn) {
  Session session = create(one());
  RunOptions options;
  options.tag = "first of two";
  ASSERT_THAT(run(session, options), IsOk());
  ASSERT_THAT(run(session), IsOk());
  std::smatch ids;
  const std::string log = log_.text();
  ASSERT_TRUE(std::regex_search(
      log, ids,
      std::regex("begin run ([0-9]+) with tag 'first of two'[^]*end run ([0-9]+) with code 0[^]*"
                 "begin run ([0-9]+) with tag ''[^]*end run ([0-9]+) with code 0")))
      << log;
  EXPECT_EQ(ids[1], ids[2]);
  EXPECT_EQ(ids[3], ids[4]);
  EXPECT_NE(ids[1], ids[3]);
  EXPECT_NE(ids[1], "0");
}

TEST_F(RunOptionsTest, EndsARunThatFails) {
  Session session = create(scripted({{"log_runs", "true"}, {"fail", "compute"}}));
  EXPECT_FALSE(run(session).ok());
  EXPECT_THAT(log_.text(), HasSubstr("with code 11"));
}

TEST_F(RunOptionsTest, EndsARunThatIsCancelled) {
  Session session = create(one());
  const std::atomic<bool> cancelled{true};
  const Status status = run(session, {.cancelled = &cancelled}).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("cancelled before step 0"));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("begin run"), HasSubstr("with code 1002")));
}

TEST_F(RunOptionsTest, FailsWhereARunCannotBeBegunAndEndsThoseThatWere) {
  Session session = create(two({}, {{"fail", "begin_run"}}));
  EXPECT_EQ(run(session).status().message(),
            "ScriptedTwoExecutionProvider failed preparing a run: scripted failure at begin_run");
  EXPECT_THAT(log_.text(), ContainsRegex("begin run [0-9]+ with tag ''(.|\n)*end run [0-9]+ with "
                                         "code 11"));
}

TEST_F(RunOptionsTest, FailsWhereARunCannotBeEnded) {
  Session session = create(scripted({{"fail", "end_run"}}));
  EXPECT_EQ(run(session).status().message(),
            "ScriptedExecutionProvider failed ending a run: scripted failure at end_run");
}

TEST_F(RunOptionsTest, TellsNothingToAProviderWithoutComputations) {
  Session session = create(scripted({{"log_runs", "true"}, {"claim", "fuse:Mul"}}));
  EXPECT_THAT(run(session), IsOk());
  EXPECT_THAT(log_.text(), Not(HasSubstr("begin run")));
}

TEST_F(RunOptionsTest, GivesOptionsToOneRun) {
  Session session = create(one());
  EXPECT_EQ(*run(session), 10);
  EXPECT_EQ(*run(session, with("ep.scripted.run_offset", "2.5")), 12.5);
  EXPECT_EQ(*run(session, with("ep.ScriptedExecutionProvider.run_offset", "1")), 11);
  EXPECT_EQ(*run(session), 10);
}

TEST_F(RunOptionsTest, GivesEachOfSeveralProvidersItsOwn) {
  Session session = create(two({}, {}));
  RunOptions options = with("ep.scripted.run_offset", "1");
  options.add_config_entry("ep.scripted_two.run_offset", "20");
  EXPECT_EQ(*run(session, options), 31);
}

TEST_F(RunOptionsTest, RefusesOptionsThatARunDoesNotHave) {
  Session session = create(one());
  EXPECT_THAT(error_of(session, with("ep.scripted.run_ofset", "1")),
              HasSubstr("it is not known; did you mean \"run_offset\"?"));
  EXPECT_THAT(error_of(session, with("ep.scripted.run_offset", "2000")),
              HasSubstr("2000 is out of range"));
  EXPECT_THAT(error_of(session, with("ep.scripted.claim", "every:1")),
              HasSubstr("option \"claim\" of ScriptedExecutionProvider: it has the scope session; "
                        "give it when the session is created"));
  EXPECT_THAT(error_of(session, with("ep.scripted.offset", "1")),
              HasSubstr("it has the scope dynamic; give it when the session is created, or change "
                        "it in the session"));
  EXPECT_THAT(error_of(session, with("ep.acme.power", "1")),
              HasSubstr("the option \"ep.acme.power\" is for a provider that the session does not "
                        "have; its providers are ScriptedExecutionProvider, CPUExecutionProvider"));
  EXPECT_THAT(error_of(session, with("run_offset", "1")), HasSubstr("write ep.PROVIDER.OPTION"));
  EXPECT_THAT(log_.text(), Not(HasSubstr("begin run")));
}

TEST_F(RunOptionsTest, TakesOptionsOfOnnxRuntimeThatHaveNoEffect) {
  Session session = create(one());
  for (const char* const key :
       {"memory.enable_memory_arena_shrinkage", "disable_synchronize_execution_providers"}) {
    EXPECT_EQ(*run(session, with(key, "1")), *run(session)) << key;
  }
}

TEST_F(RunOptionsTest, RefusesAnOptionForRunsWhenTheSessionIsCreated) {
  const auto session =
      Session::create(test::scripted_environment(), model_, scripted({{"run_offset", "1"}}));
  EXPECT_THAT(session.status().message(), HasSubstr("it has the scope run; give it with a run"));
}

TEST_F(RunOptionsTest, ChangesDynamicOptionsForLaterRuns) {
  Session session = create(scripted({{"offset", "1"}}));
  EXPECT_EQ(*run(session), 11);
  ASSERT_THAT(session.set_ep_dynamic_options({{"ep.scripted.offset", "3"}}), IsOk());
  EXPECT_EQ(*run(session), 13);
}

TEST_F(RunOptionsTest, ChangesAllDynamicOptionsOrNone) {
  Session session = create(two({{"offset", "1"}}, {{"fail", "set_options"}}));
  EXPECT_EQ(*run(session), 11);
  const Status changed = session.set_ep_dynamic_options(
      {{"ep.scripted.offset", "5"}, {"ep.scripted_two.offset", "5"}});
  EXPECT_EQ(changed.message(),
            "ScriptedTwoExecutionProvider failed changing its options: scripted failure at "
            "set_options");
  EXPECT_EQ(*run(session), 11);
  EXPECT_THAT(session
                  .set_ep_dynamic_options(
                      {{"ep.scripted.offset", "5"}, {"ep.scripted_two.run_offset", "5"}})
                  .message(),
              HasSubstr("option \"run_offset\" of ScriptedTwoExecutionProvider: it has the scope "
                        "run; give it with a run"));
  EXPECT_EQ(*run(session), 11);
}

TEST_F(RunOptionsTest, ChangesOptionsWhileRunsGoOn) {
  Session session = create(scripted());
  std::thread changes([&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_THAT(session.set_ep_dynamic_options({{"ep.scripted.offset", i % 2 ? "1" : "0"}}),
                  IsOk());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto y = run(session);
    ASSERT_THAT(y, IsOk());
    EXPECT_TRUE(*y == 10 || *y == 11) << *y;
  }
  changes.join();
}

TEST_F(RunOptionsTest, EndsARunAtItsDeadline) {
  Session session = create(scripted({{"compute_milliseconds", "60000"}, {"log_runs", "true"}}));
  RunOptions options;
  options.set_timeout(std::chrono::milliseconds(30));
  const auto start = std::chrono::steady_clock::now();
  const Status status = run(session, options).status();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the deadline of the run passed: "),
                                      HasSubstr("the scripted run was cancelled")));
  EXPECT_THAT(log_.text(), HasSubstr("with code 1003"));
}

TEST_F(RunOptionsTest, StartsNoStepAfterTheDeadline) {
  Session session = create(one());
  RunOptions options;
  options.set_timeout(std::chrono::nanoseconds(0));
  EXPECT_THAT(run(session, options).status().to_string(),
              HasSubstr("DEADLINE_EXCEEDED: the deadline of the run passed before step 0"));
  options.set_timeout(std::chrono::nanoseconds::max());
  EXPECT_EQ(*run(session, options), 10);
}

}  // namespace
}  // namespace ephost::run_options_test
