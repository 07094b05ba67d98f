#include "host/base/threads/task_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ephost::task_threads_test {
namespace {

using test::IsOk;

void start(TaskGroup& group, std::function<void()> task) {
  const Status started = group.start(std::move(task));
  EXPECT_THAT(started, IsOk());
}

TEST(TaskThreads, CarryOutEachTaskOnce) {
  std::vector<std::atomic<int>> calls(200);
  TaskThreads threads(3);
  {
    TaskGroup group(threads);
    for (std::atomic<int>& call : calls) start(group, [&call] { ++call; });
  }
  for (const std::atomic<int>& call : calls) EXPECT_EQ(call, 1);
}

TEST(TaskThreads, CarryOutTasksAtTheSameTimeUpToTheLimit) {
  TaskThreads threads(2);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::promise<void> both;
  {
    TaskGroup group(threads);
    for (int i = 0; i < 20; ++i) {
      start(group, [&, i] {
        const int now = ++running;
        int known = most;
        while (known < now && !most.compare_exchange_weak(known, now)) {
        }
        // The first two wait for each other.
        if (i == 0) both.get_future().wait();
        if (i == 1) both.set_value();
        --running;
      });
    }
    while (running != 0) std::this_thread::yield();
  }
  EXPECT_GE(most, 2);
  EXPECT_LE(most, 3);  // the thread that waits for the group helps
}

TEST(TaskThreads, CarryOutTasksInTheOrderOfTheirStart) {
  std::vector<int> order;
  std::promise<void> begin;
  std::promise<void> last;
  TaskThreads threads(1);
  TaskGroup group(threads);
  start(group, [&] { begin.get_future().wait(); });
  for (int i = 0; i < 10; ++i) start(group, [&, i] { order.push_back(i); });
  start(group, [&] { last.set_value(); });
  begin.set_value();
  last.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TaskThreads, ReleaseWhatATaskHoldsBeforeItsGroupIsGone) {
  auto held = std::make_shared<int>(1);
  TaskThreads threads(1);
  {
    TaskGroup group(threads);
    for (int i = 0; i < 5; ++i) start(group, [held] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(TaskThreads, DoNotLetAGroupWaitForAnother) {
  TaskThreads threads(2);
  std::promise<void> end;
  TaskGroup busy(threads);
  start(busy, [ended = end.get_future().share()] { ended.wait(); });
  std::atomic<bool> is_done{false};
  {
    TaskGroup group(threads);
    start(group, [&] { is_done = true; });
  }
  EXPECT_TRUE(is_done);
  end.set_value();
}

TEST(TaskGroup, MayBeDestroyedByItsOwnTask) {
  std::promise<int> others;
  TaskThreads threads(2);
  {
    auto group = std::make_shared<std::optional<TaskGroup>>();
    group->emplace(threads);
    auto done = std::make_shared<std::atomic<int>>(0);
    std::promise<void> begin;
    auto begun = begin.get_future().share();
    start(**group, [&others, group, done, begun] {
      begun.wait();
      group->reset();
      others.set_value(*done);
    });
    for (int i = 0; i < 4; ++i) start(**group, [done] { ++*done; });
    begin.set_value();
    EXPECT_EQ(others.get_future().get(), 4);
  }
}

// The only thread is in the task that waits for the other group.
TEST(TaskGroup, CarriesOutItsTasksItselfWhereNoThreadIsFree) {
  std::promise<int> done;
  TaskThreads threads(1);
  TaskGroup outer(threads);
  start(outer, [&] {
    int count = 0;
    {
      TaskGroup inner(threads);
      for (int i = 0; i < 3; ++i) start(inner, [&] { ++count; });
    }
    done.set_value(count);
  });
  EXPECT_EQ(done.get_future().get(), 3);
}

TEST(TaskThreads, MayBeDestroyedByATask) {
  auto threads = std::make_shared<std::optional<TaskThreads>>();
  threads->emplace(2U);
  auto group = std::make_shared<std::optional<TaskGroup>>();
  group->emplace(**threads);
  std::promise<void> begin;
  auto end = std::make_shared<std::promise<void>>();
  auto ended = end->get_future();
  start(**group, [end, threads, group, begun = begin.get_future().share()] {
    begun.wait();
    group->reset();
    threads->reset();
    end->set_value();
  });
  begin.set_value();
  ended.wait();
}

TEST(TaskThreads, ReplaceAThreadThatATaskHasEnded) {
  TaskThreads threads(1);
  std::atomic<int> done{0};
  {
    TaskGroup group(threads);
    std::promise<void> begin;
    start(group, [begun = begin.get_future().share()] {
      begun.wait();
      ::pthread_exit(nullptr);
    });
    std::promise<void> last;
    for (int i = 0; i < 3; ++i) start(group, [&] { ++done; });
    start(group, [&] { last.set_value(); });
    begin.set_value();
    last.get_future().wait();
  }
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace ephost::task_threads_test
