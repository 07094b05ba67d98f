#include "plugins/openmp/crowd.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/unit/plugins/openmp/waits.h"

namespace ephost::crowd_test {
namespace {

using ephost_openmp::Crowd;
using CrowdTest = openmp_testing::WaitsTest;

// What a crowded machine looks like: 2,000 involuntary switches in a second.
void crowd_the_machine(Crowd& crowd) { crowd.add(100000000, 200, 2); }

TEST_F(CrowdTest, BoundsTheWaitsOfUnhurriedWork) {
  Crowd crowd;
  {
    const Crowd::Unhurried work(crowd, 2);
    EXPECT_TRUE(begin_to_sleep());
  }
  EXPECT_TRUE(begin_to_spin());
}

TEST_F(CrowdTest, KeepsTheWaitsOfComputationsBesideUnhurriedWork) {
  Crowd crowd;
  const Crowd::Unhurried earlier(crowd, 2);
  EXPECT_TRUE(begin_to_sleep());
  const Crowd::Run run(crowd, 2);
  EXPECT_TRUE(begin_to_spin());
  const Crowd::Unhurried later(crowd, 2);
  EXPECT_TRUE(begin_to_spin());
}

TEST_F(CrowdTest, BoundsWaitsOnACrowdedMachine) {
  Crowd crowd;
  crowd_the_machine(crowd);
  EXPECT_TRUE(crowd.is_here());
  EXPECT_TRUE(begin_to_sleep());
  std::optional<Crowd::Unhurried> work(std::in_place, crowd, 2);
  work.reset();
  EXPECT_TRUE(begin_to_sleep());
}

// Sessions may be too short to find out by themselves.
TEST_F(CrowdTest, IsKnownToTheNextSession) {
  std::shared_ptr<Crowd> crowd = Crowd::shared();
  EXPECT_EQ(Crowd::shared(), crowd);
  crowd_the_machine(*crowd);
  crowd.reset();
  EXPECT_TRUE(begin_to_spin());  // no threads are left behind
  crowd = Crowd::shared();
  EXPECT_TRUE(crowd->is_here());
  const Crowd::Run run(*crowd, 2);
  EXPECT_TRUE(begin_to_sleep());
}

}  // namespace
}  // namespace ephost::crowd_test
