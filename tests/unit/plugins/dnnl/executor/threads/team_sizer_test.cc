// The sizer is told how long runs took on a machine that this file makes up.
#include "plugins/dnnl/executor/threads/team_sizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace ephost::team_sizer_test {
namespace {

using ephost_dnnl::TeamSizer;

using Machine = std::function<double(int threads)>;  // milliseconds of a run

// The number of runs for each size.
std::map<int, int> simulate(TeamSizer& sizer, int runs, const Machine& machine) {
  std::map<int, int> count;
  for (int i = 0; i < runs; ++i) {
    const int size = sizer.size();
    ++count[size];
    sizer.add(size, static_cast<uint64_t>(1e6 * machine(size)));
  }
  return count;
}

// Work of 160 ms on 16 processors, of which others keep some busy: a thread that has to share its
// processor takes three times as long, and all wait for it.
Machine machine_with_busy(int busy) {
  return [=](int threads) { return 160.0 / threads * (threads > 16 - busy ? 3 : 1); };
}

TEST(TeamSizer, BeginsWithAllThreads) {
  EXPECT_EQ(TeamSizer(16).size(), 16);
  EXPECT_EQ(TeamSizer(1).size(), 1);
}

TEST(TeamSizer, LeavesTheProcessorsToThoseWhoKeepThemBusy) {
  for (const auto& [busy, best] : {std::pair(1, 15), {8, 8}}) {
    TeamSizer sizer(16);
    simulate(sizer, 200, machine_with_busy(busy));
    const std::map<int, int> later = simulate(sizer, 1000, machine_with_busy(busy));
    EXPECT_GT(later.at(best), 900) << busy;
  }
}

TEST(TeamSizer, KeepsAllThreadsWhereFewerAreSlower) {
  TeamSizer sizer(16);
  EXPECT_GT(simulate(sizer, 2000, machine_with_busy(0)).at(16), 1900);
}

TEST(TeamSizer, FindsThatOneThreadIsFastest) {
  TeamSizer sizer(2);
  const std::map<int, int> runs =
      simulate(sizer, 1000, [](int threads) { return threads == 1 ? 30 : 300; });
  EXPECT_GT(runs.at(1), 970);
}

TEST(TeamSizer, GrowsAgainWhenOthersAreGone) {
  TeamSizer sizer(16);
  simulate(sizer, 1000, machine_with_busy(8));
  ASSERT_EQ(sizer.size(), 8);
  simulate(sizer, 1000, machine_with_busy(0));
  EXPECT_GT(simulate(sizer, 1000, machine_with_busy(0)).at(16), 900);
}

TEST(TeamSizer, EndsATrialEarlyThatIsMuchSlower) {
  TeamSizer sizer(2);
  const std::map<int, int> runs =
      simulate(sizer, 1000, [](int threads) { return threads == 2 ? 10 : 1000; });
  EXPECT_LT(runs.at(1), 20);
}

TEST(TeamSizer, IsNotLedAstrayByNoise) {
  TeamSizer sizer(16);
  std::mt19937 random(5);
  std::lognormal_distribution<double> noise(0, 0.3);
  const auto noisy = [&](int threads) { return machine_with_busy(8)(threads) * noise(random); };
  simulate(sizer, 500, noisy);
  const std::map<int, int> later = simulate(sizer, 5000, noisy);
  EXPECT_GT(later.at(8), 3500);
}

TEST(TeamSizer, DoesWithoutSizesThatCannotBeHad) {
  TeamSizer sizer(2);
  for (int i = 0; i < 100; ++i) {
    if (sizer.size() == 1) sizer.forbid(1);
    sizer.add(sizer.size(), 50'000'000);
    EXPECT_EQ(sizer.size() == 1 && i > 20, false);
  }
  TeamSizer many(16);
  many.forbid(15);
  many.forbid(4);
  many.forbid(3);  // none of its sizes
  simulate(many, 200, machine_with_busy(8));
  EXPECT_EQ(many.size(), 8);
}

TEST(TeamSizer, IgnoresRunsOfAnEarlierDecision) {
  TeamSizer sizer(2);
  for (int i = 0; i < 100; ++i) sizer.add(1, 1);
  EXPECT_EQ(sizer.size(), 2);
}

}  // namespace
}  // namespace ephost::team_sizer_test
