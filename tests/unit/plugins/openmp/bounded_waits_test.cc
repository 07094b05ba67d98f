// What waiting at a barrier costs is the processor time of the thread that waits, which does not
// depend on what else the machine does.
#include "plugins/openmp/bounded_waits.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace ephost::bounded_waits_test {
namespace {

using ephost_openmp::BoundedWaits;

double thread_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The least of what a thread spends while another one comes 30 milliseconds late to a barrier.
double wait_seconds() {
  double least = 1;
  for (int i = 0; i < 3; ++i) {
    const double before = thread_seconds();
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    least = std::min(least, thread_seconds() - before);
  }
  return least;
}

// Waits until waiting costs less, or more, than that: threads start late on a busy machine.
bool becomes_less(double seconds) {
  for (int i = 0; i < 50; ++i) {
    if (wait_seconds() < seconds) return true;
  }
  return false;
}
bool becomes_more(double seconds) {
  for (int i = 0; i < 50; ++i) {
    if (wait_seconds() > seconds) return true;
  }
  return false;
}

class BoundedWaitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
      if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " says how threads wait";
    }
    if (ephost_openmp::processor_count() < 2) GTEST_SKIP() << "one processor: they never spin";
    active_ = wait_seconds();
    if (active_ < 1e-3) GTEST_SKIP() << "this OpenMP does not spin";
  }
  double active_ = 0;
};

TEST_F(BoundedWaitsTest, LetThreadsSleepAtBarriersUntilToldOtherwise) {
  BoundedWaits waits;
  for (int round = 0; round < 3; ++round) {
    waits.apply_to(2);
    EXPECT_TRUE(becomes_less(active_ / 4));
    waits.apply_to(0);
    EXPECT_TRUE(becomes_more(active_ / 4));
  }
}

TEST_F(BoundedWaitsTest, EndWithTheObject) {
  {
    BoundedWaits waits;
    waits.apply_to(2);
    EXPECT_TRUE(becomes_less(active_ / 4));
  }
  EXPECT_TRUE(becomes_more(active_ / 4));
}

TEST_F(BoundedWaitsTest, AreTheUsersIfTheUserHasDecided) {
  ::setenv("GOMP_SPINCOUNT", "300000", 1);
  BoundedWaits waits;
  ::unsetenv("GOMP_SPINCOUNT");
  waits.apply_to(2);
  EXPECT_FALSE(becomes_less(active_ / 4));
}

TEST_F(BoundedWaitsTest, DoNotKeepAForkedChildFromEnding) {
  BoundedWaits waits;
  waits.apply_to(2);
  const pid_t child = ::fork();
  if (child == 0) {
    waits.apply_to(0);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace ephost::bounded_waits_test
