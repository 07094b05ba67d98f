// The threads of sessions: shared ones, those of one session, and what they are bound to.
#include <gmock/gmock.h>
#include <sched.h>

#include <mutex>
#include <set>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::threading_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAffinities = "session.intra_op_thread_affinities";
constexpr const char* kSpinning = "session.intra_op.allow_spinning";

std::set<uint32_t> current_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  std::set<uint32_t> processors;
  for (uint32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.insert(i);
  }
  return processors;
}

class ThreadingTest : public ::testing::Test {
 protected:
  static Result<Environment> environment(const ThreadingOptions& threading) {
    EnvironmentOptions options;
    options.plugin_directories = {EPHOST_PLUGINS};
    options.search_default_directories = false;
    options.threading = threading;
    return Environment::create(options);
  }
  static SessionOptions with(const char* key, std::string value) {
    SessionOptions options;
    return options.add_config_entry(key, std::move(value));
  }
  Result<Session> create(const SessionOptions& options) {
    return Session::create(environment_, model_, options);
  }
  Status refusal(const SessionOptions& options) { return create(options).status(); }
  static const session::ThreadUse& threads(const Session& session) {
    return inside(session).prepared().threads;
  }
  [[nodiscard]] bool is_shared(const Session& session) const {
    return threads(session).pool.get() == &inside(environment_).threads;
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::scripted_model());
  Environment environment_ = test::environment();
  test::LogCapture log_;
};

TEST_F(ThreadingTest, SessionsShareTheThreadsOfTheirEnvironment) {
  auto session = create(with(kSpinning, "1"));
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(is_shared(*session));
}

TEST_F(ThreadingTest, ASessionWithAffinitiesHasThreadsOfItsOwn) {
  const uint32_t first = *current_processors().begin();
  auto session = create(with(kAffinities, std::to_string(first + 1)));
  ASSERT_THAT(session, IsOk());
  EXPECT_FALSE(is_shared(*session));
  EXPECT_EQ(threads(*session).loops, 2U);
  std::mutex mutex;
  std::set<std::set<uint32_t>> bound;
  std::atomic<int> begun{0};
  const std::thread::id caller = std::this_thread::get_id();
  threads(*session).pool->parallel_for(2, 1, 2, [&](uint64_t, uint64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    if (std::this_thread::get_id() == caller) return;
    const std::lock_guard lock(mutex);
    bound.insert(current_processors());
  });
  EXPECT_EQ(bound, (std::set<std::set<uint32_t>>{{first}}));
  EXPECT_EQ(log_.text(), "");
  test::expect_runs(std::move(session), test::expected_outputs(model_));
}

TEST_F(ThreadingTest, WarnsAboutProcessorsThatItMayNotUse) {
  auto session = create(with(kAffinities, "1024;1024"));
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(log_.text(), HasSubstr("processors that this process may not use: 1024"));
  test::expect_runs(std::move(session), test::expected_outputs(model_));
}

TEST_F(ThreadingTest, RefusesAffinitiesThatAreNotForTheThreads) {
  Status refused = refusal(with(kAffinities, "1,2;x"));
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("not valid at \"x\""));
  EXPECT_THAT(refused.message(), HasSubstr(kAffinities));
  refused = refusal(with(kAffinities, "1;1").set_intra_op_num_threads(2));
  EXPECT_THAT(refused.message(), HasSubstr("affinities for 2 threads, and 2 threads in one step"));
  EXPECT_THAT(create(with(kAffinities, "1;1").set_intra_op_num_threads(3)), IsOk());
  EXPECT_TRUE(is_shared(*create(with(kAffinities, ""))));
  EXPECT_THAT(refusal(with(kSpinning, "yes")).message(), HasSubstr("use \"0\" or \"1\""));
}

TEST_F(ThreadingTest, ASessionThatDoesNotSpinHasThreadsOfItsOwn) {
  SessionOptions options = with(kSpinning, "0");
  options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(3);
  auto session = create(options);
  ASSERT_THAT(session, IsOk());
  EXPECT_FALSE(is_shared(*session));
  test::expect_runs(std::move(session), test::expected_outputs(model_));
}

// The provider, which the group keeps, has the threads of the first session.
TEST_F(ThreadingTest, ThreadsOutliveTheirSessionWhereAGroupSharesItsProviders) {
  SessionOptions options = with(kSpinning, "0");
  options.add_config_entry("ep.share_ep_contexts", "1");
  auto first = create(options);
  ASSERT_THAT(first, IsOk());
  auto second = create(options);
  ASSERT_THAT(second, IsOk());
  { const Session ended = std::move(*first); }
  test::expect_runs(std::move(second), test::expected_outputs(model_));
}

TEST_F(ThreadingTest, TheEnvironmentStatesWhatSessionsDoNot) {
  auto environment = ThreadingTest::environment(
      {.intra_op_num_threads = 3, .inter_op_num_threads = 5, .allow_spinning = false});
  ASSERT_THAT(environment, IsOk());
  SessionOptions options;
  options.set_execution_mode(ExecutionMode::kParallel);
  auto session = Session::create(*environment, model_, options);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(threads(*session).loops, 3U);
  EXPECT_EQ(threads(*session).steps, 5U);
  EXPECT_EQ(threads(*session).pool.get(), &inside(*environment).threads);
  options.set_intra_op_num_threads(2).set_inter_op_num_threads(4);
  auto other = Session::create(*environment, model_, options.add_config_entry(kSpinning, "1"));
  ASSERT_THAT(other, IsOk());
  EXPECT_EQ(threads(*other).loops, 2U);
  EXPECT_EQ(threads(*other).steps, 4U);
  EXPECT_NE(threads(*other).pool.get(), &inside(*environment).threads);
}

TEST_F(ThreadingTest, TheEnvironmentChecksItsOptions) {
  EXPECT_THAT(environment({.intra_op_num_threads = 257}).status().message(),
              HasSubstr("intra_op_num_threads is 257"));
  EXPECT_THAT(environment({.inter_op_num_threads = 1000}).status().message(),
              HasSubstr("inter_op_num_threads is 1000"));
  EXPECT_THAT(environment({.intra_op_thread_affinities = "1;"}).status().message(),
              HasSubstr("the thread affinities \"1;\" are not valid at \"\""));
  EXPECT_THAT(environment({.intra_op_num_threads = 2, .intra_op_thread_affinities = "1;1"})
                  .status()
                  .message(),
              HasSubstr("affinities for 2 threads, and 2 threads"));
  EXPECT_THAT(log_.text(), Not(HasSubstr("processors")));
  const auto bound = environment({.intra_op_thread_affinities = "1024;1024"});
  ASSERT_THAT(bound, IsOk());
  EXPECT_THAT(log_.text(), HasSubstr("processors that this process may not use: 1024"));
  const auto session = Session::create(*bound, model_);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(threads(*session).loops, 3U);
}

}  // namespace
}  // namespace ephost::threading_test
