// The reductions as accumulators: how each starts, folds in elements and gives its result. The walk
// over the dimensions is reduce.cc's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <limits>
#include <type_traits>

#include "plugins/cpu/math/convert.h"
#include "plugins/cpu/math/row_math.h"

namespace ephost_cpu {

// The type of sums: double for floating-point numbers, whose float sums would lose digits, and 64
// bits that wrap around for integers.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class W>
W wrapping_add(W a, W b) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <class W>
W wrapping_multiply(W a, W b) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// What is done with a sum at the end.
enum class Finish { kNothing, kMean, kLog, kRoot };

template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  T number = 0;
  convert(&value, EPH_ELEMENT_DOUBLE, &number, eph::element_type_of<T>(), 1);
  return number;
}

template <class T>
T finish_sum(Wide<T> sum, int64_t count, Finish finish) {
  switch (finish) {
    case Finish::kMean:
      return static_cast<T>(sum / static_cast<Wide<T>>(count));
    case Finish::kLog:
      return from_double<T>(std::log(static_cast<double>(sum)));
    case Finish::kRoot:
      return from_double<T>(std::sqrt(static_cast<double>(sum)));
    case Finish::kNothing:
      break;
  }
  return static_cast<T>(sum);
}

// A reduction: the accumulator of no elements, folding in one element or a row, and the result.
struct Sum {
  template <class T>
  using Accumulator = Wide<T>;
  template <class T>
  static Wide<T> start() {
    return 0;
  }
  template <class T>
  static Wide<T> fold(Wide<T> sum, T x) {
    return wrapping_add(sum, static_cast<Wide<T>>(x));
  }
  template <class T>
  static Wide<T> fold_row(Wide<T> sum, const T* x, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) return sum + row_sum(x, count);
    for (int64_t i = 0; i < count; ++i) sum = fold<T>(sum, x[i]);
    return sum;
  }
  template <class T>
  static T result(Wide<T> sum, int64_t count, Finish finish) {
    return finish_sum<T>(sum, count, finish);
  }
};

struct SumSquare : Sum {
  template <class T>
  static Wide<T> fold(Wide<T> sum, T x) {
    const auto wide = static_cast<Wide<T>>(x);
    return wrapping_add(sum, wrapping_multiply(wide, wide));
  }
  template <class T>
  static Wide<T> fold_row(Wide<T> sum, const T* x, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) return sum + row_sum_squares(x, T{0}, count);
    for (int64_t i = 0; i < count; ++i) sum = fold<T>(sum, x[i]);
    return sum;
  }
};

struct SumMagnitude : Sum {
  template <class T>
  static Wide<T> fold(Wide<T> sum, T x) {
    const auto wide = static_cast<Wide<T>>(x);
    if constexpr (std::is_floating_point_v<T>) {
      return sum + std::fabs(wide);
    } else {
      return wrapping_add(sum, x < T{0} ? wrapping_multiply(wide, static_cast<Wide<T>>(-1)) : wide);
    }
  }
  template <class T>
  static Wide<T> fold_row(Wide<T> sum, const T* x, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) return sum + row_sum_magnitudes(x, count);
    for (int64_t i = 0; i < count; ++i) sum = fold<T>(sum, x[i]);
    return sum;
  }
};

struct Prod : Sum {
  template <class T>
  static Wide<T> start() {
    return 1;
  }
  template <class T>
  static Wide<T> fold(Wide<T> product, T x) {
    return wrapping_multiply(product, static_cast<Wide<T>>(x));
  }
  template <class T>
  static Wide<T> fold_row(Wide<T> product, const T* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) product = fold<T>(product, x[i]);
    return product;
  }
};

template <bool kMaximum>
struct Extreme {
  template <class T>
  using Accumulator = T;
  template <class T>
  static T start() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return kMaximum ? -Limits::infinity() : Limits::infinity();
    return kMaximum ? Limits::lowest() : Limits::max();
  }
  template <class T>
  static T fold(T best, T x) {
    const bool keeps = kMaximum ? best > x : best < x;
    return keeps || best != best ? best : x;
  }
  template <class T>
  static T fold_row(T best, const T* x, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) {
      return fold(best, kMaximum ? row_max(x, count) : row_min(x, count));
    }
    for (int64_t i = 0; i < count; ++i) best = fold<T>(best, x[i]);
    return best;
  }
  template <class T>
  static T result(T best, int64_t, Finish) {
    return best;
  }
};

// log of the sum of e^x: the sum is kept relative to the largest element so far.
struct LogSumExp {
  struct Scaled {
    double top, sum;
  };
  template <class T>
  using Accumulator = Scaled;
  template <class T>
  static Scaled start() {
    return {-std::numeric_limits<double>::infinity(), 0};
  }
  template <class T>
  static Scaled fold(Scaled so_far, T x) {
    const auto wide = static_cast<double>(x);
    if (wide <= so_far.top) {
      // Equal infinities count as one term each.
      so_far.sum += wide == so_far.top ? 1 : std::exp(wide - so_far.top);
      return so_far;
    }
    return {wide, so_far.sum * std::exp(so_far.top - wide) + 1};
  }
  template <class T>
  static Scaled fold_row(Scaled so_far, const T* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) so_far = fold<T>(so_far, x[i]);
    return so_far;
  }
  template <class T>
  static T result(Scaled scaled, int64_t, Finish) {
    return from_double<T>(scaled.top + std::log(scaled.sum));
  }
};

// A reduction of one element type behind pointers, so that the walks below are compiled once.
// Accumulators are arrays of `count`; a row is folded into the first one, columns each into its
// own.
struct Folding {
  int64_t element_size;
  void (*start)(void* accumulators, int64_t count);
  void (*fold_row)(void* accumulator, const void* x, int64_t count);
  void (*fold_columns)(void* accumulators, const void* x, int64_t count);
  void (*store)(const void* accumulators, void* y, int64_t count, int64_t terms, Finish finish);
};

constexpr std::size_t kAccumulatorBytes = 16;

template <class Op, class T>
struct FoldingOf {
  using Accumulator = typename Op::template Accumulator<T>;
  static_assert(sizeof(Accumulator) <= kAccumulatorBytes);

  static void start(void* accumulators, int64_t count) {
    std::fill_n(static_cast<Accumulator*>(accumulators), count, Op::template start<T>());
  }
  static void fold_row(void* accumulator, const void* x, int64_t count) {
    Accumulator& a = *static_cast<Accumulator*>(accumulator);
    a = Op::template fold_row<T>(a, static_cast<const T*>(x), count);
  }
  static void fold_columns(void* accumulators, const void* x, int64_t count) {
    Accumulator* a = static_cast<Accumulator*>(accumulators);
    for (int64_t i = 0; i < count; ++i) {
      a[i] = Op::template fold<T>(a[i], static_cast<const T*>(x)[i]);
    }
  }
  static void store(const void* accumulators, void* y, int64_t count, int64_t terms,
                    Finish finish) {
    const Accumulator* a = static_cast<const Accumulator*>(accumulators);
    for (int64_t i = 0; i < count; ++i) {
      static_cast<T*>(y)[i] = Op::template result<T>(a[i], terms, finish);
    }
  }
  static constexpr Folding kTable = {sizeof(T), &start, &fold_row, &fold_columns, &store};
};

}  // namespace ephost_cpu
