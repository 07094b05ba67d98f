#include "host/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/threads/thread_pool.h"

namespace ephost::log_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override {
    set_log_sink({});
    set_log_level(LoggingLevel::kWarning);
  }

  void collect() {
    set_log_sink([this](LoggingLevel level, std::string_view message) {
      messages_.emplace_back(level, message);
    });
  }

  std::vector<std::pair<LoggingLevel, std::string>> messages_;
};

TEST_F(LogTest, DropsInformationByDefault) {
  collect();
  log_info("a");
  log_warning("b");
  log_error("c");
  EXPECT_THAT(messages_,
              ElementsAre(Pair(LoggingLevel::kWarning, "b"), Pair(LoggingLevel::kError, "c")));
}

TEST_F(LogTest, ObeysTheLevel) {
  collect();
  set_log_level(LoggingLevel::kInfo);
  log_info("a");
  set_log_level(LoggingLevel::kFatal);
  log_error("b");
  EXPECT_EQ(log_level(), LoggingLevel::kFatal);
  EXPECT_THAT(messages_, ElementsAre(Pair(LoggingLevel::kInfo, "a")));
}

TEST_F(LogTest, WritesToStandardErrorWithoutASink) {
  ::testing::internal::CaptureStderr();
  log_warning("100% {of} it");
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("[ephost]"));
  EXPECT_THAT(written, HasSubstr("100% {of} it"));
}

constexpr const char* kTime = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";

// The lines that `work` writes to standard error, counts included.
template <class Work>
std::vector<std::string> lines_of(const Work& work) {
  ::testing::internal::CaptureStderr();
  work();
  flush_log();
  std::istringstream written(::testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(written, line);) lines.push_back(line);
  return lines;
}

TEST_F(LogTest, WritesTheTimeAsIso8601) {
  const auto lines = lines_of([] { log_warning("hot"); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(std::regex_match(lines[0],
                               std::regex(std::string(kTime) + " \\[ephost\\] \\[warning\\] hot")))
      << lines[0];
}

TEST_F(LogTest, WritesLinesOfJson) {
  set_log_format(LogFormat::kJson);
  const auto lines = lines_of([] {
    log_error("a \"b\"\n{}");
    Log({}, {}, "camera").write(LoggingLevel::kWarning, "AcmeExecutionProvider", "hot");
  });
  set_log_format(LogFormat::kText);
  ASSERT_EQ(lines.size(), 2U);
  const std::string begin = "\\{\"time\":\"" + std::string(kTime) + "\",";
  EXPECT_TRUE(
      std::regex_match(lines[0], std::regex(begin + R"("level":"error","logger":"ephost",)"
                                                    R"re("location":"[^"]*log_test.cc:[0-9]+",)re"
                                                    R"("message":"a \\"b\\"\\u000a\{\}"\})")))
      << lines[0];
  EXPECT_TRUE(std::regex_match(
      lines[1], std::regex(begin + R"("level":"warning","logger":"AcmeExecutionProvider",)"
                                   R"("id":"camera","message":"hot"\})")))
      << lines[1];
}

TEST_F(LogTest, SumsUpEqualMessagesOfSeveralThreads) {
  const auto lines = lines_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < 250; ++j) log_warning("hot");
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], EndsWith("[warning] hot"));
  EXPECT_THAT(lines[1], EndsWith("[warning] repeated 999 more times: hot"));
}

TEST_F(LogTest, SumsUpTheSessionsOfAnEnvironmentWhenItEnds) {
  const auto lines = lines_of([] {
    {
      const Log environment({}, {}, "");
      for (int session = 0; session < 3; ++session) {
        const Log log = environment.with(LoggingLevel::kInfo, "");
        const LogScope scope(log);
        for (int i = 0; i < 2; ++i) log_warning("hot");
      }
      const LogScope other(environment);
      log_warning("cold");
    }
    log_warning("end");
  });
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0], EndsWith("[warning] hot"));
  EXPECT_THAT(lines[1], EndsWith("[warning] cold"));
  EXPECT_THAT(lines[2], EndsWith("[warning] repeated 5 more times: hot"));
  EXPECT_THAT(lines[3], EndsWith("[warning] end"));
}

