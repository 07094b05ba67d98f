#include "host/plan/placement/place_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <span>

#include "host/plan/check/checker.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/plan/placement/placement_problems.h"

namespace ephost::plan::place_buffers_test {
namespace {

using test::IsOk;
using testing::graph_like;
using ::testing::HasSubstr;
using testing::Lives;
using testing::mirrored;
using testing::perfect_packing;
using testing::random_buffers;
using testing::shuffled;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

Placement place_checked(const std::vector<Buffer>& buffers, const PlacementOptions& options) {
  const auto placement = place_buffers(buffers, options);
  EXPECT_THAT(placement, IsOk());
  if (!placement.ok()) return {};
  const Status status = check_placement(buffers, *placement, options.alignment);
  EXPECT_THAT(status, IsOk());
  return *placement;
}

Placement place_checked(const std::vector<Buffer>& buffers, uint64_t alignment) {
  return place_checked(buffers, PlacementOptions{.alignment = alignment});
}

TEST(PlaceBuffers, StacksWhatLivesTogetherAndSharesWhatDoesNot) {
  const Placement placement = place_checked({{0, 2, 100}, {1, 3, 50}, {2, 4, 100}}, 1);
  EXPECT_EQ(placement.peak, 150U);
  EXPECT_EQ(placement.lower_bound, 150U);
  EXPECT_TRUE(placement.proved_optimal);
  EXPECT_EQ(placement.offsets[0], placement.offsets[2]);
}

TEST(PlaceBuffers, RoundsSizesUpToTheAlignment) {
  const Placement placement = place_checked({{0, 1, 65}, {0, 1, 1}, {0, 1, 64}}, 64);
  EXPECT_EQ(placement.peak, 256U);
  EXPECT_EQ(placement.lower_bound, 256U);
  for (const uint64_t offset : placement.offsets) EXPECT_EQ(offset % 64, 0U);
}

TEST(PlaceBuffers, NeedsNothingForNoBuffersAndForNoBytes) {
  EXPECT_EQ(place_checked({}, 64).peak, 0U);
  EXPECT_TRUE(place_checked({}, 64).proved_optimal);
  const Placement placement = place_checked({{0, 9, 0}, {3, 4, 10}}, 64);
  EXPECT_EQ(placement.peak, 64U);
}

// No placement fits in 6 bytes, though at most 6 are live at any time.
const std::vector<Buffer>& knotted() {
  static const std::vector<Buffer> buffers = {{0, 1, 2}, {0, 2, 1},  {6, 7, 3}, {1, 5, 1},
                                              {2, 6, 2}, {8, 11, 3}, {4, 6, 2}, {6, 10, 1},
                                              {5, 9, 2}, {0, 3, 3}};
  return buffers;
}

TEST(PlaceBuffers, ProvesThatTheLowerBoundCannotBeMet) {
  const Placement placement = place_checked(knotted(), 1);
  EXPECT_EQ(placement.lower_bound, 6U);
  EXPECT_EQ(placement.peak, 7U);
  EXPECT_EQ(placement.proved_bound, 7U);
  EXPECT_TRUE(placement.proved_optimal);
}

TEST(PlaceBuffers, AdmitsThatItDidNotSearch) {
  const Placement placement = place_checked(knotted(), {.alignment = 1, .search_work = 0});
  EXPECT_EQ(placement.proved_bound, 6U);
  EXPECT_EQ(placement.peak, 7U);
  EXPECT_FALSE(placement.proved_optimal);
}

TEST(PlaceBuffers, TakesWhatFitsIntoTheCapacity) {
  const std::vector<Buffer> buffers = perfect_packing(3, 1 << 12, 40, 4);
  const Placement rough = place_checked(buffers, {.alignment = 1, .search_work = 0});
  ASSERT_GT(rough.peak, rough.lower_bound);
  const Placement same = place_checked(buffers, {.alignment = 1, .capacity = rough.peak});
  EXPECT_EQ(same.peak, rough.peak);
  EXPECT_FALSE(same.proved_optimal);
  const Placement lower = place_checked(buffers, {.alignment = 1, .capacity = rough.peak - 1});
  EXPECT_LT(lower.peak, rough.peak);
}

TEST(PlaceBuffers, SaysThatNothingFitsIntoTheCapacity) {
  const Placement placement = place_checked(knotted(), {.alignment = 1, .capacity = 6});
  EXPECT_EQ(placement.proved_bound, 7U);
  EXPECT_EQ(place_checked(knotted(), {.alignment = 1, .capacity = 1}).proved_bound, 7U);
}

TEST(PlaceBuffers, TakesTimesUpToTheLargest) {
  const uint32_t last = std::numeric_limits<uint32_t>::max();
  EXPECT_EQ(place_checked({{0, last, 8}, {last - 1, last, 8}, {0, 1, 8}}, 1).peak, 16U);
}

TEST(PlaceBuffers, RefusesABufferThatNeverLives) {
  const auto result = place_buffers(std::vector<Buffer>{{0, 1, 1}, {5, 5, 1}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(),
            "cannot place buffers: buffer #1 lives from 5 to 5; its end must be after its start");
}

TEST(PlaceBuffers, RefusesSizesThatAddUpToMoreThan64Bits) {
  const auto sum = place_buffers(std::vector<Buffer>{{0, 1, kHuge / 2}, {5, 6, kHuge / 2 + 2}},
                                 {.alignment = 1});
  ASSERT_FALSE(sum.ok());
  EXPECT_THAT(sum.status().message(), HasSubstr("sizes up to buffer #1 add up to more than 2^64"));
  EXPECT_FALSE(place_buffers(std::vector<Buffer>{{0, 1, kHuge}}).ok());
}

TEST(PlaceBuffers, RefusesAnAlignmentThatIsNotAPowerOfTwo) {
  for (const uint64_t alignment : {0U, 3U, 48U}) {
    const auto result = place_buffers(std::vector<Buffer>{{0, 1, 1}}, {.alignment = alignment});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.status().message(), HasSubstr("is not a power of two"));
  }
}

TEST(PlaceBuffers, IsSoundOnThousandsOfRandomProblems) {
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    const std::vector<Buffer> buffers =
        random_buffers(seed, 1 + seed % 97, 1 + seed % 41, static_cast<Lives>(seed % 3));
    place_checked(buffers, {.alignment = uint64_t{1} << (seed % 8), .search_work = 5'000});
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// Examines all placements: if the buffers of any placement are stacked in the order of their
// offsets, none of them ends up higher, and their order stays the same.
class AllOrders {
 public:
  AllOrders(std::span<const Buffer> buffers, uint64_t limit) : buffers_(buffers), lowest_(limit) {}

  // The lowest peak; `limit` if none is below.
  [[nodiscard]] uint64_t lowest_peak() && {
    place_next({}, 0);
    return lowest_;
  }

 private:
  using Place = std::pair<uint64_t, size_t>;  // offset and buffer

  void place_next(Place last, uint64_t peak) {
    if (peak >= lowest_) return;
    if (placed_.size() == buffers_.size()) lowest_ = peak;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (is_placed_[i]) continue;
      const Place place(top_under(buffers_[i]), i);
      if (place < last) continue;
      is_placed_[i] = true;
      placed_.push_back(place);
      place_next(place, std::max(peak, place.first + buffers_[i].size));
      placed_.pop_back();
      is_placed_[i] = false;
    }
  }
  [[nodiscard]] uint64_t top_under(const Buffer& buffer) const {
    uint64_t top = 0;
    for (const auto& [offset, i] : placed_) {
      const bool meets = buffers_[i].lower < buffer.upper && buffer.lower < buffers_[i].upper;
      if (meets) top = std::max(top, offset + buffers_[i].size);
    }
    return top;
  }

  std::span<const Buffer> buffers_;
  std::vector<bool> is_placed_ = std::vector<bool>(buffers_.size());
  std::vector<Place> placed_;
  uint64_t lowest_;
};

bool is_proved_optimum(const std::vector<Buffer>& buffers, const Placement& placement) {
  return placement.proved_optimal &&
         AllOrders(buffers, placement.peak).lowest_peak() == placement.peak;
}

TEST(PlaceBuffers, FindsAndProvesTheOptimumOfThousandsOfSmallProblems) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Buffer> buffers(4 + random() % 5);
    for (Buffer& buffer : buffers) {
      buffer.lower = static_cast<uint32_t>(random() % 8);
      buffer.upper = buffer.lower + 1 + static_cast<uint32_t>(random() % 5);
      buffer.size = 1 + random() % 5;
    }
    ASSERT_TRUE(is_proved_optimum(buffers, place_checked(buffers, 1))) << "seed " << seed;
  }
}

TEST(PlaceBuffers, FindsAndProvesTheOptimumOfWhatIsNearlyKnotted) {
  size_t knots = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Buffer> buffers = knotted();
    for (Buffer& buffer : buffers) buffer.size *= 3;
    for (int change = 0; change < 3; ++change) {
      Buffer& buffer = buffers[random() % buffers.size()];
      if (random() % 2 == 0) buffer.upper += static_cast<uint32_t>(random() % 2);
      buffer.size += random() % 2;
    }
    const Placement placement = place_checked(buffers, 1);
    ASSERT_TRUE(is_proved_optimum(buffers, placement)) << "seed " << seed;
    if (placement.peak > placement.lower_bound) ++knots;
  }
  EXPECT_GE(knots, 20U);
}

TEST(PlaceBuffers, PutsPerfectPackingsTogetherAgain) {
  size_t largest = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<Buffer> cut = perfect_packing(seed, 1 << 12, 1 << 11, 64);
    largest = std::max(largest, cut.size());
    for (const std::vector<Buffer>& buffers : {cut, mirrored(cut), shuffled(cut, seed)}) {
      const Placement placement =
          place_checked(buffers, {.alignment = 1, .capacity = 1 << 12, .search_work = 200'000'000});
      ASSERT_EQ(placement.peak, uint64_t{1} << 12) << "seed " << seed << ", " << cut.size();
    }
  }
  EXPECT_GE(largest, 400U);
}

