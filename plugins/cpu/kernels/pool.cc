// MaxPool, AveragePool, GlobalMaxPool and GlobalAveragePool.
//
// A plane is one channel of one image. A row of the output is made from whole rows of the input:
// for each position in the window a strided row is folded into the output's row, which is a vector
// loop.
#include <algorithm>
#include <limits>

#include "plugins/cpu/odometer.h"
#include "plugins/cpu/parallel.h"
#include "plugins/cpu/registry.h"
#include "plugins/cpu/row_math.h"
#include "plugins/cpu/simd.h"
#include "plugins/cpu/window.h"

namespace cpu {
namespace {

struct Greater {
  template <class T>
  CPU_INLINE T operator()(T best, T x) const {
    return x > best || x != x ? x : best;
  }
};

struct Plus {
  template <class T>
  CPU_INLINE T operator()(T sum, T x) const {
    return sum + x;
  }
};

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

// A pooling of planes, in terms of the input's rows (its last dimension).
struct Plan {
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

Plan make_plan(const WindowAttributes& attributes, const Dims& shape) {
  if (shape.size() < 3) fail("the input " + to_string(shape) + " has no spatial dimensions");
  Plan plan;
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

Dims output_shape(const Plan& plan, const Dims& shape) {
  Dims out = {shape[0], shape[1]};
  for (const int64_t extent : plan.window.output) out.push_back(extent);
  return out;
}

// Calls row(offset of an input row in its plane) for the rows that the window covers when its outer
// position is `at`; their number.
template <class Row>
int64_t for_each_covered_row(const Plan& plan, const Odometer<1>& at, Odometer<1>& tap,
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
void fold_taps(Op op, const Plan& plan, const T* x, T* y) {
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

// Folds whole planes; finish(row of the output, its outer position, covered rows) ends each row.
template <class Op, class T, class Finish>
void pool_planes(Op op, const Plan& plan, T start, const T* x, T* y, const Finish& finish) {
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
        const int64_t covered = for_each_covered_row(plan, at, tap, [&](int64_t offset) {
          fold_taps(op, plan, x + p * plan.in_plane + offset, out);
        });
        finish(out, at, covered);
      }
    }
  });
}

class MaxPool final : public Kernel {
 public:
  explicit MaxPool(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        column_major_(context.node().get_int("storage_order", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Plan plan = make_plan(attributes_, shape);
    const Dims out = output_shape(plan, shape);
    const bool wants_indices = run.output(1) != nullptr;
    if (run.output(0) != nullptr) allocate_output(run, 0, x.element_type, out);
    if (wants_indices) allocate_output(run, 1, EPH_INT64, out);
    if (element_count(out) == 0) return;
    dispatch<float, double, int8_t, uint8_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = run.output(0) != nullptr ? data<T>(*run.output(0)) : nullptr;
      if (wants_indices) {
        find_indices(plan, data<const T>(x), y, data<int64_t>(*run.output(1)));
        return;
      }
      using Limits = std::numeric_limits<T>;
      const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      pool_planes(Greater{}, plan, lowest, data<const T>(x), y,
                  [](T*, const Odometer<1>&, int64_t) {});
    });
  }

 private:
  // The straightforward way, element by element. y may be null.
  template <class T>
  void find_indices(const Plan& plan, const T* x, T* y, int64_t* indices) const {
    const std::size_t rank = plan.input.size();
    const Dims row_major = dense_strides(plan.input);
    Dims column_major(rank, 1);
    for (std::size_t d = 1; d < rank; ++d) {
      column_major[d] = column_major[d - 1] * plan.input[d - 1];
    }
    const Dims& numbering = column_major_ ? column_major : row_major;
    const int64_t taps = element_count(plan.window.kernel);
    Odometer<1> at(plan.window.output, {Dims(rank, 0)});
    Odometer<1> tap(plan.window.kernel, {Dims(rank, 0)});
    for (int64_t i = 0; i < plan.planes * plan.out_plane; ++i, at.next()) {
      const int64_t plane = i / plan.out_plane * plan.in_plane;
      int64_t best = -1;
      int64_t number = 0;
      for (int64_t t = 0; t < taps; ++t, tap.next()) {
        int64_t offset = 0;
        int64_t candidate = 0;
        bool inside = true;
        for (std::size_t d = 0; inside && d < rank; ++d) {
          const int64_t index = at.index(d) * plan.window.strides[d] - plan.window.pads_begin[d] +
                                tap.index(d) * plan.window.dilations[d];
          inside = index >= 0 && index < plan.input[d];
          offset += index * row_major[d];
          candidate += index * numbering[d];
        }
        if (!inside || (best >= 0 && !(x[plane + offset] > x[plane + best]))) continue;
        best = offset;
        number = candidate;
      }
      indices[i] = best < 0 ? -1 : plane + number;
      if (y != nullptr) y[i] = best < 0 ? std::numeric_limits<T>::lowest() : x[plane + best];
    }
  }

