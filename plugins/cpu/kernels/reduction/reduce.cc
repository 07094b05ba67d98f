// Reductions: ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp and SumSquare.
//
// The dimensions are split into kept and reduced ones, each kind joined where neighbours allow it.
// Where the innermost dimension is reduced, rows are folded to a number; where it is kept, whole
// rows are folded into a row of accumulators, kFoldedColumns at a time.
#include <algorithm>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/reduction/reduce_fold.h"
#include "plugins/cpu/kernels/reduction/reduced_axes.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kFoldedColumns = 128;

void reduce_rows(const ReducedAxes& split, const Folding& folding, Finish finish, const char* x,
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

void reduce_columns(const ReducedAxes& split, const Folding& folding, Finish finish, const char* x,
                    char* y) {
  Dims outer = split.kept;
  Dims outer_strides = split.kept_strides;
  const int64_t row = take_unit_dimension(outer, outer_strides);
  const int64_t tiles = (row + kFoldedColumns - 1) / kFoldedColumns;
  const double cost = static_cast<double>(split.terms) * kFoldedColumns;
  parallel_for(element_count(outer) * tiles, cost, [&](int64_t begin, int64_t end) {
    alignas(64) std::array<char, kAccumulatorBytes * kFoldedColumns> accumulators;
    Odometer<1> result(outer, {outer_strides});
    Odometer<1> at(split.reduced, {split.reduced_strides});
    for (int64_t i = begin; i < end; ++i) {
      result.seek(i / tiles);
      const int64_t first = i % tiles * kFoldedColumns;
      const int64_t columns = std::min(kFoldedColumns, row - first);
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

void reduce(const ReducedAxes& split, const Folding& folding, Finish finish, const eph_value& x,
            const eph_value& y) {
  if (split.results == 0) return;
  if (split.terms == 0) {
    if (finish == Finish::kMean && (kFloat & eph::type_bit(x.element_type)) == 0) {
      fail("the mean of no integers is undefined");
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

// Axes are an attribute in older versions and an input in newer ones.
template <class Op, class... Ts>
class Reduction final : public Kernel {
 public:
  Reduction(const NodeContext& context, Finish finish)
      : Kernel(context),
        finish_(finish),
        keep_(context.node().get_int("keepdims", 1) == 1),
        none_means_none_(context.node().get_int("noop_with_empty_axes", 0) != 0),
        axes_(context.node().get_ints("axes")),
        axes_are_input_(context.version() >= (context.node().op_type() == "ReduceSum" ? 13 : 18)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims axes = !axes_are_input_          ? axes_
                      : run.input(1) != nullptr ? read_ints(*run.input(1))
                                                : Dims();
    std::array<bool, kMaxRank> reduced = {};
    if (axes.empty()) reduced.fill(!none_means_none_);
    for (const int64_t axis : axes) reduced[normalize_axis(axis, shape.size())] = true;
    Dims out;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!reduced[d]) out.push_back(shape[d]);
      if (reduced[d] && keep_) out.push_back(1);
    }
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    const ReducedAxes split(shape, reduced);
    const bool is_bool = x.element_type == EPH_ELEMENT_BOOL;
    dispatch<Ts...>(is_bool ? int32_t{EPH_ELEMENT_UINT8} : x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      reduce(split, FoldingOf<Op, T>::kTable, finish_, x, y);
    });
    if (!is_bool) return;
    auto* bytes = data<uint8_t>(y);
    for (int64_t i = 0; i < split.results; ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
  }

 private:
  Finish finish_;
  bool keep_, none_means_none_;
  Dims axes_;
  bool axes_are_input_;
};

template <class Op, Finish finish = Finish::kNothing>
std::unique_ptr<Kernel> make_wide(const NodeContext& context) {
  using K = Reduction<Op, float, double, int32_t, int64_t, uint32_t, uint64_t>;
  return std::make_unique<K>(context, finish);
}

template <bool kMaximum>
std::unique_ptr<Kernel> make_reduced_extreme(const NodeContext& context) {
  using K = Reduction<Extreme<kMaximum>, float, double, int32_t, int64_t, uint32_t, uint64_t,
                      int8_t, uint8_t>;
  return std::make_unique<K>(context, Finish::kNothing);
}

constexpr auto& kOfWide = kInputTypes<kWideNumbers, kInt64>;
constexpr auto& kUpToBytes = kInputTypes<kWideNumbers | kBytes, kInt64>;
constexpr auto& kUpToBools = kInputTypes<kWideNumbers | kBytes | kBool, kInt64>;

constexpr KernelEntry kReduceKernels[] = {
    {"ReduceSum", 1, kNewest, {}, kOfWide, &make_wide<Sum>},
    {"ReduceMean", 1, kNewest, {}, kOfWide, &make_wide<Sum, Finish::kMean>},
    {"ReduceMax", 1, 19, {}, kUpToBytes, &make_reduced_extreme<true>},
    {"ReduceMax", 20, kNewest, {}, kUpToBools, &make_reduced_extreme<true>},
    {"ReduceMin", 1, 19, {}, kUpToBytes, &make_reduced_extreme<false>},
    {"ReduceMin", 20, kNewest, {}, kUpToBools, &make_reduced_extreme<false>},
    {"ReduceProd", 1, kNewest, {}, kOfWide, &make_wide<Prod>},
    {"ReduceL1", 1, kNewest, {}, kOfWide, &make_wide<SumMagnitude>},
    {"ReduceL2", 1, kNewest, {}, kOfWide, &make_wide<SumSquare, Finish::kRoot>},
    {"ReduceLogSum", 1, kNewest, {}, kOfWide, &make_wide<Sum, Finish::kLog>},
    {"ReduceLogSumExp", 1, kNewest, {}, kOfWide, &make_wide<LogSumExp>},
    {"ReduceSumSquare", 1, kNewest, {}, kOfWide, &make_wide<SumSquare>},
};

}  // namespace

Table reduce_kernels() { return kReduceKernels; }

}  // namespace ephost_cpu
