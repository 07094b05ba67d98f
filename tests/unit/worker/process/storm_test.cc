#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <csignal>
#include <random>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/unit/worker/start_worker.h"

namespace ephost::worker::storm_test {
namespace {

using test::IsOk;

// One worker with two busy threads, which something kills at a random moment.
void kill_one(std::mt19937& random) {
  auto worker = WorkerProcess::start(test_options());
  ASSERT_THAT(worker, IsOk());
  std::atomic<int> failed{0};
  const auto call_until_it_fails = [&](const std::string& request) {
    const auto on_callback = [](Message) -> Result<Message> { return Message{"x"}; };
    while (ask(**worker, request, {.on_callback = on_callback}).ok()) continue;
    failed.fetch_add(1);
  };
  std::thread one([&] { call_until_it_fails("callback 3"); });
  std::thread two([&] { call_until_it_fails("echo " + std::string(100'000, 'x')); });
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  ::kill((*worker)->pid(), SIGKILL);
  one.join();
  two.join();
  EXPECT_EQ(failed.load(), 2);
  EXPECT_EQ((*worker)->status().message(), "the worker of \"acme\" died of SIGKILL");
}

// EPHOST_KILLS sets the number; scripts/kill_workers.sh runs a thousand.
TEST(StormTest, WorkersKilledAtRandomMomentsLeaveNothingBehind) {
  const char* const wanted = std::getenv("EPHOST_KILLS");
  const int kills = wanted == nullptr ? 100 : std::atoi(wanted);
  std::mt19937 random(7);
  // What is allocated once is not counted.
  for (int i = 0; i < 5; ++i) kill_one(random);
  ::malloc_trim(0);
  const size_t descriptors = open_descriptors();
  const size_t maps = mappings();
  const size_t heap = ::mallinfo2().uordblks;
  for (int i = 0; i < kills; ++i) kill_one(random);
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(children(), "");
  if (kIsSanitized) return;          // they keep freed memory
  EXPECT_LE(mappings(), maps + 16);  // arenas and stacks of threads, which the C library keeps
  EXPECT_LE(::mallinfo2().uordblks, heap + 64 * 1024);
}

}  // namespace
}  // namespace ephost::worker::storm_test
