// Sessions whose worker answers anything: the host lives on, and says that the worker was wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/integration/session/scripted_sample.h"
#include "tests/unit/worker/process_contents.h"

namespace ephost::lying_worker_test {
namespace {

class LyingWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("EPHOST_QUARANTINE", "off", 1);  // its file belongs to the user
    ::setenv("EPHOST_WORKER_PROGRAM", EPHOST_LYING_WORKER, 1);
    model_ = test::save(folder_, test::scripted_model());
    set_log_level(LoggingLevel::kFatal);
  }
  void TearDown() override {
    ::unsetenv("EPHOST_QUARANTINE");
    ::unsetenv("EPHOST_WORKER_PROGRAM");
    ::unsetenv("EPHOST_LIE");
    set_log_level(LoggingLevel::kWarning);
  }

  // What a session with such a worker does is its own affair, as long as it returns.
  void use(uint32_t seed) const {
    ::setenv("EPHOST_LIE", std::to_string(seed).c_str(), 1);
    SessionOptions options;
    options.append_execution_provider("fixture");
    options.add_config_entry("session.isolation.fixture", "worker");
    options.add_config_entry("session.isolation.probe_limit", "10");
    options.add_config_entry("session.isolation.compile_limit", "10");
    options.add_config_entry("session.isolation.run_limit", "10");
    auto session = Session::create(test::scripted_environment(test::fixture_directory("good")),
                                   model_, options);
    if (!session.ok()) {
      ++refused_;
      return;
    }
    ++created_;
    const auto outputs = test::run(*session);
    if (outputs.ok()) ++ran_;
  }

  // The thread that watches the workers gives up the last of them a moment after they ended.
  static void wait_for_ends() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!worker::children().empty() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(worker::children(), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  mutable int refused_ = 0;
  mutable int created_ = 0;
  mutable int ran_ = 0;

 private:
  test::TempDirectory folder_;
  std::filesystem::path model_;
};

// What this process has of workers.
struct Belongings {
  size_t descriptors = worker::open_descriptors();
  size_t shared_mappings = worker::shared_mappings();
};

TEST_F(LyingWorker, NeverTakesTheHostAlong) {
  use(0);  // what the process keeps once it had a session
  wait_for_ends();
  const Belongings before;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    use(seed);
  }
  // All ways through the calls were taken.
  EXPECT_GT(refused_, 0);
  EXPECT_GT(created_, 0);
  EXPECT_GT(ran_, 0);
  wait_for_ends();
  const Belongings after;
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.shared_mappings, before.shared_mappings);
}

}  // namespace
}  // namespace ephost::lying_worker_test
