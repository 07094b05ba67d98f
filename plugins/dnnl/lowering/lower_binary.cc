// Arithmetic on two tensors or more. The library requires the first operand in full size and
// broadcasts the second; with a constant scalar, the operation is a function of one tensor.
#include <cmath>
#include <limits>
#include <optional>

#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

// f(x, value) or, if swapped, f(value, x), as a function of x; nothing if it has no such form.
std::optional<Eltwise> with_scalar(BinaryFunction function, float value, bool swapped) {
  using Function = EltwiseFunction;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (function) {
    case BinaryFunction::kAdd:
      return Eltwise{Function::kLinear, 1, value};
    case BinaryFunction::kSub:
      return swapped ? Eltwise{Function::kLinear, -1, value}
                     : Eltwise{Function::kLinear, 1, -value};
    case BinaryFunction::kMul:
      return Eltwise{Function::kLinear, value, 0};
    case BinaryFunction::kDiv:
      if (swapped) return Eltwise{Function::kPow, value, -1};
      if (!std::isnormal(1 / value)) return std::nullopt;
      return Eltwise{Function::kLinear, 1 / value, 0};
    case BinaryFunction::kMax:
      return Eltwise{Function::kClip, value, kInfinity};
    case BinaryFunction::kMin:
      return Eltwise{Function::kClip, -kInfinity, value};
  }
  return std::nullopt;
}

// f(a, b) where only b has the full size, with b first.
TensorId add_swapped(RecipeBuilder& builder, BinaryFunction function, TensorId a, TensorId b) {
  if (function == BinaryFunction::kSub) {
    const TensorId negative = builder.add(Binary{BinaryFunction::kSub}, {b, a});
    return builder.add(Eltwise{EltwiseFunction::kLinear, -1, 0}, {negative});
  }
  if (function == BinaryFunction::kDiv) {
    const TensorId inverse = builder.add(Eltwise{EltwiseFunction::kPow, 1, -1}, {b});
    return builder.add(Binary{BinaryFunction::kMul}, {inverse, a});
  }
  return builder.add(Binary{function}, {b, a});
}

}  // namespace

TensorId combine(RecipeBuilder& builder, BinaryFunction function, TensorId a, TensorId b) {
  const std::size_t rank = std::max(builder.dims(a).size(), builder.dims(b).size());
  const std::optional<float> scalar_a = builder.scalar(a), scalar_b = builder.scalar(b);
  if (scalar_b && builder.dims(a).size() == rank) {
    if (const auto op = with_scalar(function, *scalar_b, false)) return builder.add(*op, {a});
  }
  if (scalar_a && builder.dims(b).size() == rank) {
    if (const auto op = with_scalar(function, *scalar_a, true)) return builder.add(*op, {b});
  }
  a = builder.with_rank(a, rank);
  b = builder.with_rank(b, rank);
  if (element_count(builder.dims(a)) < element_count(builder.dims(b))) {
    return add_swapped(builder, function, a, b);
  }
  return builder.add(Binary{function}, {a, b});
}

namespace {

// Applies the function from left to right over any number of inputs.
TensorId lower_all(NodeContext& node, BinaryFunction function) {
  TensorId result = node.input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    result = combine(node.builder(), function, result, node.input(i));
  }
  return result;
}

}  // namespace

TensorId lower_add(NodeContext& node) { return lower_all(node, BinaryFunction::kAdd); }
TensorId lower_sub(NodeContext& node) { return lower_all(node, BinaryFunction::kSub); }
TensorId lower_mul(NodeContext& node) { return lower_all(node, BinaryFunction::kMul); }
TensorId lower_div(NodeContext& node) { return lower_all(node, BinaryFunction::kDiv); }
TensorId lower_max(NodeContext& node) { return lower_all(node, BinaryFunction::kMax); }
TensorId lower_min(NodeContext& node) { return lower_all(node, BinaryFunction::kMin); }

}  // namespace ephost_dnnl
