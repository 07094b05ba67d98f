#include <gtest/gtest.h>

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
    const CallOptions options = {.on_callback = on_callback, .limit = std::chrono::seconds(10)};
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

}  // namespace
}  // namespace ephost::worker
