// Gelu, Mish and Swish: the input times a smooth gate that is a function of the input.
#include "plugins/cpu/kernels/elementwise/gelu.h"

#include <cmath>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

// x * tanh(log(1 + e^x)), where the tangent is n / (n + 2) with n = e^2x + 2e^x.
struct Mish : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T e = fast_exp(x > T{20} ? T{20} : x);  // beyond, the gate is 1
    const T n = e * (e + T{2});
    return x * (n / (n + T{2}));
  }
};

struct Swish {
  static constexpr double kCost = 1;
  explicit Swish(const NodeContext& context) : alpha(context.node().get_float("alpha", 1.0F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x * fast_sigmoid(static_cast<T>(alpha) * x);
  }
  float alpha;
};

std::unique_ptr<Kernel> make_gelu(const NodeContext& context) {
  const std::string_view approximate = context.node().get_string("approximate", "none");
  if (approximate == "none") return kFloatUnary<ExactGelu>(context);
  if (approximate == "tanh") return kFloatUnary<TanhGelu>(context);
  fail("attribute approximate '" + std::string(approximate) + "' is neither none nor tanh");
}

constexpr KernelEntry kGeluKernels[] = {
    {"Gelu", 20, kNewest, {}, kInputTypes<kFloat>, &make_gelu},
    {"Mish", 18, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Mish>},
    {"Swish", 24, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Swish>},
};

}  // namespace

Table gelu_kernels() { return kGeluKernels; }

}  // namespace ephost_cpu
