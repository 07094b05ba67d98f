// Element-wise functions of one tensor.
#include <limits>

#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

TensorId add_eltwise(NodeContext& node, EltwiseFunction function, float alpha = 0, float beta = 0) {
  return node.builder().add(Eltwise{function, alpha, beta}, {node.input(0)});
}

// A bound of Clip: an attribute before version 11, an input since.
float bound(NodeContext& node, const char* name, std::size_t input, float fallback) {
  if (node.node().since_version() < 11) return node.node().get_float(name, fallback);
  return node.constant_scalar(input).value_or(fallback);
}

}  // namespace

TensorId lower_relu(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kRelu); }

TensorId lower_leaky_relu(NodeContext& node) {
  return add_eltwise(node, EltwiseFunction::kRelu, node.node().get_float("alpha", 0.01F));
}

TensorId lower_elu(NodeContext& node) {
  return add_eltwise(node, EltwiseFunction::kElu, node.node().get_float("alpha", 1.0F));
}

TensorId lower_tanh(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kTanh); }

TensorId lower_sigmoid(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kLogistic); }

TensorId lower_exp(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kExp); }

TensorId lower_log(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kLog); }

TensorId lower_sqrt(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kSqrt); }

TensorId lower_abs(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kAbs); }

TensorId lower_neg(NodeContext& node) { return add_eltwise(node, EltwiseFunction::kLinear, -1); }

TensorId lower_reciprocal(NodeContext& node) {
  return add_eltwise(node, EltwiseFunction::kPow, 1, -1);
}

TensorId lower_hard_swish(NodeContext& node) {
  return add_eltwise(node, EltwiseFunction::kHardSwish);
}

TensorId lower_clip(NodeContext& node) {
  const float lowest = bound(node, "min", 1, std::numeric_limits<float>::lowest());
  const float highest = bound(node, "max", 2, std::numeric_limits<float>::max());
  if (!(lowest <= highest)) throw Unsupported("the lower bound is above the upper one");
  return add_eltwise(node, EltwiseFunction::kClip, lowest, highest);
}

TensorId lower_pow(NodeContext& node) {
  const std::optional<float> exponent = node.constant_scalar(1);
  if (!exponent) throw Unsupported("no exponent");
  if (*exponent == 1.0F) return node.input(0);
  if (*exponent == 2.0F) return add_eltwise(node, EltwiseFunction::kSquare);
  return add_eltwise(node, EltwiseFunction::kPow, 1, *exponent);
}

}  // namespace ephost_dnnl
