// Gelu, BiasGelu, FastGelu and QuickGelu.
#include "plugins/cpu/kernels/elementwise/gelu.h"

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// The input times a sigmoid of it.
struct QuickGeluOp {
  static constexpr double kCost = 1;
  explicit QuickGeluOp(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 1.702F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x * fast_sigmoid(static_cast<T>(alpha) * x);
  }
  float alpha;
};

// Op of the sum of the operands.
template <class Op>
struct OfSum {
  static constexpr double kCost = Op::kCost;
  template <class T>
  CPU_INLINE T operator()(T x, T bias) const {
    return Op()(x + bias);
  }
};

// Inputs: X, and a bias for each element of its last dimension, which may be omitted.
template <class Op>
class GeluOfSum final : public Kernel {
 public:
  explicit GeluOfSum(const NodeContext& context) : Kernel(context) { allow_inplace(0); }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const eph_value* bias = run.input(1);
    const Dims shape = dims_of(x);
    if (bias != nullptr) check_bias(shape, dims_of(*bias));
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (bias == nullptr) return map_elements<T, T>(Op(), x.data, y.data, element_count(shape));
      broadcast_binary<T, T, T>(OfSum<Op>(), x.data, shape, bias->data, dims_of(*bias), y.data,
                                shape);
    });
  }

 private:
  static void check_bias(const Dims& shape, const Dims& bias) {
    if (bias.size() == 1 && !shape.empty() && bias[0] == shape.back()) return;
    fail("the bias of shape " + to_string(bias) +
         " does not have an element for each of the last dimension of X, of shape " +
         to_string(shape));
  }
};

constexpr Inputs kOptionalBias = {.required = 1, .same_type = 0b11};

constexpr KernelEntry kMicrosoftGeluKernels[] = {
    {"Gelu", 1, 1, {}, kInputTypes<kFloat>, kFloatUnary<ExactGelu>, kMicrosoft},
    {"QuickGelu", 1, 1, {}, kInputTypes<kFloat>, kFloatUnary<QuickGeluOp>, kMicrosoft},
    {"BiasGelu", 1, 1, kTwoAlike, kTwoFloats, &make<GeluOfSum<ExactGelu>>, kMicrosoft},
    {"FastGelu", 1, 1, kOptionalBias, kTwoFloats, &make<GeluOfSum<TanhGelu>>, kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

void infer_like(eph::Inference& node) { node.set_output_like(0, 0); }

void infer_biased(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  const infer::Shape bias = infer::shape_of(node, 1);
  infer::check_rank(bias, {1}, "bias");
  if (x && bias) {
    if (x->empty()) infer::fail("a scalar takes no bias");
    (void)infer::same(x->back(), (*bias)[0], "the last extent of X and the extent of the bias");
  }
  node.set_output_like(0, 0);
}

}  // namespace

Table microsoft_gelu_kernels() { return kMicrosoftGeluKernels; }

Definitions define_gelus() {
  return {
      eph::Operator(kMicrosoft, "Gelu", 1)
          .description("x * (1 + erf(x / sqrt(2))) / 2")
          .input("X", "T", kAllFloats)
          .output("Y", "T", kAllFloats)
          .infer(&infer_like),
      eph::Operator(kMicrosoft, "QuickGelu", 1)
          .description("x / (1 + e^(-alpha * x))")
          .input("X", "T", kAllFloats)
          .output("Y", "T", kAllFloats)
          .attribute("alpha", 1.702F)
          .infer(&infer_like),
      eph::Operator(kMicrosoft, "BiasGelu", 1)
          .description("Gelu of A + B")
          .input("A", "T", kAllFloats)
          .input("B", "T", kAllFloats, 0, "an element for each of the last dimension of A")
          .output("C", "T", kAllFloats)
          .infer(&infer_biased),
      eph::Operator(kMicrosoft, "FastGelu", 1)
          .description("Gelu of X + bias, approximated with tanh")
          .input("X", "T", kAllFloats)
          .input("bias", "T", kAllFloats, eph::kOptional,
                 "an element for each of the last dimension of X")
          .output("Y", "T", kAllFloats)
          .infer(&infer_biased),
  };
}

}  // namespace ephost_cpu
