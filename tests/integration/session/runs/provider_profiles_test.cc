// Events of providers in a session's profile.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::provider_profiles_test {
namespace {

using test::IsOk;
using test::scripted;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ProviderProfilesTest : public ::testing::Test {
 protected:
  // The trace of a session that ran once.
  std::string trace_of(OptionList options) {
    SessionOptions profiled = scripted(std::move(options));
    profiled.enable_profiling(folder_ / "trace.json");
    auto session = Session::create(test::scripted_environment(), model_, profiled);
    EXPECT_THAT(session, IsOk());
    RunOptions run;
    run.tag = "tagged";
    EXPECT_THAT(session->run(test::random_inputs(*session), {}, run), IsOk());
    const auto written = session->end_profiling();
    EXPECT_THAT(written, IsOk());
    return test::read(folder_ / "trace.json");
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  test::LogCapture log_;
};

TEST_F(ProviderProfilesTest, HaveRowsOfTheirOwnBesideTheHosts) {
  const std::string trace = trace_of({});
  EXPECT_THAT(trace, HasSubstr(R"("ph":"M")"));
  EXPECT_THAT(trace, HasSubstr(R"("args":{"name":"ScriptedExecutionProvider"}})"));
  EXPECT_THAT(trace, HasSubstr(R"("args":{"name":"queue 0"}})"));
  EXPECT_THAT(trace, ContainsRegex(R"("cat":"kernel","ph":"X".*"args":.*"clock":"scripted"})"));
  EXPECT_THAT(trace, AllOf(HasSubstr(R"("cat":"step")"), HasSubstr(R"("tag":"tagged")")));
  EXPECT_EQ(log_.text(), "");
}

// The begin of the first event whose line has this text, in microseconds of the trace.
double begin_of(const std::string& trace, const std::string& text) {
  const size_t at = trace.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return std::stod(trace.substr(trace.find("\"ts\":", at) + 5));
}

TEST_F(ProviderProfilesTest, AreOnTheHostsClock) {
  const std::string trace = trace_of({{"compute_milliseconds", "5"}});
  const double run = begin_of(trace, R"({"name":"run","cat":"run")");
  const double kernel = begin_of(trace, R"("cat":"kernel")");
  EXPECT_GE(kernel, run);
  EXPECT_LT(kernel, run + 1e6);
}

TEST_F(ProviderProfilesTest, GoOnWithoutAnEventThatMakesNoSense) {
  const std::string trace = trace_of({{"misbehave", "bad_event"}});
  EXPECT_THAT(trace, HasSubstr(R"("cat":"kernel")"));
  EXPECT_THAT(trace, Not(HasSubstr("no text")));
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("events of ScriptedExecutionProvider are missing from "
                                           "the profile"),
                                 HasSubstr("has a name that is not UTF-8")));
}

TEST_F(ProviderProfilesTest, AreLeftOutWhereAProviderCannotRecord) {
  EXPECT_THAT(trace_of({{"fail", "start_profiling"}}), Not(HasSubstr(R"("cat":"kernel")")));
  EXPECT_THAT(log_.text(), HasSubstr("the profile goes without events of "
                                     "ScriptedExecutionProvider: "));
}

TEST_F(ProviderProfilesTest, KeepWhatCameBeforeAFailure) {
  EXPECT_THAT(trace_of({{"fail", "stop_profiling"}}), HasSubstr(R"("cat":"kernel")"));
  EXPECT_THAT(log_.text(), HasSubstr("scripted failure at stop_profiling"));
}

TEST_F(ProviderProfilesTest, AreOfOneSessionOfAGroupAtATime) {
  const Environment environment = test::scripted_environment();
  SessionOptions options = scripted();
  options.add_config_entry("ep.share_ep_contexts", "1");
  options.enable_profiling(folder_ / "one.json");
  auto one = Session::create(environment, model_, options);
  ASSERT_THAT(one, IsOk());
  options.enable_profiling(folder_ / "two.json");
  auto two = Session::create(environment, model_, options);
  ASSERT_THAT(two, IsOk());
  EXPECT_THAT(log_.text(), HasSubstr("another session is recording a profile"));
  ASSERT_THAT(test::run(*one), IsOk());
  ASSERT_THAT(two->end_profiling(), IsOk());
  ASSERT_THAT(one->end_profiling(), IsOk());
  EXPECT_THAT(test::read(folder_ / "one.json"), HasSubstr(R"("cat":"kernel")"));
  EXPECT_THAT(test::read(folder_ / "two.json"), Not(HasSubstr(R"("cat":"kernel")")));
}

}  // namespace
}  // namespace ephost::provider_profiles_test
