// CumSum: running sums along an axis.
#include <type_traits>

#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

class CumSum final : public Kernel {
 public:
  explicit CumSum(const NodeContext& context)
      : Kernel(context),
        exclusive_(context.node().get_int("exclusive", 0) != 0),
        reverse_(context.node().get_int("reverse", 0) != 0) {
    allow_inplace(0);
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
      case EPH_FLOAT:
        return add_up<float>(x, y, shape, axis);
      case EPH_DOUBLE:
        return add_up<double>(x, y, shape, axis);
      case EPH_INT32:
      case EPH_UINT32:
        return add_up<uint32_t>(x, y, shape, axis);
      default:
        return add_up<uint64_t>(x, y, shape, axis);
    }
  }

 private:
  template <class T>
  void add_up(const eph_value& x, const eph_value& y, const Dims& shape, std::size_t axis) const {
    const int64_t extent = shape[axis];
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    const int64_t lines = element_count(shape, 0, axis) * inner;
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t first = line / inner * extent * inner + line % inner;
      T sum = 0;
      for (int64_t i = 0; i < extent; ++i) {
        const int64_t at = first + (reverse_ ? extent - 1 - i : i) * inner;
        const T before = sum;
        sum += data<const T>(x)[at];
        data<T>(y)[at] = exclusive_ ? before : sum;
      }
    }
  }

  bool exclusive_, reverse_;
};

constexpr KernelEntry kEntries[] = {
    {"CumSum",
     11,
     kNewest,
     {.required = 2},
     kInputTypes<kFloat | kWideInts, kIndices>,
     &make<CumSum>},
};

}  // namespace

Table cumsum_kernels() { return kEntries; }

}  // namespace cpu