  WindowAttributes attributes_;
  bool column_major_;
};

class AveragePool final : public Kernel {
 public:
  explicit AveragePool(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        counts_pads_(context.node().get_int("count_include_pad", 0) != 0) {
    if (context.node().attribute("dilations") != nullptr) {
      fail_unsupported("attribute 'dilations' does not exist in this version");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Plan plan = make_plan(attributes_, shape);
    const Dims out = output_shape(plan, shape);
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      pool_planes(
          Plus{}, plan, T{0}, data<const T>(x), data<T>(y),
          [&](T* row, const Odometer<1>& at, int64_t covered) { divide(plan, at, covered, row); });
    });
  }

 private:
  // Positions of the window in dimension d, starting at output `at`, that count: those inside of
  // the input, or of the padded input.
  [[nodiscard]] int64_t counted(const Plan& plan, std::size_t d, int64_t at) const {
    const int64_t start = at * plan.window.strides[d] - plan.window.pads_begin[d];
    const int64_t end = start + plan.window.kernel[d];
    if (counts_pads_) return std::min(end, plan.input[d] + plan.window.pads_end[d]) - start;
    return std::min(end, plan.input[d]) - std::max<int64_t>(start, 0);
  }

  template <class T>
  void divide(const Plan& plan, const Odometer<1>& at, int64_t covered, T* row) const {
    const std::size_t last = plan.input.size() - 1;
    int64_t rows = counts_pads_ ? 1 : covered;
    for (std::size_t d = 0; counts_pads_ && d < last; ++d) rows *= counted(plan, d, at.index(d));
    for (int64_t i = 0; i < plan.out_row; ++i) {
      row[i] /= static_cast<T>(std::max<int64_t>(1, rows * counted(plan, last, i)));
    }
  }

  WindowAttributes attributes_;
  bool counts_pads_;
};

// Folds all spatial dimensions into one element.
template <bool kMaximum>
class GlobalPool final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    const int64_t planes = element_count(shape, 0, 2);
    const int64_t extent = element_count(shape, 2, shape.size());
    Dims out = {shape[0], shape[1]};
    for (std::size_t d = 2; d < shape.size(); ++d) out.push_back(1);
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    if (planes > 0 && extent == 0) fail("there is nothing to pool in " + to_string(shape));
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = data<const T>(x);
      T* to = data<T>(y);
      parallel_for(planes, 0.2 * static_cast<double>(extent), [=](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const T* plane = from + p * extent;
          to[p] = kMaximum ? row_max(plane, extent)
                           : static_cast<T>(row_sum(plane, extent) / static_cast<double>(extent));
        }
      });
    });
  }
};

constexpr auto& kFloats = kInputTypes<kFloat>;
constexpr auto& kMaxTypes = kInputTypes<kFloat | kTypeSet<EPH_INT8, EPH_UINT8>>;

constexpr KernelEntry kEntries[] = {
    {"MaxPool", 1, 11, {}, kFloats, &make<MaxPool>},
    {"MaxPool", 12, 12, {}, kMaxTypes, &make<MaxPool>},
    {"AveragePool", 1, 11, {}, kFloats, &make<AveragePool>},
    {"GlobalMaxPool", 1, 1, {}, kFloats, &make<GlobalPool<true>>},
    {"GlobalAveragePool", 1, 1, {}, kFloats, &make<GlobalPool<false>>},
};

}  // namespace

Table pool_kernels() { return kEntries; }

}  // namespace cpu
