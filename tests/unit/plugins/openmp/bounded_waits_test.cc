#include "plugins/openmp/bounded_waits.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/plugins/openmp/waits.h"

namespace ephost::bounded_waits_test {
namespace {

using ephost_openmp::BoundedWaits;
using BoundedWaitsTest = openmp_testing::WaitsTest;

TEST_F(BoundedWaitsTest, LetThreadsSleepAtBarriersUntilToldOtherwise) {
  BoundedWaits waits;
  for (int round = 0; round < 3; ++round) {
    waits.apply_to(2);
    EXPECT_TRUE(begin_to_sleep());
    waits.apply_to(0);
    EXPECT_TRUE(begin_to_spin());
  }
}

TEST_F(BoundedWaitsTest, EndWithTheObject) {
  {
    BoundedWaits waits;
    waits.apply_to(2);
    EXPECT_TRUE(begin_to_sleep());
  }
  EXPECT_TRUE(begin_to_spin());
}

TEST_F(BoundedWaitsTest, AreTheUsersIfTheUserHasDecided) {
  ::setenv("GOMP_SPINCOUNT", "300000", 1);
  BoundedWaits waits;
  ::unsetenv("GOMP_SPINCOUNT");
  waits.apply_to(2);
  EXPECT_FALSE(begin_to_sleep());
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
