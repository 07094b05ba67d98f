// MaxPool, AveragePool and LpPool, the p-norm of each window.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/windows/lp_norm.h"
#include "plugins/cpu/kernels/windows/pooling.h"

namespace ephost_cpu {
namespace {

struct Greater {
  template <class V>
  CPU_INLINE void operator()(V& best, const V& x) const {
    const V larger = x > best ? x : best;
    best = x != x ? x : larger;
  }
};

struct Plus {
  template <class V>
  CPU_INLINE void operator()(V& sum, const V& x) const {
    sum += x;
  }
};

struct PlusMagnitude {
  template <class T>
  CPU_INLINE void operator()(T& sum, T x) const {
    sum += x < T{0} ? -x : x;
  }
};

struct PlusSquare {
  template <class T>
  CPU_INLINE void operator()(T& sum, T x) const {
    sum += x * x;
  }
};

struct PlusPower {
  template <class T>
  void operator()(T& sum, T x) const {
    sum += std::pow(std::fabs(x), static_cast<T>(p));
  }
  double p;
};

CPU_SIMD void divide_simd(float* row, float divisor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] /= divisor;
}
void divide_row(float* row, float divisor, int64_t count) { divide_simd(row, divisor, count); }
void divide_row(double* row, double divisor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] /= divisor;
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
    const PoolPlan plan = make_pool_plan(attributes_, shape);
    const Dims out = pooled_shape(plan, shape);
    int64_t* indices = nullptr;
    if (run.output(1) != nullptr) {
      indices = data<int64_t>(allocate_output(run, 1, EPH_ELEMENT_INT64, out));
    }
    void* y = nullptr;
    if (run.output(0) != nullptr || indices == nullptr) {
      y = allocate_output(run, 0, x.element_type, out).data;
    }
    if (element_count(out) == 0) return;
    dispatch<float, double, int8_t, uint8_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      pool(plan, data<const T>(x), static_cast<T*>(y), indices);
    });
  }

 private:
  // y or indices may be null.
  template <class T>
  void pool(const PoolPlan& plan, const T* x, T* y, int64_t* indices) const {
    if (indices != nullptr) return find_indices(plan, x, y, indices);
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    pool_planes(Greater{}, Greater{}, plan, lowest, x, y, [](T*, const Odometer<1>&, int64_t) {});
  }

  // The straightforward implementation, element by element.
  template <class T>
  void find_indices(const PoolPlan& plan, const T* x, T* y, int64_t* indices) const {
    const std::size_t rank = plan.input.size();
    const Dims row_major = dense_strides(plan.input);
    Dims column_major(rank, 1);
    for (std::size_t d = 1; d < rank; ++d) {
      column_major[d] = column_major[d - 1] * plan.input[d - 1];
    }
    const Dims& numbering = column_major_ ? column_major : row_major;
    const double cost = 4.0 * static_cast<double>(element_count(plan.window.kernel)) *
                        static_cast<double>(plan.out_plane);
    parallel_for(plan.planes, cost, [&](int64_t begin, int64_t end) {
      Odometer<1> at(plan.window.output, {Dims(rank, 0)});
      Odometer<1> tap(plan.window.kernel, {Dims(rank, 0)});
      for (int64_t i = begin * plan.out_plane; i < end * plan.out_plane; ++i, at.next()) {
        const int64_t plane = i / plan.out_plane * plan.in_plane;
        const Found found = find_maximum(plan, at, tap, row_major, numbering, x + plane);
        indices[i] = found.offset < 0 ? -1 : plane + found.number;
        if (y == nullptr) continue;
        y[i] = found.offset < 0 ? std::numeric_limits<T>::lowest() : x[plane + found.offset];
      }
    });
  }

  struct Found {
    int64_t offset = -1, number = 0;
  };

  // The first maximum of the window at `at`, or a NaN in it.
  template <class T>
  static Found find_maximum(const PoolPlan& plan, const Odometer<1>& at, Odometer<1>& tap,
                            const Dims& row_major, const Dims& numbering, const T* x) {
    const int64_t taps = element_count(plan.window.kernel);
    Found best;
    for (int64_t t = 0; t < taps; ++t, tap.next()) {
      Found candidate = {0, 0};
      bool inside = true;
      for (std::size_t d = 0; inside && d < plan.input.size(); ++d) {
        const int64_t index = at.index(d) * plan.window.strides[d] - plan.window.pads_begin[d] +
                              tap.index(d) * plan.window.dilations[d];
        inside = index >= 0 && index < plan.input[d];
        candidate.offset += index * row_major[d];
        candidate.number += index * numbering[d];
      }
      if (!inside) continue;
      const T value = x[candidate.offset];
      const bool wins = best.offset < 0 || value > x[best.offset] ||
                        (value != value && x[best.offset] == x[best.offset]);
      if (wins) best = candidate;
    }
    return best;
  }

  WindowAttributes attributes_;
  bool column_major_;
};

// A pooling of float or double: calls pool(plan, x, y) unless there is nothing to compute.
template <class Pool>
void pool_floats(eph::Run& run, const WindowAttributes& attributes, const Pool& pool) {
  const eph_value& x = *run.input(0);
  const Dims shape = dims_of(x);
  const PoolPlan plan = make_pool_plan(attributes, shape);
  const Dims pooled = pooled_shape(plan, shape);
  const eph_value& y = allocate_output(run, 0, x.element_type, pooled);
  if (element_count(eph::shape_of(y)) == 0) return;
  dispatch<float, double>(x.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    pool(plan, data<const T>(x), data<T>(y));
  });
}

