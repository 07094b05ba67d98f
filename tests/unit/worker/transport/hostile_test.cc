#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::hostile_test {
namespace {

using test::IsOk;

// The worker writes at random to everything that it shares with the host.
TEST(HostileWorkerTest, NeverTakesTheHostAlong) {
  const size_t descriptors = open_descriptors();
  int refused = 0;
  for (int seed = 0; seed < 60; ++seed) {
    auto worker = WorkerProcess::start(test_options({"hostile", std::to_string(seed)}));
    ASSERT_THAT(worker, IsOk());
    const auto on_callback = [](Message question) -> Result<Message> {
      return Message{question.bytes.substr(0, 100)};
    };
    const auto on_posted = [](const Message& message) {
      return message.bytes.size() < 200
                 ? Status()
                 : Status(StatusCode::kInvalidArgument, "a post of too many bytes");
    };
    const CallOptions options = {
        .on_callback = on_callback, .on_posted = on_posted, .limit = std::chrono::seconds(10)};
    for (int i = 0; i < 300 && (*worker)->status().ok(); ++i) {
      auto channel = (*worker)->channel();
      if (!channel.ok()) break;
      if (i % 3 == 0) {
        static_cast<void>(
            (*channel)->call(Message{std::string(i % 2 == 0 ? 10 : 100'000, 'x')}, options));
      } else {
        static_cast<void>((*channel)->call_hot(10, options));
      }
    }
    const Status status = (*worker)->status();
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_EQ(status.message().substr(0, 25), "the worker of \"acme\" was ");
    ++refused;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LE(open_descriptors(), descriptors);
}

// What it sent within one call ended the worker for a reason, in time, and left nothing open.
TEST(HostileWorkerTest, IsEndedForWhatItPostsAndAnswers) {
  const std::string ended = "the worker of \"acme\" was ended: it ";
  const std::string invalid = "sent an invalid message: ";
  const std::map<std::string, std::string> reasons = {
      {"counts posts that it did not send", invalid + "no message was sent"},
      {"counts back", invalid + "no message was sent"},
      {"posts a message that is not a post", "sent a message out of turn"},
      {"posts a descriptor", invalid + "a post has descriptors"},
      {"posts endless memory", invalid + "a post has descriptors"},
      {"posts in a way that is unknown", invalid + "a packet is malformed"},
      {"posts nothing", "closed its connection to the host"},
      {"answers with a post", "sent a post that it did not count"},
      {"answers with memory that shrinks", invalid + "a message does not lie in sealed memory"},
      {"answers with a file", invalid + "a message does not lie in sealed memory"},
      {"answers with a pipe", invalid + "a message does not lie in sealed memory"},
  };
  for (const auto& [lie, reason] : reasons) {
    SCOPED_TRACE(lie);
    const size_t descriptors = open_descriptors();
    {
      auto worker = WorkerProcess::start(test_options({"lie", lie}));
      ASSERT_THAT(worker, IsOk());
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(failure_of(**worker, "x", {.limit = std::chrono::seconds(5)}), ended + reason);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    }
    EXPECT_LE(open_descriptors(), descriptors);
  }
}

// It claims ever more posts, and sends them.
TEST(HostileWorkerTest, PostsWithoutEndOnlyUntilItsLimit) {
  auto worker = WorkerProcess::start(test_options({"lie", "posts without end"}));
  ASSERT_THAT(worker, IsOk());
  int taken = 0;
  const auto on_posted = [&](const Message&) -> Status {
    ++taken;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  };
  const auto begin = std::chrono::steady_clock::now();
  const std::string failure =
      failure_of(**worker, "x", {.on_posted = on_posted, .limit = std::chrono::milliseconds(200)});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_NE(failure.find("the worker of \"acme\" was ended: it "), failure.npos) << failure;
  EXPECT_GT(taken, 0);
}

TEST(HostileWorkerTest, MayNotPostItsReport) {
  const auto worker = WorkerProcess::start(test_options({"lie", "posts its report"}));
  EXPECT_EQ(worker.status().message(),
            "the worker of \"acme\" was ended: it sent an invalid message at its start: its report "
            "is a post, or has too many descriptors");
}

TEST(HostileWorkerTest, WhatItPostsBesideItsCallbackBeforeItDiesArrivesOnce) {
  auto worker =
      WorkerProcess::start(test_options({"lie", "posts while the host answers and dies"}));
  ASSERT_THAT(worker, IsOk());
  const auto on_callback = [](const Message&) -> Result<Message> {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Message{"answer"};
  };
  std::string posts;
  const auto on_posted = [&](const Message& message) -> Status {
    posts += message.bytes + ", ";
    return {};
  };
  EXPECT_EQ(failure_of(**worker, "x", {.on_callback = on_callback, .on_posted = on_posted}),
            "the worker of \"acme\" exited with status 9");
  EXPECT_EQ(posts, "0 last, 1 last, 2 last, 3 last, 4 last, ");
}

TEST(HostileWorkerTest, PostsThatItDoesNotCountAreNotTaken) {
  auto worker = WorkerProcess::start(test_options({"lie", "posts without counting"}));
  ASSERT_THAT(worker, IsOk());
  const auto on_posted = [](const Message&) -> Status {
    ADD_FAILURE();
    return {};
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(*ask(**worker, "x", {.on_posted = on_posted}), "");
}

}  // namespace
}  // namespace ephost::worker::hostile_test
