#include "host/base/threads/thread_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "host/base/threads/thread_pool.h"

namespace ephost::thread_affinity_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Those that the thread may run on now.
Processors current() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  Processors processors;
  for (uint32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

TEST(ThreadAffinities, AreGroupsOfProcessorsCountedFromOne) {
  EXPECT_THAT(*parse_thread_affinities("1"), ElementsAre(ElementsAre(0U)));
  EXPECT_THAT(*parse_thread_affinities("1,2;3,4"),
              ElementsAre(ElementsAre(0U, 1U), ElementsAre(2U, 3U)));
  EXPECT_THAT(*parse_thread_affinities("1-3;2-2;1024"),
              ElementsAre(ElementsAre(0U, 1U, 2U), ElementsAre(1U), ElementsAre(1023U)));
  EXPECT_THAT(*parse_thread_affinities("5,1-3,2"), ElementsAre(ElementsAre(0U, 1U, 2U, 4U)));
}

TEST(ThreadAffinities, RefuseOtherText) {
  for (const char* text : {"",
                           ";",
                           "1;",
                           ";1",
                           "1;;2",
                           "1,",
                           ",1",
                           "0",
                           "-1",
                           "1-",
                           "-",
                           "2-1",
                           "1-2-3",
                           "0-2",
                           "1025",
                           "1-1025",
                           "a",
                           "1 2",
                           " 1",
                           "1.5",
                           "+1",
                           "0x1",
                           "99999999999999999999",
                           "1-99999999999"}) {
    const auto parsed = parse_thread_affinities(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(parsed.status().message(), HasSubstr("or ranges, e.g. \"1,2;3-5\"")) << text;
  }
}

TEST(ThreadAffinities, RefuseMoreThreadsThanAPoolHas) {
  std::string text = "1";
  for (uint32_t i = 2; i < ThreadPool::kMaxThreads; ++i) text += ";1";
  EXPECT_EQ(parse_thread_affinities(text)->size(), ThreadPool::kMaxThreads - 1);
  EXPECT_THAT(parse_thread_affinities(text + ";1").status().message(),
              HasSubstr("are for more than 255 threads"));
}

TEST(ThreadAffinities, DropProcessorsThatTheSystemDoesNotGive) {
  const uint32_t usable = current().front();
  const uint32_t absent = CPU_SETSIZE - 1;
  std::vector<Processors> affinities = {{usable}, {usable, absent}, {absent}};
  const std::string warning = drop_unusable_processors(affinities);
  EXPECT_THAT(affinities, ElementsAre(ElementsAre(usable), ElementsAre(usable), IsEmpty()));
  EXPECT_THAT(warning, HasSubstr("processors that this process may not use: 1024; "));
}

TEST(ThreadAffinities, LeaveTheCallingThreadAlone) {
  const Processors before = current();
  std::vector<Processors> affinities = {{before.back()}};
  EXPECT_EQ(drop_unusable_processors(affinities), "");
  EXPECT_EQ(current(), before);
}

TEST(ThreadPoolOptions, BindEachThreadToItsProcessors) {
  const Processors mine = current();
  ThreadPool pool(nullptr, {.affinities = {{mine.front()}, {mine.back()}}});
  std::mutex mutex;
  std::set<Processors> bound;
  std::atomic<int> begun{0};
  const std::thread::id caller = std::this_thread::get_id();
  pool.parallel_for(3, 1, 3, [&](uint64_t, uint64_t) {
    ++begun;
    while (begun < 3) std::this_thread::yield();
    if (std::this_thread::get_id() == caller) return;
    const std::lock_guard lock(mutex);
    bound.insert(current());
  });
  EXPECT_EQ(bound, (std::set<Processors>{{mine.front()}, {mine.back()}}));
  EXPECT_EQ(current(), mine);
}

TEST(ThreadPoolOptions, LeaveThreadsWithoutProcessorsAlone) {
  ThreadPool pool(nullptr, {.affinities = {{}}, .allow_spinning = false});
  std::atomic<int> begun{0};
  std::atomic<int> others{0};
  const Processors mine = current();
  for (int round = 0; round < 20; ++round) {
    begun = 0;
    pool.parallel_for(3, 1, 3, [&](uint64_t, uint64_t) {
      ++begun;
      while (begun < 3) std::this_thread::yield();
      if (current() != mine) ++others;
    });
  }
  EXPECT_EQ(others, 0);
}

}  // namespace
}  // namespace ephost::thread_affinity_test