TEST(PlaceBuffers, MeetsTheLowerBoundOfWhatNetworksNeed) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Placement placement =
        place_checked(graph_like(seed, 20 + static_cast<uint32_t>(seed) * 3), 64);
    ASSERT_EQ(placement.peak, placement.lower_bound) << "seed " << seed;
  }
}

TEST(PlaceBuffers, PlacesTwentyThousandBuffers) {
  place_checked(random_buffers(1, 20'000, 20'000, Lives::kShort), 64);
  place_checked(random_buffers(2, 20'000, 10'000, Lives::kMixed), 64);
  place_checked(random_buffers(3, 20'000, 10'000, Lives::kLong), 64);
}

TEST(PlaceBuffers, PlacesAHundredThousandBuffersThatAllLiveLong) {
  place_checked(random_buffers(4, 100'000, 100'000, Lives::kLong), 64);
}

TEST(PlaceBuffers, GivesTheSameAnswerTwice) {
  const std::vector<Buffer> buffers = random_buffers(5, 2'000, 300, Lives::kMixed);
  EXPECT_EQ(place_buffers(buffers)->offsets, place_buffers(buffers)->offsets);
}

TEST(PlaceBuffers, DoesNotDependOnTheOrderOfTheBuffers) {
  const std::vector<Buffer> buffers = random_buffers(6, 200, 50, Lives::kMixed);
  const std::vector<Buffer> other = shuffled(buffers, 1);
  const Placement first = place_checked(buffers, 64);
  const Placement second = place_checked(other, 64);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto same = std::ranges::find_if(other, [&](const Buffer& buffer) {
      return buffer.lower == buffers[i].lower && buffer.upper == buffers[i].upper &&
             buffer.size == buffers[i].size;
    });
    EXPECT_EQ(first.offsets[i], second.offsets[static_cast<size_t>(same - other.begin())]);
  }
}

}  // namespace
}  // namespace ephost::plan::place_buffers_test
