#include "host/base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>
#include <vector>

namespace ephost::thread_pool_test {
namespace {

TEST(ThreadPool, CoversEveryIndexOnce) {
  ThreadPool pool;
  for (const uint64_t total : {0, 1, 2, 7, 100, 4097}) {
    for (const uint64_t grain : {0, 1, 3, 5000}) {
      std::vector<std::atomic<int>> hits(total);
      pool.parallel_for(total, grain, 4, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) ++hits[i];
      });
      for (const auto& count : hits) EXPECT_EQ(count, 1) << total << " by " << grain;
    }
  }
}

TEST(ThreadPool, GivesNoRangeBelowTheGrainButTheLast) {
  ThreadPool pool;
  std::atomic<int> small{0};
  pool.parallel_for(1000, 64, 8, [&](uint64_t begin, uint64_t end) {
    if (end - begin < 64 && end != 1000) ++small;
  });
  EXPECT_EQ(small, 0);
}

TEST(ThreadPool, OneThreadMeansTheCallingOne) {
  ThreadPool pool;
  std::set<std::thread::id> threads;
  pool.parallel_for(100, 1, 1,
                    [&](uint64_t, uint64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

// Each range waits until the other one has begun, which takes two threads.
TEST(ThreadPool, ThreadsWorkAtTheSameTime) {
  ThreadPool pool;
  std::atomic<int> begun{0};
  pool.parallel_for(2, 1, 2, [&](uint64_t, uint64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(ThreadPool, ThreadsArePreparedBeforeTheyHelp) {
  static thread_local bool is_prepared = false;
  static std::atomic<int> prepared{0};
  prepared = 0;
  ThreadPool pool([] {
    is_prepared = true;
    ++prepared;
  });
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> unprepared{0};
  for (int i = 0; i < 100; ++i) {
    pool.parallel_for(100, 1, 4, [&](uint64_t, uint64_t) {
      if (prepared != 3) ++unprepared;
      if (!is_prepared && std::this_thread::get_id() != caller) ++unprepared;
    });
  }
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(unprepared, 0);
}

TEST(ThreadPool, LoopsMayBeNested) {
  ThreadPool pool;
  std::atomic<int> sum{0};
  pool.parallel_for(8, 1, 4, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      pool.parallel_for(
          100, 1, 4, [&](uint64_t first, uint64_t last) { sum += static_cast<int>(last - first); });
    }
  });
  EXPECT_EQ(sum, 800);
}

TEST(ThreadPool, ManyThreadsMayUseItAtOnce) {
  ThreadPool pool;
  std::atomic<uint64_t> sum{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        pool.parallel_for(50, 1, 3, [&](uint64_t begin, uint64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(sum, 4U * 200 * 50);
}

// Provides work in portions: helpers leave in between and must come back when they are called.
class Portions final : public ThreadPool::Job {
 public:
  static constexpr uint32_t kHelpers = 3;
  [[nodiscard]] bool wants_help() const noexcept override { return left_ > 0; }
  void help(uint32_t helper) noexcept override {
    if (in_use_[helper].exchange(true)) ++overlaps_;
    while (true) {
      int left = left_;
      while (left > 0 && !left_.compare_exchange_weak(left, left - 1)) {
      }
      if (left <= 0) break;
      ++done_;
    }
    in_use_[helper] = false;
  }
  void add(int count) { left_ += count; }
  [[nodiscard]] int done() const { return done_; }
  [[nodiscard]] int overlaps() const { return overlaps_; }

 private:
  std::atomic<int> left_{0};
  std::atomic<int> done_{0};
  std::atomic<int> overlaps_{0};
  std::array<std::atomic<bool>, kHelpers> in_use_{};
};

TEST(ThreadPool, HelpersComeBackWhenTheyAreCalled) {
  ThreadPool pool;
  Portions job;
  {
    const ThreadPool::Opening opening(pool, job, Portions::kHelpers);
    for (int portion = 1; portion <= 500; ++portion) {
      job.add(2);
      pool.wake(2);
      // Only the helpers work here.
      while (job.done() < 2 * portion) std::this_thread::yield();
    }
  }
  EXPECT_EQ(job.done(), 1000);
  EXPECT_EQ(job.overlaps(), 0);
}

TEST(ThreadPool, EndsWithThreadsThatWereNeverUsedAgain) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool pool;
    pool.parallel_for(4, 1, 4, [](uint64_t, uint64_t) {});
  }
}

}  // namespace
}  // namespace ephost::thread_pool_test
