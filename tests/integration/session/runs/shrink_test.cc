// Session::shrink: what it gives back, and that later and concurrent runs compute the same.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/session/shapes/open_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::shrink_test {
namespace {

using test::IsOk;

constexpr int64_t kMiB = 1 << 20;

int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

class ShrinkTest : public ::testing::Test {
 protected:
  [[nodiscard]] Session create(const SessionOptions& options = {}) const {
    auto session = Session::create(test::scripted_environment(), model_, options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }
  static void run(Session& session, const std::vector<int64_t>& shape) {
    const auto outputs = session.run({{{"x", test::floats_of(shape)}}});
    ASSERT_THAT(outputs, IsOk());
    const std::span<const float> got = (*outputs)[0].elements<float>();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()), test::open_result(shape));
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, test::open_model());
};

TEST_F(ShrinkTest, GivesBackTheMemoryOfRuns) {
  Session session = create();
  // Twice: the second run with a shape has a block for its values, which the session keeps.
  for (int i = 0; i < 2; ++i) run(session, {16, kMiB / 4});  // values of 16 MiB
  const int64_t before = resident_bytes();
  ASSERT_THAT(session.shrink(), IsOk());
  EXPECT_LT(resident_bytes(), before - 14 * kMiB);
  for (int i = 0; i < 2; ++i) run(session, {16, kMiB / 4});
}

TEST_F(ShrinkTest, MayComeBeforeAnyRunAndTwice) {
  Session session = create();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(session.shrink(), IsOk());
    EXPECT_THAT(session.shrink(), IsOk());
    run(session, {2, 3});
  }
}

TEST_F(ShrinkTest, KeepsSpecialisations) {
  Session session = create(test::fixed("*", {{"runs_before", "0"}}));
  run(session, {2, 3});
  run(session, {4, 3});
  ASSERT_EQ(session.specializations().size(), 2U);
  ASSERT_THAT(session.shrink(), IsOk());
  run(session, {2, 3});
  ASSERT_EQ(session.specializations().size(), 2U);
  for (const Specialization& one : session.specializations()) {
    EXPECT_EQ(one.state, SpecializationState::kReady);
  }
}

TEST_F(ShrinkTest, IsNoticedByNoRunThatGoesOn) {
  Session session = create(test::fixed("*"));
  std::atomic<bool> done{false};
  std::thread shrinker([&] {
    while (!done) EXPECT_THAT(session.shrink(), IsOk());
  });
  std::vector<std::thread> runners;
  for (int64_t i = 1; i <= 3; ++i) {
    runners.emplace_back([&session, i] {
      for (int64_t n = 0; n < 60; ++n) run(session, {i + n % 3, 5});
    });
  }
  for (std::thread& runner : runners) runner.join();
  done = true;
  shrinker.join();
}

TEST_F(ShrinkTest, ProvidersOfASpecialisationAreKnownAndWishesAreCounted) {
  Session session = create(test::fixed("*", {{"runs_before", "0"}}));
  ASSERT_FALSE(session.providers().empty());
  EXPECT_EQ(session.providers()[0].node_count, 0U);
  EXPECT_EQ(session.providers()[0].wished_node_count, 3U);  // all but Abs
  run(session, {2, 3});
  const std::vector<Specialization> made = session.specializations();
  ASSERT_EQ(made.size(), 1U);
  ASSERT_EQ(made[0].providers.size(), session.providers().size());
  EXPECT_EQ(made[0].providers[0].name, session.providers()[0].name);
  EXPECT_EQ(made[0].providers[0].node_count, 3U);
  EXPECT_EQ(made[0].providers[0].wished_node_count, 0U);
}

}  // namespace
}  // namespace ephost::shrink_test
