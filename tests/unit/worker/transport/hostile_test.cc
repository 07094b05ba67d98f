#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/worker/start_worker.h"

namespace ephost::worker {
namespace {

// The worker writes at random to everything that it shares with the host.
TEST(HostileWorkerTest, NeverTakesTheHostAlong) {
  const size_t descriptors = open_descriptors();
  int refused = 0;
  for (int seed = 0; seed < 60; ++seed) {
    auto worker = WorkerProcess::start(test_options({"hostile", std::to_string(seed)}));
    ASSERT_TRUE(worker.ok()) << worker.status().to_string();
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

// What it sent within one call, or within the next, ended the worker for a reason.
TEST(HostileWorkerTest, IsEndedForLiesAboutItsPosts) {
  const std::string ended = "the worker of \"acme\" was ended: it sent ";
  const std::map<std::string, std::string> reasons = {
      {"counts posts that it did not send", "an invalid message"},
      {"counts back", "an invalid message"},
      {"posts what is no post", "a message out of turn"},
      {"posts without end", ""},  // or the answer is missing: it depends on who is faster
  };
  for (const auto& [lie, reason] : reasons) {
    SCOPED_TRACE(lie);
    auto worker = WorkerProcess::start(test_options({"lie", lie}));
    ASSERT_TRUE(worker.ok()) << worker.status().to_string();
    EXPECT_EQ(failure_of(**worker, "x").substr(0, ended.size() + reason.size()), ended + reason);
  }
}

TEST(HostileWorkerTest, PostsThatItDoesNotCountComeWithTheNextMessageOrNever) {
  auto worker = WorkerProcess::start(test_options({"lie", "posts without counting"}));
  ASSERT_TRUE(worker.ok()) << worker.status().to_string();
  const auto on_posted = [](const Message&) -> Status {
    ADD_FAILURE();
    return {};
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(*ask(**worker, "x", {.on_posted = on_posted}), "");
}

}  // namespace
}  // namespace ephost::worker
