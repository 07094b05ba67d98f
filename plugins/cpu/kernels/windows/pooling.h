// Pooling over a sliding window. A row of the output is made from whole rows of the input: those
// that the window covers are folded into one, of which then, for each position in the window's last
// dimension, a strided row is folded into the output's row. All of these are vector loops. The row
// in between has room for the padding, so that none of them has to handle borders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu {

// An operation folds in an element, or a vector of them: op(folded, x) updates `folded`.

// Folds x[i * stride] into y[i].
template <class Op, class T>
CPU_INLINE void fold_strided(Op op, const T* x, int64_t stride, T* y, int64_t count) {
  if (stride == 1) {
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) op(y[i], x[i]);
  } else if (stride == 2) {
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) op(y[i], x[2 * i]);
  } else {
    for (int64_t i = 0; i < count; ++i) op(y[i], x[i * stride]);
  }
}

// The same for y[i] = start and a stride of 1.
template <class Op, class T>
CPU_INLINE void start_elements(Op op, T start, const T* x, T* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    T folded = start;
    op(folded, x[i]);
    y[i] = folded;
  }
}

// Elements of the output's rows are made in groups, vectors of 16 bytes: the compiler splits longer
// ones before it considers the instruction set of a clone.
template <class T>
using PoolGroup [[gnu::vector_size(16)]] = T;
template <class T>
inline constexpr int64_t kPoolGroup = 16 / sizeof(T);

// group[i] = x[i * stride]; reads up to x[kPoolGroup<T> * stride - 1].
template <class T, class Group>
CPU_INLINE void load_group(const T* x, int64_t stride, Group& group) {
  if (stride == 1) {
    std::memcpy(&group, x, sizeof(group));
    return;
  }
  if constexpr (sizeof(T) == 4) {
    if (stride == 2) {
      Group high;
      std::memcpy(&group, x, sizeof(group));
      std::memcpy(&high, x + kPoolGroup<T>, sizeof(high));
      group = __builtin_shufflevector(group, high, 0, 2, 4, 6);
      return;
    }
  }
  if constexpr (sizeof(T) == 1) {
    if (stride == 2) {
      Group high;
      std::memcpy(&group, x, sizeof(group));
      std::memcpy(&high, x + kPoolGroup<T>, sizeof(high));
      group = __builtin_shufflevector(group, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24,
                                      26, 28, 30);
      return;
    }
  }
  for (int64_t i = 0; i < kPoolGroup<T>; ++i) group[i] = x[i * stride];
}

// Folds x[i * stride + k * step] for all positions k into y[i].
template <class Op, class T>
CPU_INLINE void fold_positions(Op op, const T* x, int64_t stride, int64_t positions, int64_t step,
                               T* y, int64_t count) {
  for (int64_t i = 0; i < count; i += kPoolGroup<T>) {
    PoolGroup<T> folded;
    load_group(x + i * stride, stride, folded);
    for (int64_t k = 1; k < positions; ++k) {
      PoolGroup<T> group;
      load_group(x + i * stride + k * step, stride, group);
      op(folded, group);
    }
    if (i + kPoolGroup<T> <= count) {
      std::memcpy(y + i, &folded, sizeof(folded));
    } else {
      for (int64_t j = 0; i + j < count; ++j) y[i + j] = folded[j];
    }
  }
}

template <class Op>
CPU_SIMD void fold_simd(Op op, const float* x, int64_t stride, float* y, int64_t count) {
  fold_strided(op, x, stride, y, count);
}
template <class Op>
CPU_SIMD void start_simd(Op op, float start, const float* x, float* y, int64_t count) {
  start_elements(op, start, x, y, count);
}
template <class Op>
CPU_SIMD void fold_positions_simd(Op op, const float* x, int64_t stride, int64_t positions,
                                  int64_t step, float* y, int64_t count) {
  fold_positions(op, x, stride, positions, step, y, count);
}

// A pooling of planes (a plane is one channel of one image), in terms of the input's rows (its last
// dimension).
struct PoolPlan {
  Window window;
  Dims input;            // spatial extents
  Dims outer;            // those of the output without the last
  Dims outer_kernel;     // likewise of the window
  int64_t row = 1;       // last extent of the input
  int64_t out_row = 1;   // of the output
  int64_t in_plane = 1;  // elements
  int64_t out_plane = 1;
  int64_t planes = 1;
};

inline PoolPlan make_pool_plan(const WindowAttributes& attributes, const Dims& shape) {
  if (shape.size() < 3) fail("the input " + to_string(shape) + " has no spatial dimensions");
  PoolPlan plan;
  for (std::size_t d = 2; d < shape.size(); ++d) plan.input.push_back(shape[d]);
  plan.window = attributes.resolve(attributes.kernel_shape(), plan.input);
  plan.outer = plan.window.output;
  plan.outer_kernel = plan.window.kernel;
  plan.outer.pop_back();
  plan.outer_kernel.pop_back();
  plan.row = plan.input.back();
  plan.out_row = plan.window.output.back();
  plan.in_plane = element_count(plan.input);
  plan.out_plane = element_count(plan.window.output);
  plan.planes = element_count(shape, 0, 2);
  return plan;
}

inline Dims pooled_shape(const PoolPlan& plan, const Dims& shape) {
  Dims out = {shape[0], shape[1]};
  for (const int64_t extent : plan.window.output) out.push_back(extent);
  return out;
}

