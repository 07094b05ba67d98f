// Walks an index space of several dimensions and keeps an offset for each of N operands.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

template <std::size_t N>
class Odometer {
 public:
  // Starts at all zero. Everything is copied; `strides[k]` has as many entries as `extents`, all of
  // which are positive.
  Odometer(const Dims& extents, const std::array<Dims, N>& strides)
      : extents_(extents), strides_(strides), index_(extents.size(), 0) {}

  // Goes to position `position` in row-major order.
  void seek(int64_t position) {
    offsets_ = {};
    for (std::size_t d = extents_.size(); d-- > 0;) {
      index_[d] = position % extents_[d];
      position /= extents_[d];
      for (std::size_t k = 0; k < N; ++k) offsets_[k] += index_[d] * strides_[k][d];
    }
  }

  // Goes to the next position; from the last one back to the first.
  void next() {
    for (std::size_t d = extents_.size(); d-- > 0;) {
      if (++index_[d] < extents_[d]) {
        for (std::size_t k = 0; k < N; ++k) offsets_[k] += strides_[k][d];
        return;
      }
      index_[d] = 0;
      for (std::size_t k = 0; k < N; ++k) offsets_[k] -= (extents_[d] - 1) * strides_[k][d];
    }
  }

  [[nodiscard]] int64_t offset(std::size_t k) const { return offsets_[k]; }
  [[nodiscard]] int64_t index(std::size_t d) const { return index_[d]; }

 private:
  Dims extents_;
  std::array<Dims, N> strides_;
  Dims index_;
  std::array<int64_t, N> offsets_ = {};
};

// Leaves out dimensions of extent 1 and joins neighbours that all operands step through as if they
// were one. The index space and the order stay the same.
template <std::size_t N>
void merge_dimensions(Dims& extents, std::array<Dims, N>& strides) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    bool joins = kept > 0;
    for (std::size_t k = 0; k < N; ++k) {
      joins = joins && strides[k][kept - 1] == strides[k][d] * extents[d];
    }
    if (joins) {
      extents[kept - 1] *= extents[d];
    } else {
      extents[kept++] = extents[d];
    }
    for (std::size_t k = 0; k < N; ++k) strides[k][kept - 1] = strides[k][d];
  }
  while (extents.size() > kept) {
    extents.pop_back();
    for (std::size_t k = 0; k < N; ++k) strides[k].pop_back();
  }
}

}  // namespace ephost_cpu
