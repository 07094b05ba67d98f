// Multidirectional broadcasting as numpy and ONNX define it: the output's shape, and a walk over it
// in rows along which each operand has a stride of 0 or 1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {

// The common shape of two operands. Throws if there is none.
[[nodiscard]] Dims broadcast_shape(eph::ArrayView<int64_t> a, eph::ArrayView<int64_t> b);

// Strides of a dense operand of shape `from` seen as `to`: 0 along dimensions in which it is
// repeated. `from` must broadcast to `to`.
[[nodiscard]] Dims broadcast_strides(eph::ArrayView<int64_t> from, eph::ArrayView<int64_t> to);

template <std::size_t N>
class Broadcast {
 public:
  // `shape` is the output's; every operand must broadcast to it.
  Broadcast(const Dims& shape, const std::array<Dims, N>& operands) : extents_(shape) {
    for (std::size_t k = 0; k < N; ++k) strides_[k] = broadcast_strides(operands[k], shape);
    count_ = element_count(shape);
    if (count_ == 0) return;
    merge_dimensions(extents_, strides_);
    if (extents_.empty()) return;
    inner_ = extents_.back();
    extents_.pop_back();
    for (std::size_t k = 0; k < N; ++k) {
      inner_strides_[k] = strides_[k].back();
      strides_[k].pop_back();
    }
  }

  // Calls row(output offset, operand offsets, operand strides (0 or 1), count) for ranges that
  // cover the output, in parallel if `cost` nanoseconds for an element are worth it. It must not
  // throw.
  template <class Row>
  void for_each_row(double cost, const Row& row) const {
    if (count_ == 0) return;
    const int64_t rows = count_ / inner_;
    if (rows < 8) {
      each_row(0, rows, [&](int64_t output, const Offsets& offsets) {
        parallel_for(inner_, cost, [&](int64_t begin, int64_t end) {
          Offsets shifted = offsets;
          for (std::size_t k = 0; k < N; ++k) shifted[k] += begin * inner_strides_[k];
          row(output + begin, shifted, inner_strides_, end - begin);
        });
      });
      return;
    }
    parallel_for(rows, cost * static_cast<double>(inner_), [&](int64_t begin, int64_t end) {
      each_row(begin, end, [&](int64_t output, const Offsets& offsets) {
        row(output, offsets, inner_strides_, inner_);
      });
    });
  }

  using Offsets = std::array<int64_t, N>;

 private:
  template <class Body>
  void each_row(int64_t begin, int64_t end, const Body& body) const {
    Odometer<N> odometer(extents_, strides_);
    odometer.seek(begin);
    for (int64_t i = begin; i < end; ++i, odometer.next()) {
      Offsets offsets;
      for (std::size_t k = 0; k < N; ++k) offsets[k] = odometer.offset(k);
      body(i * inner_, offsets);
    }
  }

  Dims extents_;  // without the innermost, `inner_`
  std::array<Dims, N> strides_;
  int64_t count_ = 0;
  int64_t inner_ = 1;
  Offsets inner_strides_ = {};
};

}  // namespace ephost_cpu
