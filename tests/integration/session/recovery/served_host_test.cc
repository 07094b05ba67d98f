// What a plugin in a worker asks of the host, and how its calls end where memory runs out.
#include <gmock/gmock.h>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::served_host_test {
namespace {

using test::constant;
using test::float_type;
using test::IsOk;
using test::Variable;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Logs from threads of its own.
class LoggingDevice : public test::DeviceSession {
 protected:
  LoggingDevice() { set_log_level(LoggingLevel::kInfo); }
  ~LoggingDevice() override { set_log_level(LoggingLevel::kWarning); }

  // y = -(x + 2), of any length, so that each output is allocated within its run.
  Result<Session> create_logging(const std::string& when) {
    test::GraphBuilder builder;
    builder.input("x", float_type(graph::Shape{-1})).constant("w", constant({2}));
    builder.node("Add", {"x", "w"}, {"a"}).node("Neg", {"a"}, {"y"}).output("y");
    SessionOptions options = on_device({{"log", when}});
    options.add_config_entry("session.isolation.device", "worker");
    for (const char* limit : {"run_limit", "compile_limit"}) {
      options.add_config_entry(std::string("session.isolation.") + limit, "10");
    }
    return create(write(test::with_type(builder.build(), "y", float_type(graph::Shape{-1}))),
                  options);
  }

  const Variable quarantine_{"EPHOST_QUARANTINE", "off"};
  const Variable program_{"EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM};
  const test::LogCapture log_;
};

// The call of the run waits for the allocation, and that for the thread.
TEST_F(LoggingDevice, LogsBesideARunThatAllocatesAnOutput) {
  auto session = create_logging("beside");
  ASSERT_THAT(session, IsOk());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*session, {1, 2}), (std::vector<float>{-3, -4}));
  EXPECT_THAT(log_.text(), HasSubstr("logged beside the run"));
}

TEST_F(LoggingDevice, LosesNothingOfWhatItLogsBetweenRunsWithoutAWord) {
  auto session = create_logging("afterwards");
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(run(*session, {1, 2}), (std::vector<float>{-3, -4}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_THAT(log_.text(), Not(HasSubstr("logged afterwards")));
  const std::string dropped = "500 messages of threads of the plugin were dropped";
  for (int i = 0; i < 100 && log_.text().find(dropped) == std::string::npos; ++i) {
    EXPECT_EQ(run(*session, {1, 2}), (std::vector<float>{-3, -4}));
  }
  const std::string text = log_.text();
  EXPECT_THAT(text, HasSubstr(dropped));
  size_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    at = text.find("logged afterwards: " + std::to_string(i) + "\n", at);
    ASSERT_NE(at, text.npos) << i;
  }
  EXPECT_THAT(text, Not(HasSubstr("logged afterwards: 1000\n")));
}

// In this process, such a run fails alone, too.
TEST(WorkerMemory, ThatRunsOutInARunFailsTheRunAndNotTheWorker) {
  const Variable quarantine("EPHOST_QUARANTINE", "off");
  const Variable program("EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM);
  const test::TempDirectory folder;
  SessionOptions options = test::scripted({{"workspace_bytes", "1000000000"}});
  options.add_config_entry("session.isolation.scripted", "worker");
  options.add_config_entry("session.isolation.memory", "400000000");
  auto session = Session::create(test::scripted_environment(),
                                 test::save(folder, test::scripted_model()), options);
  ASSERT_THAT(session, IsOk());
  const std::vector<pid_t> workers = test::worker_processes();
  for (int i = 0; i < 3; ++i) {
    const Status status = test::run(*session).status();
    EXPECT_THAT(status.message(), AllOf(HasSubstr("out of memory"), HasSubstr("failed computing")));
  }
  EXPECT_EQ(test::worker_processes(), workers);
}

}  // namespace
}  // namespace ephost::served_host_test
