// A histogram of durations with fixed buckets on a logarithmic scale: the upper bounds are 125 ns
// and each of the next 34 doublings of it, the last one being 2147.483648 s.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ephost::session {

inline constexpr std::chrono::nanoseconds kLeastBound{125};
inline constexpr size_t kBoundCount = 35;
// The last bucket has what is above all bounds.
inline constexpr size_t kBucketCount = kBoundCount + 1;

// The upper bound of a bucket but the last, in seconds.
[[nodiscard]] constexpr double bound_seconds(size_t bucket) {
  return static_cast<double>(static_cast<uint64_t>(kLeastBound.count()) << bucket) / 1e9;
}

// The first bucket whose bound is not below the duration; a negative one counts as 0.
[[nodiscard]] constexpr size_t bucket_of(std::chrono::nanoseconds duration) {
  if (duration <= kLeastBound) return 0;
  const auto last = static_cast<uint64_t>(duration.count() - 1);
  const auto bucket =
      static_cast<size_t>(std::bit_width(last / static_cast<uint64_t>(kLeastBound.count())));
  return bucket < kBoundCount ? bucket : kBoundCount;
}

struct DurationHistogram {
  std::array<uint64_t, kBucketCount> counts = {};  // by bucket, each observation once
  std::chrono::nanoseconds sum{0};

  void observe(std::chrono::nanoseconds duration) {
    ++counts[bucket_of(duration)];
    sum += duration;
  }
};

}  // namespace ephost::session
