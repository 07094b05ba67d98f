// Shrink: numbers near zero become zero, the others move towards it.
#include <type_traits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

struct Shrink {
  static constexpr double kCost = 0.5;
  explicit Shrink(const NodeContext& context)
      : bias(context.node().get_float("bias", 0)),
        lambda(context.node().get_float("lambd", 0.5F)) {}

  template <class T>
  CPU_INLINE T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T moved = x < T{0} ? x + static_cast<T>(bias) : x - static_cast<T>(bias);
      const T limit = static_cast<T>(lambda);
      return x < -limit || x > limit ? moved : T{0};
    } else {
      const auto wide = static_cast<double>(x);
      const auto limit = static_cast<double>(lambda);
      if (!(wide < -limit || wide > limit)) return 0;
      if (bias == 0) return x;  // double would round a large number
      const double moved =
          wide < -limit ? wide + static_cast<double>(bias) : wide - static_cast<double>(bias);
      return saturate<T>(moved);
    }
  }

  float bias, lambda;
};

constexpr KernelEntry kShrinkKernels[] = {
    {"Shrink",
     9,
     kNewest,
     {},
     kInputTypes<kNumbers>,
     &make<UnaryKernel<Shrink, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                       uint32_t, uint64_t>>},
};

}  // namespace

Table shrink_kernels() { return kShrinkKernels; }

}  // namespace ephost_cpu