// Calls row(offset of an input row in its plane) for the rows that the window covers when its outer
// position is `at`; returns their number.
template <class Row>
int64_t for_each_covered_row(const PoolPlan& plan, const Odometer<1>& at, Odometer<1>& tap,
                             const Row& row) {
  const int64_t taps = element_count(plan.outer_kernel);
  int64_t covered = 0;
  for (int64_t t = 0; t < taps; ++t, tap.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; inside && d < plan.outer.size(); ++d) {
      const int64_t index = at.index(d) * plan.window.strides[d] - plan.window.pads_begin[d] +
                            tap.index(d) * plan.window.dilations[d];
      inside = index >= 0 && index < plan.input[d];
      offset = offset * plan.input[d] + index;
    }
    if (!inside) continue;
    ++covered;
    row(offset * plan.row);
  }
  return covered;
}

// As fold_strided, compiled for several instruction sets where that helps.
template <class Op, class T>
void fold(Op op, const T* x, int64_t stride, T* y, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    fold_simd(op, x, stride, y, count);
  } else {
    fold_strided(op, x, stride, y, count);
  }
}

// Folds one input row into one output row for each position in the window's last dimension.
template <class Op, class T>
void fold_within(Op op, const PoolPlan& plan, const T* x, T* y) {
  const std::size_t last = plan.input.size() - 1;
  const int64_t stride = plan.window.strides[last];
  for (int64_t k = 0; k < plan.window.kernel[last]; ++k) {
    // The outputs i whose input i * stride + shift lies in the row.
    const int64_t shift = k * plan.window.dilations[last] - plan.window.pads_begin[last];
    const int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t end =
        shift >= plan.row ? 0 : std::min(plan.out_row, (plan.row - 1 - shift) / stride + 1);
    if (begin < end) fold(op, x + begin * stride + shift, stride, y + begin, end - begin);
  }
}

// Makes rows of the output. `op` folds in an element, `merge` what was folded already.
template <class Op, class Merge, class T>
class RowPool {
 public:
  RowPool(Op op, Merge merge, T start, const PoolPlan& plan)
      : op_(op), merge_(merge), start_(start), plan_(plan) {
    const std::size_t last = plan.input.size() - 1;
    stride_ = plan.window.strides[last];
    step_ = plan.window.dilations[last];
    positions_ = plan.window.kernel[last];
    pad_ = plan.window.pads_begin[last];
    const int64_t rounded = (plan.out_row + kPoolGroup<T> - 1) / kPoolGroup<T> * kPoolGroup<T>;
    if (std::max({stride_, step_, positions_, pad_, rounded}) > kLongest) return;
    const int64_t span = rounded * stride_ + (positions_ - 1) * step_;
    if (span > kLongest) return;
    used_ = std::max<int64_t>(0, std::min(plan.row, span - pad_));
    fits_ = true;
    std::fill_n(together_, span, start);
  }

  // Makes the row at `at`; returns how many rows of the input it covers.
  int64_t make(const T* plane, const Odometer<1>& at, Odometer<1>& tap, T* out) {
    if (!fits_) {
      std::fill_n(out, plan_.out_row, start_);
      return for_each_covered_row(
          plan_, at, tap, [&](int64_t offset) { fold_within(op_, plan_, plane + offset, out); });
    }
    int64_t covered = 0;
    for_each_covered_row(plan_, at, tap, [&](int64_t offset) { take(plane + offset, covered++); });
    if (covered == 0) {
      std::fill_n(out, plan_.out_row, start_);
    } else if constexpr (std::is_same_v<T, float>) {
      fold_positions_simd(merge_, together_, stride_, positions_, step_, out, plan_.out_row);
    } else {
      fold_positions(merge_, together_, stride_, positions_, step_, out, plan_.out_row);
    }
    return covered;
  }

 private:
  static constexpr int64_t kLongest = 2048;

  // Folds in the row that is number `n` of those that are covered.
  void take(const T* row, int64_t n) {
    if (n > 0) {
      fold(op_, row, 1, together_ + pad_, used_);
    } else if constexpr (std::is_same_v<T, float>) {
      start_simd(op_, start_, row, together_ + pad_, used_);
    } else {
      start_elements(op_, start_, row, together_ + pad_, used_);
    }
  }

  Op op_;
  Merge merge_;
  T start_;
  const PoolPlan& plan_;
  int64_t stride_, step_, positions_, pad_;
  int64_t used_ = 0;  // elements of an input row that matter
  bool fits_ = false;
  T together_[kLongest];  // the rows in one, with its padding
};

// Folds whole planes; finish(row of the output, its outer position, covered rows) ends each row.
template <class Op, class Merge, class T, class Finish>
void pool_planes(Op op, Merge merge, const PoolPlan& plan, T start, const T* x, T* y,
                 const Finish& finish) {
  const Dims no_strides(plan.outer.size(), 0);
  const int64_t rows = element_count(plan.outer);
  const double taps = static_cast<double>(element_count(plan.window.kernel));
  const double cost = 0.2 * taps * static_cast<double>(plan.out_plane);
  parallel_for(plan.planes, cost, [&](int64_t begin, int64_t end) {
    Odometer<1> at(plan.outer, {no_strides});
    Odometer<1> tap(plan.outer_kernel, {no_strides});
    RowPool<Op, Merge, T> pool(op, merge, start, plan);
    for (int64_t p = begin; p < end; ++p) {
      T* out = y + p * plan.out_plane;
      for (int64_t r = 0; r < rows; ++r, at.next(), out += plan.out_row) {
        finish(out, at, pool.make(x + p * plan.in_plane, at, tap, out));
      }
    }
  });
}

}  // namespace ephost_cpu
