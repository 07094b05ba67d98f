// CumSum: running sums along an axis.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"

namespace ephost_cpu {
namespace {

template <class T>
CPU_SIMD void add_elements(const T* a, const T* b, T* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
}

class CumSum final : public Kernel {
 public:
  explicit CumSum(const NodeContext& context)
      : Kernel(context),
        exclusive_(context.node().get_int("exclusive", 0) != 0),
        reverse_(context.node().get_int("reverse", 0) != 0) {
    if (!exclusive_) allow_inplace(0);  // else a row of x is needed after its place is written
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(read_int(*run.input(1)), shape.size());
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;
    // Unsigned sums wrap around as signed ones would.
    switch (x.element_type) {
      case EPH_ELEMENT_FLOAT:
        return add_up<float>(x, y, shape, axis);
      case EPH_ELEMENT_DOUBLE:
        return add_up<double>(x, y, shape, axis);
      case EPH_ELEMENT_INT32:
      case EPH_ELEMENT_UINT32:
        return add_up<uint32_t>(x, y, shape, axis);
      default:
        return add_up<uint64_t>(x, y, shape, axis);
    }
  }

 private:
  template <class T>
  void add_up(const eph_value& x, const eph_value& y, const Dims& shape, std::size_t axis) const {
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    const int64_t block = shape[axis] * inner;
    for (int64_t at = 0; at < element_count(shape); at += block) {
      if (inner == 1) {
        add_line(data<const T>(x) + at, data<T>(y) + at, block);
      } else {
        add_rows(data<const T>(x) + at, data<T>(y) + at, block, inner);
      }
    }
  }

  template <class T>
  void add_line(const T* x, T* y, int64_t count) const {
    T sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = reverse_ ? count - 1 - k : k;
      const T before = sum;
      sum += x[i];
      y[i] = exclusive_ ? before : sum;
    }
  }

  // Works row by row: each is the sum of the one before it and a row of x.
  template <class T>
  void add_rows(const T* x, T* y, int64_t count, int64_t row) const {
    const int64_t step = reverse_ ? -row : row;
    const int64_t first = reverse_ ? count - row : 0;
    if (exclusive_) {
      std::fill_n(y + first, row, T{0});
    } else {
      std::copy_n(x + first, row, y + first);
    }
    for (int64_t k = row, at = first + step; k < count; k += row, at += step) {
      const T* added = exclusive_ ? x + at - step : x + at;
      add_elements(y + at - step, added, y + at, row);
    }
  }

  bool exclusive_, reverse_;
};

constexpr KernelEntry kCumsumKernels[] = {
    {"CumSum", 11, kNewest, kTwoInputs, kInputTypes<kWideNumbers, kIndices>, &make<CumSum>},
};

}  // namespace

Table cumsum_kernels() { return kCumsumKernels; }

}  // namespace ephost_cpu
