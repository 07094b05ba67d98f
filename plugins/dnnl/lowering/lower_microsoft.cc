// Operators of com.microsoft: what ONNX Runtime fuses into one node, taken apart again. The passes
// fuse it in the library's way. Definitions: ONNX Runtime's ContribOperators.md.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

// The data with an activation applied, whose parameters are given in the order of its definition.
TensorId activated(RecipeBuilder& builder, TensorId data, std::string_view activation,
                   const std::vector<float>& parameters) {
  const auto add = [&](TensorId to, EltwiseFunction function, float alpha = 0, float beta = 0) {
    return builder.add(Eltwise{function, alpha, beta}, {to});
  };
  const bool has_one = !parameters.empty(), has_two = parameters.size() > 1;
  if (activation == "Relu") return add(data, EltwiseFunction::kRelu);
  if (activation == "Sigmoid") return add(data, EltwiseFunction::kLogistic);
  if (activation == "Tanh") return add(data, EltwiseFunction::kTanh);
  if (activation == "LeakyRelu" && has_one) {
    return add(data, EltwiseFunction::kRelu, parameters[0]);
  }
  if (activation == "Clip" && has_two && parameters[0] <= parameters[1]) {
    return add(data, EltwiseFunction::kClip, parameters[0], parameters[1]);
  }
  if (activation == "HardSigmoid" && has_two) {
    const TensorId line = add(data, EltwiseFunction::kLinear, parameters[0], parameters[1]);
    return add(line, EltwiseFunction::kClip, 0, 1);
  }
  throw Unsupported("activation " + std::string(activation) + " with " +
                    std::to_string(parameters.size()) + " parameters is not supported");
}

// With the last two dimensions exchanged.
TensorId exchanged(RecipeBuilder& builder, TensorId matrices) {
  const std::size_t rank = builder.dims(matrices).size();
  if (rank < 2) return matrices;
  Dims permutation(rank);
  for (std::size_t i = 0; i < rank; ++i) permutation[i] = static_cast<int64_t>(i);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return builder.add(Transpose{permutation}, {matrices});
}

// The sum with input `i`, if there is one.
TensorId plus_input(NodeContext& node, TensorId tensor, std::size_t i) {
  if (!node.has_input(i)) return tensor;
  return combine(node.builder(), BinaryFunction::kAdd, tensor, node.input(i));
}

TensorId function_of(NodeContext& node, TensorId tensor, EltwiseFunction function,
                     float alpha = 0) {
  return node.builder().add(Eltwise{function, alpha, 0}, {tensor});
}

}  // namespace

TensorId lower_fused_conv(NodeContext& node) {
  TensorId result = lower_conv(node);
  if (node.has_input(3)) {
    const Dims dims = node.dims(3);
    if (dims != node.builder().dims(result)) throw Unsupported("Z broadcasts");
    result = plus_input(node, result, 3);
  }
  const std::string_view activation = node.node().get_string("activation", "");
  if (activation.empty()) return result;
  const eph::ArrayView<float> parameters = node.node().get_floats("activation_params");
  return activated(node.builder(), result, activation, {parameters.begin(), parameters.end()});
}

TensorId lower_fused_matmul(NodeContext& node) {
  for (const char* name : {"transBatchA", "transBatchB"}) {
    if (node.node().get_int(name, 0) != 0) throw Unsupported(std::string(name) + " is set");
  }
  RecipeBuilder& builder = node.builder();
  TensorId a = node.input(0), b = node.input(1);
  if (builder.dims(a).size() < 2 || builder.dims(b).size() < 2) throw Unsupported("a vector");
  if (node.node().get_int("transA", 0) != 0) a = exchanged(builder, a);
  if (node.node().get_int("transB", 0) != 0) b = exchanged(builder, b);
  if (builder.dims(b).size() > 2) {
    const std::size_t rank = std::max(builder.dims(a).size(), builder.dims(b).size());
    a = builder.with_rank(a, rank);
    b = builder.with_rank(b, rank);
  }
  const TensorId product = builder.add(MatMul{}, {a, b});
  const float alpha = node.node().get_float("alpha", 1.0F);
  if (alpha == 1.0F) return product;
  return builder.add(Eltwise{EltwiseFunction::kLinear, alpha, 0}, {product});
}

TensorId lower_fused_gemm(NodeContext& node) {
  const TensorId product = lower_gemm(node);
  const std::string_view activation = node.node().get_string("activation", "");
  if (activation.empty()) return product;
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (node.node().attribute(name) == nullptr) break;
    parameters.push_back(node.node().get_float(name, 0));
  }
  return activated(node.builder(), product, activation, parameters);
}

TensorId lower_gelu(NodeContext& node) {
  const std::string_view approximation = node.node().get_string("approximate", "none");
  if (approximation == "none") return function_of(node, node.input(0), EltwiseFunction::kGeluErf);
  if (approximation == "tanh") return function_of(node, node.input(0), EltwiseFunction::kGeluTanh);
  throw Unsupported("approximate=" + std::string(approximation) + " is not supported");
}

TensorId lower_bias_gelu(NodeContext& node) {
  return function_of(node, plus_input(node, node.input(0), 1), EltwiseFunction::kGeluErf);
}

TensorId lower_fast_gelu(NodeContext& node) {
  return function_of(node, plus_input(node, node.input(0), 1), EltwiseFunction::kGeluTanh);
}

TensorId lower_quick_gelu(NodeContext& node) {
  return function_of(node, node.input(0), EltwiseFunction::kSwish,
                     node.node().get_float("alpha", 1.702F));
}

TensorId lower_skip_layer_normalization(NodeContext& node) {
  if (node.is_read(1) || node.is_read(2)) throw Unsupported("mean or deviation is read");
  RecipeBuilder& builder = node.builder();
  const Dims dims = node.dims(0);
  if (dims.size() < 2) throw Unsupported("rank below 2");
  const TensorId sum = plus_input(node, plus_input(node, node.input(0), 1), 4);
  if (builder.dims(sum) != dims) throw Unsupported("the input broadcasts to skip");
  if (node.is_read(3)) node.bind_output(3, sum);
  std::vector<TensorId> inputs = {sum, node.input(2)};
  if (node.has_input(3)) inputs.push_back(node.input(3));
  return builder.add(LayerNormalization{node.node().get_float("epsilon", 1e-12F)}, inputs);
}

}  // namespace ephost_dnnl
