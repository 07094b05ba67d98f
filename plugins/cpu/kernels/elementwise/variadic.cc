// Min, Max, Sum and Mean over any number of inputs with broadcasting.
#include <type_traits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"

namespace ephost_cpu {
namespace {

// NaN wins, as in numpy.
struct Max {
  static constexpr double kCost = 0.25;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

struct Min {
  static constexpr double kCost = 0.25;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

template <class T>
struct Divide {
  static constexpr double kCost = 0.25;
  T divisor;
  CPU_INLINE T operator()(T x) const { return x / divisor; }
};

// Folds the inputs into the output from left to right; with kMean divides by their number.
template <class Op, bool kMean, class... Ts>
class Fold final : public Kernel {
 public:
  explicit Fold(const NodeContext& context) : Kernel(context) {
    // Later inputs are read after the output was written.
    allow_inplace_if_equal(context, 0);
    if (context.has_input(1)) allow_inplace_if_equal(context, 1);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& first = *run.input(0);
    Dims shape = dims_of(first);
    for (uint32_t i = 1; i < run.input_count(); ++i) {
      if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
      shape = broadcast_shape(shape, dims_of(*run.input(i)));
    }
    if (run.input_count() == 1) return copy_reshaped(run, first, 0, shape);
    const eph_value& y = allocate_output(run, 0, first.element_type, shape);
    dispatch<Ts...>(first.element_type,
                    [&](auto tag) { fold<typename decltype(tag)::type>(run, y, shape); });
  }

 private:
  template <class T>
  void fold(const eph::Run& run, const eph_value& y, const Dims& shape) const {
    const void* left = run.input(0)->data;
    Dims left_shape = dims_of(*run.input(0));
    for (uint32_t i = 1; i < run.input_count(); ++i) {
      const eph_value& right = *run.input(i);
      broadcast_binary<T, T, T>(Op{}, left, left_shape, right.data, dims_of(right), y.data, shape);
      left = y.data;
      left_shape = shape;
    }
    if constexpr (kMean) {
      const Divide<T> divide = {static_cast<T>(run.input_count())};
      map_elements<T, T>(divide, y.data, y.data, element_count(shape));
    }
  }
};

template <class Op, bool kMean = false>
constexpr Factory kFloatFold = &make<Fold<Op, kMean, float, double>>;
template <class Op>
constexpr Factory kNumberFold = &make<Fold<Op, false, float, double, int8_t, int16_t, int32_t,
                                           int64_t, uint8_t, uint16_t, uint32_t, uint64_t>>;

constexpr KernelEntry kVariadicKernels[] = {
    {"Sum", 6, kNewest, kAllAlike, kVariadicTypes<kFloat>, kFloatFold<PlainSum>},
    {"Mean", 6, kNewest, kAllAlike, kVariadicTypes<kFloat>, kFloatFold<PlainSum, true>},
    {"Max", 6, kNewest, kAllAlike, kVariadicTypes<kNumbers>, kNumberFold<Max>},
    {"Min", 6, kNewest, kAllAlike, kVariadicTypes<kNumbers>, kNumberFold<Min>},
};

}  // namespace

Table variadic_kernels() { return kVariadicKernels; }

}  // namespace ephost_cpu
