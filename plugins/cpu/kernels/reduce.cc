// Reductions: ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp and SumSquare.
//
// The dimensions are split into kept and reduced ones, each kind joined where neighbours allow it.
// Where the innermost dimension is reduced, rows are folded to a number; where it is kept, whole
// rows are folded into a row of accumulators, kColumns at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "plugins/cpu/convert.h"
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/parallel.h"
#include "plugins/cpu/registry.h"
#include "plugins/cpu/row_math.h"

namespace cpu {
namespace {

constexpr int64_t kColumns = 128;

// What is summed up: double for floating-point numbers, whose float sums would lose digits, and 64
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

// What is done with a sum in the end.
enum class Finish { kNothing, kMean, kLog, kRoot };

template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  T number = 0;
  convert(&value, EPH_DOUBLE, &number, eph::element_type_of<T>(), 1);
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

// The two index spaces, with strides into the input.
struct Split {
  Dims kept, kept_strides;
  Dims reduced, reduced_strides;
  int64_t results = 1;  // elements of the output
  int64_t terms = 1;    // elements that go into one of them
};

Split split_dimensions(const Dims& shape, const std::array<bool, kMaxRank>& reduced) {
  const Dims strides = dense_strides(shape);
  Split split;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (reduced[d] ? split.reduced : split.kept).push_back(shape[d]);
    (reduced[d] ? split.reduced_strides : split.kept_strides).push_back(strides[d]);
  }
  split.results = element_count(split.kept);
  split.terms = element_count(split.reduced);
  if (split.results == 0 || split.terms == 0) return split;
  std::array<Dims, 1> merged = {split.kept_strides};
  merge_dimensions(split.kept, merged);
  split.kept_strides = merged[0];
  merged = {split.reduced_strides};
  merge_dimensions(split.reduced, merged);
  split.reduced_strides = merged[0];
  return split;
}

// Takes the last dimension off if it steps by one element; its extent, or 1.
int64_t take_unit_dimension(Dims& extents, Dims& strides) {
  if (extents.empty() || strides.back() != 1) return 1;
  const int64_t extent = extents.back();
  extents.pop_back();
  strides.pop_back();
  return extent;
}

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

void reduce_rows(const Split& split, const Folding& folding, Finish finish, const char* x,
                 char* y) {
  Dims outer = split.reduced;
  Dims outer_strides = split.reduced_strides;
  const int64_t row = take_unit_dimension(outer, outer_strides);
  const int64_t rows = element_count(outer);
  const double cost = 0.5 * static_cast<double>(split.terms);
  parallel_for(split.results, cost, [&](int64_t begin, int64_t end) {
    alignas(16) std::array<char, kAccumulatorBytes> accumulator;
    Odometer<1> result(split.kept, {split.kept_strides});
    Odometer<1> at(outer, {outer_strides});
    result.seek(begin);
    for (int64_t i = begin; i < end; ++i, result.next()) {
      folding.start(accumulator.data(), 1);
      for (int64_t r = 0; r < rows; ++r, at.next()) {
        const int64_t from = result.offset(0) + at.offset(0);
        folding.fold_row(accumulator.data(), x + from * folding.element_size, row);
      }
      folding.store(accumulator.data(), y + i * folding.element_size, 1, split.terms, finish);
    }
  });
}

void reduce_columns(const Split& split, const Folding& folding, Finish finish, const char* x,
                    char* y) {
  Dims outer = split.kept;
  Dims outer_strides = split.kept_strides;
  const int64_t row = take_unit_dimension(outer, outer_strides);
  const int64_t tiles = (row + kColumns - 1) / kColumns;
  const double cost = static_cast<double>(split.terms) * kColumns;
  parallel_for(element_count(outer) * tiles, cost, [&](int64_t begin, int64_t end) {
    alignas(64) std::array<char, kAccumulatorBytes * kColumns> accumulators;
    Odometer<1> result(outer, {outer_strides});
    Odometer<1> at(split.reduced, {split.reduced_strides});
    for (int64_t i = begin; i < end; ++i) {
      result.seek(i / tiles);
      const int64_t first = i % tiles * kColumns;
      const int64_t columns = std::min(kColumns, row - first);
      folding.start(accumulators.data(), columns);
      for (int64_t r = 0; r < split.terms; ++r, at.next()) {
        const int64_t from = result.offset(0) + first + at.offset(0);
        folding.fold_columns(accumulators.data(), x + from * folding.element_size, columns);
      }
      char* to = y + (i / tiles * row + first) * folding.element_size;
      folding.store(accumulators.data(), to, columns, split.terms, finish);
    }
  });
}

void reduce(const Split& split, const Folding& folding, Finish finish, const eph_value& x,
            const eph_value& y) {
  if (split.results == 0) return;
  if (split.terms == 0) {
    if (finish == Finish::kMean && (kFloat & eph::type_bit(x.element_type)) == 0) {
      fail("there is no mean of no integers");
    }
    alignas(16) std::array<char, kAccumulatorBytes> empty;
    folding.start(empty.data(), 1);
    for (int64_t i = 0; i < split.results; ++i) {
      folding.store(empty.data(), data<char>(y) + i * folding.element_size, 1, 0, finish);
    }
  } else if (!split.kept_strides.empty() && split.kept_strides.back() == 1) {
    reduce_columns(split, folding, finish, data<char>(x), data<char>(y));
  } else {
    reduce_rows(split, folding, finish, data<char>(x), data<char>(y));
  }
}

// Axes are an attribute, except for ReduceSum from version 13 on, where they are an input.
template <class Op, class... Ts>
class Reduction final : public Kernel {
 public:
  Reduction(const NodeContext& context, Finish finish)
      : Kernel(context),
        finish_(finish),
        keep_(context.node().get_int("keepdims", 1) != 0),
        none_means_noop_(context.node().get_int("noop_with_empty_axes", 0) != 0),
        axes_(context.node().get_ints("axes")),
        axes_are_input_(context.node().op_type() == "ReduceSum" && context.version() >= 13) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims axes = !axes_are_input_          ? axes_
                      : run.input(1) != nullptr ? read_ints(*run.input(1))
                                                : Dims();
    if (axes.empty() && none_means_noop_) return copy_reshaped(run, x, 0, shape);

