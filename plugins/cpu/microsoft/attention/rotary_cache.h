// The cosines and sines that rotary embeddings take as inputs.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/attention/rotary.h"

namespace ephost_cpu {

// Cosines and sines by position, for half of the elements that are rotated.
struct RotaryCache {
  const float* cosines;
  const float* sines;
  int64_t positions, pairs;

  [[nodiscard]] int64_t check(int64_t position) const {
    if (position >= 0 && position < positions) return position;
    fail("position " + std::to_string(position) + " is out of range for " +
         std::to_string(positions) + " cached ones");
  }
};

[[nodiscard]] inline RotaryCache read_cache(const eph::Run& run, uint32_t cosines, uint32_t sines,
                                            int64_t size) {
  if (run.input(cosines) == nullptr || run.input(sines) == nullptr) {
    fail("cos_cache and sin_cache are needed for rotary embeddings");
  }
  const Dims shape = dims_of(*run.input(cosines));
  if (shape.size() != 2 || shape[1] > size / 2 || !(dims_of(*run.input(sines)) == shape)) {
    fail("cos_cache of shape " + to_string(shape) + " and sin_cache of shape " +
         to_string(dims_of(*run.input(sines))) + " do not fit heads of " + std::to_string(size) +
         " elements");
  }
  return {run.input_data<float>(cosines), run.input_data<float>(sines), shape[0], shape[1]};
}

}  // namespace ephost_cpu
