#include "host/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ephost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Log : public testing::Test {
 protected:
  void TearDown() override {
    set_log_sink({});
    set_log_level(LogLevel::kWarning);
  }

  void collect() {
    set_log_sink([this](LogLevel level, std::string_view message) {
      messages_.emplace_back(level, message);
    });
  }

  std::vector<std::pair<LogLevel, std::string>> messages_;
};

TEST_F(Log, DropsInformationByDefault) {
  collect();
  log_info("a");
  log_warning("b");
  log_error("c");
  EXPECT_THAT(messages_, ElementsAre(Pair(LogLevel::kWarning, "b"), Pair(LogLevel::kError, "c")));
}

TEST_F(Log, ObeysTheLevel) {
  collect();
  set_log_level(LogLevel::kInfo);
  log_info("a");
  set_log_level(LogLevel::kOff);
  log_error("b");
  EXPECT_EQ(log_level(), LogLevel::kOff);
  EXPECT_THAT(messages_, ElementsAre(Pair(LogLevel::kInfo, "a")));
}

TEST_F(Log, WritesToStandardErrorWithoutASink) {
  testing::internal::CaptureStderr();
  log_warning("100% {of} it");
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("[ephost]"));
  EXPECT_THAT(written, HasSubstr("100% {of} it"));
}

TEST_F(Log, DropsWhatASinkThrows) {
  set_log_sink([](LogLevel, std::string_view) { throw std::runtime_error("sink"); });
  EXPECT_NO_THROW(log_error("a"));
}

TEST_F(Log, HandsTheSinkOneMessageAtATimeFromSeveralThreads) {
  std::atomic<int> running{0};
  std::atomic<int> overlaps{0};
  int messages = 0;
  set_log_sink([&](LogLevel, std::string_view) {
    if (++running > 1) ++overlaps;
    std::this_thread::yield();
    ++messages;
    --running;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 500; ++j) log_error("x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(messages, 2000);
  EXPECT_EQ(overlaps, 0);
}

TEST_F(Log, CarriesNothingThatATerminalWouldObey) {
  collect();
  log_warning("name \x1b[2J \u202e \xff");
  EXPECT_THAT(messages_, ElementsAre(Pair(LogLevel::kWarning, "name \\x1b[2J \\u202e \ufffd")));
}

}  // namespace
}  // namespace ephost
