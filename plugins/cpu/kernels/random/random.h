// Random numbers by position: the numbers of a stream do not depend on the order or the number of
// threads in which they are drawn.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : key_(mix(seed)) {}

  // 64 random bits for each index.
  [[nodiscard]] uint64_t bits(uint64_t index) const { return mix(key_ + (index + 1) * kStep); }

  // A number in [0, 1).
  [[nodiscard]] double uniform(uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }

  // A normally distributed number with mean 0 and deviation 1, by the Box-Muller transform.
  [[nodiscard]] double normal(uint64_t index) const {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * index)));
    return radius * std::cos(kTwoPi * uniform(2 * index + 1));
  }

 private:
  // SplitMix64: a step of the golden ratio and a hash whose output bits all depend on all input
  // bits.
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t key_;
};

// The streams of a kernel: always the same one with the attribute `seed`, else a new one for each
// run.
class RandomSource {
 public:
  explicit RandomSource(const NodeContext& context);
  [[nodiscard]] RandomStream next() {
    return RandomStream(seed_ ? *seed_ : next_seed_.fetch_add(1, std::memory_order_relaxed));
  }

 private:
  std::optional<uint64_t> seed_;
  std::atomic<uint64_t> next_seed_ = 0;
};

}  // namespace ephost_cpu