TEST_F(LogTest, TellsEnvironmentsAndIdsApart) {
  const auto lines = lines_of([] {
    const Log one({}, {}, "");
    const Log other({}, {}, "");
    for (const Log& log : {one, other, one.with({}, "camera")}) {
      const LogScope scope(log);
      log_warning("hot");
    }
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[2], EndsWith("[warning] [camera] hot"));
}

TEST_F(LogTest, GivesSinksEveryMessage) {
  collect();
  for (int i = 0; i < 3; ++i) log_warning("hot");
  EXPECT_EQ(messages_.size(), 3U);
}

TEST_F(LogTest, DropsWhatASinkThrows) {
  set_log_sink([](LoggingLevel, std::string_view) { throw std::runtime_error("sink"); });
  EXPECT_NO_THROW(log_error("a"));
}

TEST_F(LogTest, HandsTheSinkOneMessageAtATimeFromSeveralThreads) {
  std::atomic<int> running{0};
  std::atomic<int> overlaps{0};
  int messages = 0;
  set_log_sink([&](LoggingLevel, std::string_view) {
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

TEST_F(LogTest, CarriesNothingThatATerminalWouldObey) {
  collect();
  log_warning("name \x1b[2J \u202e \xff");
  EXPECT_THAT(messages_, ElementsAre(Pair(LoggingLevel::kWarning, "name \\x1b[2J \\u202e \ufffd")));
}

// What a function of an application got.
struct ReceivedMessage {
  LoggingLevel severity;
  std::string category;
  std::string id;
  std::string place;
  std::string message;
};

class LogFunctionTest : public LogTest {
 protected:
  static LoggingFunction into(std::vector<ReceivedMessage>& received) {
    return [&received](const LogMessage& message) {
      received.push_back({message.severity, std::string(message.category),
                          std::string(message.log_id), std::string(message.code_location),
                          std::string(message.message)});
    };
  }

  std::vector<ReceivedMessage> a_;
  std::vector<ReceivedMessage> b_;
};

TEST_F(LogFunctionTest, GetsTheMessagesOfItsScopes) {
  collect();
  const Log a(into(a_), {}, "a");
  const Log b(into(b_), {}, "b");
  log_warning("before");
  {
    const LogScope outer(a);
    log_warning("first");
    {
      const LogScope inner(b);
      log_warning("second");
    }
    log_error("third");
    std::thread([] { log_warning("elsewhere"); }).join();
  }
  log_warning("after");
  ASSERT_EQ(a_.size(), 2U);
  EXPECT_EQ(a_[0].message, "first");
  EXPECT_EQ(a_[0].severity, LoggingLevel::kWarning);
  EXPECT_EQ(a_[0].category, "ephost");
  EXPECT_EQ(a_[0].id, "a");
  EXPECT_THAT(a_[0].place, ::testing::MatchesRegex(".*log_test.cc:[0-9]+"));
  EXPECT_EQ(a_[1].severity, LoggingLevel::kError);
  ASSERT_EQ(b_.size(), 1U);
  EXPECT_EQ(b_[0].message, "second");
  EXPECT_EQ(messages_.size(), 3U);
}

TEST_F(LogFunctionTest, IsInheritedByThreadsThatHelp) {
  ThreadPool pool;
  std::atomic<int> begun{0};
  std::atomic<int> strangers{0};
  const Log log(into(a_), {}, "a");
  const LogScope scope(log);
  for (int round = 0; round < 3; ++round) {
    begun = 0;
    pool.parallel_for(2, 1, 2, [&](uint64_t, uint64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      if (LogScope::current() != &log) ++strangers;
    });
  }
  EXPECT_EQ(strangers, 0);
}

TEST_F(LogFunctionTest, HasALevelOfItsOwn) {
  const Log verbose(into(a_), LoggingLevel::kVerbose, "");
  const Log quiet = verbose.with(LoggingLevel::kError, "quiet");
  const Log unlimited(into(b_), {}, "");
  const auto write_all = [](const Log& log) {
    log.write(LoggingLevel::kVerbose, "p", "v");
    log.write(LoggingLevel::kInfo, "p", "i");
    log.write(LoggingLevel::kWarning, "p", "w");
    log.write(LoggingLevel::kError, "p", "e");
  };
  write_all(verbose);
  EXPECT_EQ(a_.size(), 4U);
  write_all(quiet);
  ASSERT_EQ(a_.size(), 5U);
  EXPECT_EQ(a_[4].message, "e");
  EXPECT_EQ(a_[4].id, "quiet");
  EXPECT_EQ(a_[4].category, "p");
  EXPECT_EQ(a_[4].place, "");
  write_all(unlimited);
  EXPECT_EQ(b_.size(), 2U);  // the level of the process
}

TEST_F(LogFunctionTest, WithoutAFunctionWritesToTheProcessWithItsId) {
  collect();
  const Log log = Log().with(LoggingLevel::kInfo, "mine");
  log.write(LoggingLevel::kInfo, "SomeExecutionProvider", "a");
  const LogScope scope(log);
  log_info("b");
  EXPECT_THAT(messages_, ElementsAre(Pair(LoggingLevel::kInfo, "[mine] SomeExecutionProvider: a"),
                                     Pair(LoggingLevel::kInfo, "[mine] b")));
}

TEST_F(LogFunctionTest, DropsWhatItsFunctionThrows) {
  const Log log([](const LogMessage&) { throw std::runtime_error("function"); }, {}, "");
  EXPECT_NO_THROW(log.write(LoggingLevel::kError, "p", "m"));
}

TEST_F(LogFunctionTest, CarriesNothingThatATerminalWouldObey) {
  const Log log(into(a_), {}, "");
  log.write(LoggingLevel::kError, "p", "name \x1b[2J");
  ASSERT_EQ(a_.size(), 1U);
  EXPECT_EQ(a_[0].message, "name \\x1b[2J");
}

}  // namespace
}  // namespace ephost::log_test
