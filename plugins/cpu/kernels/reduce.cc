// Reductions: ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp and SumSquare.
//
// The dimensions are split into kept and reduced ones, each kind joined where neighbours allow it.
// Where the innermost dimension is reduced, rows are folded to a number; where it is kept, whole
// rows are folded into a row of accumulators, kColumns at a time.
#include <algorithm>

#include "plugins/cpu/kernels/reduce_fold.h"
#include "plugins/cpu/odometer.h"
#include "plugins/cpu/parallel.h"
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

constexpr int64_t kColumns = 128;

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
