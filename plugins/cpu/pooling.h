// Pooling over a sliding window. A row of the output is made from whole rows of the input: those
// that the window covers are folded into one, of which then, for each position in the window's last
// dimension, a strided row is folded into the output's row. All of these are vector loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "plugins/cpu/odometer.h"
#include "plugins/cpu/parallel.h"
#include "plugins/cpu/simd.h"
#include "plugins/cpu/window.h"

namespace cpu {

// y[i] = op(y[i], x[i * stride]).
template <class Op, class T>
CPU_INLINE void fold_strided(Op op, const T* x, int64_t stride, T* y, int64_t count) {
  if (stride == 1) {
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = op(y[i], x[i]);
  } else if (stride == 2) {
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = op(y[i], x[2 * i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = op(y[i], x[i * stride]);
  }
}

template <class Op>
CPU_SIMD void fold_simd(Op op, const float* x, int64_t stride, float* y, int64_t count) {
  fold_strided(op, x, stride, y, count);
}

template <class Op, class T>
void fold(Op op, const T* x, int64_t stride, T* y, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    fold_simd(op, x, stride, y, count);
  } else {
    fold_strided(op, x, stride, y, count);
  }
}

struct Plus {
  template <class T>
  CPU_INLINE T operator()(T sum, T x) const {
    return sum + x;
  }
};

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
// position is `at`; their number.
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

// Folds one input row into one output row for each position in the window's last dimension.
template <class Op, class T>
void fold_taps(Op op, const PoolPlan& plan, const T* x, T* y) {
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

// Folds one row of the output; the number of the input's rows that went into it. `op` takes an
// element in, `merge` what was folded already.
template <class Op, class Merge, class T>
int64_t pool_row(Op op, Merge merge, const PoolPlan& plan, T start, const T* plane,
                 const Odometer<1>& at, Odometer<1>& tap, T* out) {
  constexpr int64_t kLongest = 1024;
  T together[kLongest];
  if (plan.row > kLongest) {
    return for_each_covered_row(plan, at, tap,
                                [&](int64_t offset) { fold_taps(op, plan, plane + offset, out); });
  }
  std::fill_n(together, plan.row, start);
  const int64_t covered = for_each_covered_row(
      plan, at, tap, [&](int64_t offset) { fold(op, plane + offset, 1, together, plan.row); });
  if (covered > 0) fold_taps(merge, plan, static_cast<const T*>(together), out);
  return covered;
}

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
    for (int64_t p = begin; p < end; ++p) {
      T* out = y + p * plan.out_plane;
      for (int64_t r = 0; r < rows; ++r, at.next(), out += plan.out_row) {
        std::fill_n(out, plan.out_row, start);
        const T* plane = x + p * plan.in_plane;
        finish(out, at, pool_row(op, merge, plan, start, plane, at, tap, out));
      }
    }
  });
}

}  // namespace cpu
