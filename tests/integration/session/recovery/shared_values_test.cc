// What a plugin in a worker can do to values that the host and others read: nothing.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::shared_values_test {
namespace {

using test::IsOk;
using test::Variable;
using ::testing::HasSubstr;

class SharedValues : public ::testing::Test {
 protected:
  // Values of 64 KiB, which are shared. `claim`: which partitions or nodes the worker computes.
  Result<Session> create(const std::string& misbehave, const std::string& claim = "fuse:*") {
    SessionOptions options = test::scripted({{"misbehave", misbehave}, {"claim", claim}});
    options.add_config_entry("session.isolation.scripted", "worker");
    return Session::create(test::scripted_environment(), model_, options);
  }
  // The message of the run that fails.
  std::string failure_of(const std::string& misbehave, const std::string& claim = "fuse:*") {
    Result<Session> session = create(misbehave, claim);
    if (!session.ok()) return "not created: " + session.status().message();
    const auto outputs = test::run(*session);
    return outputs.ok() ? "ran" : outputs.status().message();
  }

  const Variable quarantine_{"EPHOST_QUARANTINE", "off"};
  const Variable program_{"EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM};
  const test::TempDirectory folder_;
  const std::filesystem::path model_ = test::save(folder_, test::scripted_model(16384));
  const std::vector<Value> expected_ = test::expected_outputs(model_);
};

TEST_F(SharedValues, CannotBeWrittenByAWorkerThatReadsThem) {
  EXPECT_THAT(failure_of("written_input"), HasSubstr("died of SIGSEGV"));
  EXPECT_THAT(failure_of("written_input", "kernels:Add,Relu,Mul,Neg"),
              HasSubstr("died of SIGSEGV"));
}

TEST_F(SharedValues, CannotBeMadeWritableByAWorker) {
  EXPECT_THAT(failure_of("unprotected_input"), HasSubstr("an input cannot be made writable"));
  EXPECT_THAT(failure_of("unprotected_input", "kernels:Add,Relu,Mul,Neg"),
              HasSubstr("an input cannot be made writable"));
}

TEST_F(SharedValues, StayAsTheyWereWhenTheWorkerAnswered) {
  Result<Session> session = create("late_output");
  ASSERT_THAT(session, IsOk());
  auto binding = session->create_binding();
  ASSERT_THAT(binding, IsOk());
  for (NamedValue& input : test::random_inputs(*session)) {
    ASSERT_THAT(binding->bind_input(input.name, std::move(input.value)), IsOk());
  }
  const Value output = *Value::allocate(ElementType::kFloat, {16384});
  ASSERT_THAT(binding->bind_output("y", output), IsOk());
  const Status status = session->run(*binding);
  ASSERT_THAT(status, IsOk());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  test::expect_close({output}, expected_);
}

// Both run a session of this process, whose memory is shared because another one has a worker.
TEST_F(SharedValues, AreNotThoseOfAForkedProcess) {
  const Result<Session> isolated = create("never");
  ASSERT_THAT(isolated, IsOk());
  SessionOptions options;
  options.set_intra_op_num_threads(1);
  Result<Session> session = Session::create(test::scripted_environment(), model_, options);
  ASSERT_THAT(session, IsOk());
  const auto input_of = [](float number) {
    return std::vector<NamedValue>{{"x", *Value::of<float>({16384}, std::vector(16384, number))}};
  };
  const auto run = [&](float number, int times) {
    for (int i = 0; i < times; ++i) {
      const auto outputs = session->run(input_of(number));
      if (!outputs.ok()) return false;
      for (const float y : outputs->front().elements<float>()) {
        if (y != -3 * (number + 0.5F)) return false;
      }
    }
    return true;
  };
  ASSERT_TRUE(run(1, 1));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run(2, 200) ? 0 : 1);
  EXPECT_TRUE(run(3, 200));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace ephost::shared_values_test