class AveragePool final : public Kernel {
 public:
  explicit AveragePool(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        counts_pads_(context.node().get_int("count_include_pad", 0) != 0) {
    if (context.version() < 19 && context.node().attribute("dilations") != nullptr) {
      fail_unsupported("attribute 'dilations' does not exist in this version");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    pool_floats(run, attributes_, [this]<class T>(const PoolPlan& plan, const T* x, T* y) {
      const Inside inside = find_inside(plan);
      pool_planes(Plus{}, Plus{}, plan, T{0}, x, y,
                  [&](T* row, const Odometer<1>& at, int64_t covered) {
                    divide(plan, inside, at, covered, row);
                  });
    });
  }

 private:
  // Positions of the window in dimension d, starting at output `at`, that count: those inside the
  // input, or inside the padded input.
  [[nodiscard]] int64_t counted(const PoolPlan& plan, std::size_t d, int64_t at) const {
    const int64_t start = at * plan.window.strides[d] - plan.window.pads_begin[d];
    const int64_t dilation = plan.window.dilations[d];
    const int64_t end = plan.input[d] + (counts_pads_ ? plan.window.pads_end[d] : 0);
    const int64_t first = counts_pads_ || start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int64_t last = end > start ? (end - 1 - start) / dilation + 1 : 0;
    return std::max<int64_t>(0, std::min(plan.window.kernel[d], last) - first);
  }

  // The part of a row of the output where all positions in the last dimension count.
  struct Inside {
    int64_t begin, end;
  };
  [[nodiscard]] Inside find_inside(const PoolPlan& plan) const {
    const std::size_t last = plan.input.size() - 1;
    const auto is_inside = [&](int64_t i) {
      return counted(plan, last, i) == plan.window.kernel[last];
    };
    Inside inside = {0, plan.out_row};
    while (inside.begin < inside.end && !is_inside(inside.begin)) ++inside.begin;
    while (inside.begin < inside.end && !is_inside(inside.end - 1)) --inside.end;
    return inside;
  }

  template <class T>
  void divide(const PoolPlan& plan, Inside inside, const Odometer<1>& at, int64_t covered,
              T* row) const {
    const std::size_t last = plan.input.size() - 1;
    int64_t rows = counts_pads_ ? 1 : covered;
    for (std::size_t d = 0; counts_pads_ && d < last; ++d) rows *= counted(plan, d, at.index(d));
    const auto divisor = [&](int64_t count) {
      return static_cast<T>(std::max<int64_t>(1, rows * count));
    };
    for (int64_t i = 0; i < inside.begin; ++i) row[i] /= divisor(counted(plan, last, i));
    divide_row(row + inside.begin, divisor(plan.window.kernel[last]), inside.end - inside.begin);
    for (int64_t i = inside.end; i < plan.out_row; ++i) row[i] /= divisor(counted(plan, last, i));
  }

  WindowAttributes attributes_;
  bool counts_pads_;
};

class LpPool final : public Kernel {
 public:
  explicit LpPool(const NodeContext& context)
      : Kernel(context), attributes_(context.node()), p_(read_norm(context.node())) {
    if (attributes_.kernel_shape().empty()) fail("attribute 'kernel_shape' is missing");
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    pool_floats(run, attributes_,
                [this](const PoolPlan& plan, const auto* x, auto* y) { pool(plan, x, y); });
  }

 private:
  template <class T>
  void pool(const PoolPlan& plan, const T* x, T* y) const {
    const auto keep = [](T*, const Odometer<1>&, int64_t) {};
    const auto root = [&plan](T* row, const Odometer<1>&, int64_t) {
      for (int64_t i = 0; i < plan.out_row; ++i) row[i] = std::sqrt(row[i]);
    };
    const auto inverse_power = [&plan, this](T* row, const Odometer<1>&, int64_t) {
      for (int64_t i = 0; i < plan.out_row; ++i) {
        row[i] = std::pow(row[i], static_cast<T>(1 / p_));
      }
    };
    if (p_ == 1) return pool_planes(PlusMagnitude{}, Plus{}, plan, T{0}, x, y, keep);
    if (p_ == 2) return pool_planes(PlusSquare{}, Plus{}, plan, T{0}, x, y, root);
    pool_planes(PlusPower{p_}, Plus{}, plan, T{0}, x, y, inverse_power);
  }

  WindowAttributes attributes_;
  double p_;
};

constexpr auto& kMaxTypes = kInputTypes<kFloat | kBytes>;

constexpr KernelEntry kPoolKernels[] = {
    {"MaxPool", 1, 11, {}, kInputTypes<kFloat>, &make<MaxPool>},
    {"MaxPool", 12, kNewest, {}, kMaxTypes, &make<MaxPool>},
    {"AveragePool", 1, kNewest, {}, kInputTypes<kFloat>, &make<AveragePool>},
    {"LpPool", 1, kNewest, {}, kInputTypes<kFloat>, &make<LpPool>},
};

}  // namespace

Table pool_kernels() { return kPoolKernels; }

}  // namespace ephost_cpu