    std::array<bool, kMaxRank> reduced = {};
    if (axes.empty()) reduced.fill(true);
    for (const int64_t axis : axes) reduced[normalize_axis(axis, shape.size())] = true;
    Dims out;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!reduced[d]) out.push_back(shape[d]);
      if (reduced[d] && keep_) out.push_back(1);
    }
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    const Split split = split_dimensions(shape, reduced);
    dispatch<Ts...>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      reduce(split, FoldingOf<Op, T>::kTable, finish_, x, y);
    });
  }

 private:
  Finish finish_;
  bool keep_, none_means_noop_;
  Dims axes_;
  bool axes_are_input_;
};

template <class Op, Finish finish = Finish::kNothing>
std::unique_ptr<Kernel> make_wide(const NodeContext& context) {
  using K = Reduction<Op, float, double, int32_t, int64_t, uint32_t, uint64_t>;
  return std::make_unique<K>(context, finish);
}

template <bool kMaximum>
std::unique_ptr<Kernel> make_extreme(const NodeContext& context) {
  using K = Reduction<Extreme<kMaximum>, float, double, int32_t, int64_t, uint32_t, uint64_t,
                      int8_t, uint8_t>;
  return std::make_unique<K>(context, Finish::kNothing);
}

constexpr auto& kWide = kInputTypes<kFloat | kWideInts>;
constexpr auto& kWideAndAxes = kInputTypes<kFloat | kWideInts, kInt64>;
constexpr auto& kBytes = kInputTypes<kFloat | kWideInts | kTypeSet<EPH_INT8, EPH_UINT8>>;

constexpr KernelEntry kEntries[] = {
    {"ReduceSum", 1, 11, {}, kWide, &make_wide<Sum>},
    {"ReduceSum", 13, 13, {}, kWideAndAxes, &make_wide<Sum>},
    {"ReduceMean", 1, 13, {}, kWide, &make_wide<Sum, Finish::kMean>},
    {"ReduceMax", 1, 13, {}, kBytes, &make_extreme<true>},
    {"ReduceMin", 1, 13, {}, kBytes, &make_extreme<false>},
    {"ReduceProd", 1, 13, {}, kWide, &make_wide<Prod>},
    {"ReduceL1", 1, 13, {}, kWide, &make_wide<SumMagnitude>},
    {"ReduceL2", 1, 13, {}, kWide, &make_wide<SumSquare, Finish::kRoot>},
    {"ReduceLogSum", 1, 13, {}, kWide, &make_wide<Sum, Finish::kLog>},
    {"ReduceLogSumExp", 1, 13, {}, kWide, &make_wide<LogSumExp>},
    {"ReduceSumSquare", 1, 13, {}, kWide, &make_wide<SumSquare>},
};

}  // namespace

Table reduce_kernels() { return kEntries; }

}  // namespace cpu
