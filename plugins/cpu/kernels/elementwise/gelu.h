// Gelu and its approximation, as operations of elementwise.h.
#pragma once

#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {

struct ExactGelu : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    constexpr T kInverseRootOfTwo = static_cast<T>(0.70710678118654752440);
    return T{0.5} * x * (T{1} + fast_erf(x * kInverseRootOfTwo));
  }
};

struct TanhGelu : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    constexpr T kRootOfTwoOverPi = static_cast<T>(0.79788456080286535588);
    constexpr T kCubic = static_cast<T>(0.044715);
    return T{0.5} * x * (T{1} + fast_tanh(kRootOfTwoOverPi * (x + kCubic * x * x * x)));
  }
};

}  // namespace ephost_cpu
