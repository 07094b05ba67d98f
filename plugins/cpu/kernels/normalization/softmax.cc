// Softmax, LogSoftmax and Hardmax. Up to version 11 all dimensions from the axis on count as one;
// from 13 on the axis is a single dimension.
#include "plugins/cpu/kernels/normalization/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/row_math.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

// Each operation works on a few rows of adjacent elements, or on `columns` lines of `extent`
// elements that lie `stride` apart. y may be x.
constexpr int64_t kSoftmaxColumns = 64;

// Short rows go through each stage together, since a stage of one row has to wait for the one
// before.
constexpr int64_t kRows = 8;
constexpr int64_t kElementsOfRows = 2048;

struct Softmax {
  template <class T>
  static void rows(const T* x, T* y, int64_t count, int64_t extent) {
    T top[kRows];
    T scale[kRows];
    for (int64_t r = 0; r < count; ++r) top[r] = row_max(x + r * extent, extent);
    for (int64_t r = 0; r < count; ++r) {
      const double sum = row_exp(x + r * extent, top[r], y + r * extent, extent);
      scale[r] = static_cast<T>(1 / sum);
    }
    for (int64_t r = 0; r < count; ++r) {
      row_affine(y + r * extent, scale[r], T{0}, y + r * extent, extent);
    }
  }
  template <class T>
  CPU_INLINE static T finish(T x, T top, T sum) {
    return fast_exp_negative(x - top) / sum;
  }
};

// In two steps, since a + b would round away what small numbers differ by.
CPU_SIMD void subtract_both(const float* x, float a, float b, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - a) - b;
}
void subtract_both(const double* x, double a, double b, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - a) - b;
}

struct LogSoftmax {
  template <class T>
  static void rows(const T* x, T* y, int64_t count, int64_t extent) {
    T top[kRows];
    T shift[kRows];
    for (int64_t r = 0; r < count; ++r) top[r] = row_max(x + r * extent, extent);
    for (int64_t r = 0; r < count; ++r) {
      shift[r] = static_cast<T>(std::log(row_sum_exp(x + r * extent, top[r], extent)));
    }
    for (int64_t r = 0; r < count; ++r) {
      subtract_both(x + r * extent, top[r], shift[r], y + r * extent, extent);
    }
  }
  template <class T>
  CPU_INLINE static T finish(T x, T top, T sum) {
    return (x - top) - std::log(sum);
  }
};

template <class Op, class T>
CPU_INLINE void exponential_columns(const T* x, T* y, int64_t extent, int64_t stride,
                                    int64_t columns) {
  T top[kSoftmaxColumns];
  T sum[kSoftmaxColumns];
  for (int64_t j = 0; j < columns; ++j) top[j] = x[j];
  for (int64_t i = 1; i < extent; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const T value = x[i * stride + j];
      top[j] = value > top[j] ? value : top[j];
    }
  }
  for (int64_t j = 0; j < columns; ++j) sum[j] = 0;
  for (int64_t i = 0; i < extent; ++i) {
    for (int64_t j = 0; j < columns; ++j) sum[j] += fast_exp_negative(x[i * stride + j] - top[j]);
  }
  for (int64_t i = 0; i < extent; ++i) {
    CPU_INDEPENDENT
    for (int64_t j = 0; j < columns; ++j) {
      y[i * stride + j] = Op::template finish<T>(x[i * stride + j], top[j], sum[j]);
    }
  }
}

template <class Op>
CPU_SIMD void columns_simd(const float* x, float* y, int64_t extent, int64_t stride,
                           int64_t columns) {
  exponential_columns<Op>(x, y, extent, stride, columns);
}

template <class Op, class T>
void compute_columns(const T* x, T* y, int64_t extent, int64_t stride, int64_t columns) {
  if constexpr (std::is_same_v<T, float>) {
    columns_simd<Op>(x, y, extent, stride, columns);
  } else {
    exponential_columns<Op>(x, y, extent, stride, columns);
  }
}

// One at the first maximum, zero elsewhere.
struct Hardmax {
  template <class T>
  static void line(const T* x, T* y, int64_t extent, int64_t stride) {
    int64_t best = 0;
    for (int64_t i = 1; i < extent; ++i) best = x[i * stride] > x[best * stride] ? i : best;
    for (int64_t i = 0; i < extent; ++i) y[i * stride] = i == best ? T{1} : T{0};
  }
  template <class T>
  static void rows(const T* x, T* y, int64_t count, int64_t extent) {
    for (int64_t r = 0; r < count; ++r) line(x + r * extent, y + r * extent, extent, 1);
  }
};

template <class Op, class T>
void compute_tile(const T* x, T* y, int64_t extent, int64_t stride, int64_t columns) {
  if constexpr (std::is_same_v<Op, Hardmax>) {
    for (int64_t j = 0; j < columns; ++j) Hardmax::line(x + j, y + j, extent, stride);
  } else {
    compute_columns<Op>(x, y, extent, stride, columns);
  }
}

template <class Op, class T>
void compute_lines(const T* x, T* y, int64_t outer, int64_t extent, int64_t inner) {
  const double cost = 2.0 * static_cast<double>(extent);
  if (inner == 1) {
    parallel_for(outer, cost, [=](int64_t begin, int64_t end) {
      const int64_t step = std::clamp<int64_t>(kElementsOfRows / extent, 1, kRows);
      for (int64_t i = begin; i < end; i += step) {
        Op::rows(x + i * extent, y + i * extent, std::min(step, end - i), extent);
      }
    });
    return;
  }
  const int64_t tiles = (inner + kSoftmaxColumns - 1) / kSoftmaxColumns;
  parallel_for(outer * tiles, cost * kSoftmaxColumns, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % tiles * kSoftmaxColumns;
      const int64_t at = i / tiles * extent * inner + column;
      compute_tile<Op>(x + at, y + at, extent, inner, std::min(kSoftmaxColumns, inner - column));
    }
  });
}

template <class Op>
class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const NodeContext& context)
      : Kernel(context),
        flattens_(context.version() < 13),
        axis_(context.node().get_int("axis", flattens_ ? 1 : -1)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t rank = shape.size();
    // The flattening versions allow the rank itself, the others take a scalar as one element.
    const bool past_end = flattens_ && axis_ == static_cast<int64_t>(rank);
    const bool scalar = rank == 0 && (axis_ == -1 || axis_ == 0);
    const std::size_t axis = past_end || scalar ? rank : normalize_axis(axis_, rank);
    const std::size_t end = flattens_ || scalar ? rank : axis + 1;
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      compute_lines<Op>(data<const T>(x), data<T>(y), element_count(shape, 0, axis),
                        element_count(shape, axis, end), element_count(shape, end, rank));
    });
  }

 private:
  bool flattens_;
  int64_t axis_;
};

constexpr KernelEntry kSoftmaxKernels[] = {
    {"Softmax", 1, kNewest, {}, kInputTypes<kFloat>, &make<SoftmaxKernel<Softmax>>},
    {"LogSoftmax", 1, kNewest, {}, kInputTypes<kFloat>, &make<SoftmaxKernel<LogSoftmax>>},
    {"Hardmax", 1, kNewest, {}, kInputTypes<kFloat>, &make<SoftmaxKernel<Hardmax>>},
};

}  // namespace

void log_softmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner) {
  compute_lines<LogSoftmax>(x, y, outer, extent, inner);
}
void log_softmax(const double* x, double* y, int64_t outer, int64_t extent, int64_t inner) {
  compute_lines<LogSoftmax>(x, y, outer, extent, inner);
}

Table softmax_kernels() { return kSoftmaxKernels; }

}  // namespace ephost_cpu
