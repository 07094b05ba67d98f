// node_lowerings.h: one function for each operator that the provider takes, found by domain, name
// and version. Each adds operations to the recipe and returns the tensor of the node's first
// output, or throws Unsupported.
#pragma once

#include "plugins/dnnl/lowering/node_context.h"

namespace ephost_dnnl {

using NodeLowering = TensorId (*)(NodeContext& node);

// Throws Unsupported if the operator or this version of it is unknown.
[[nodiscard]] NodeLowering find_node_lowering(const eph::NodeView& node);

// lower_products.cc
TensorId lower_conv(NodeContext& node);
TensorId lower_matmul(NodeContext& node);
TensorId lower_gemm(NodeContext& node);

// lower_quantization.cc
TensorId lower_quantize(NodeContext& node);
TensorId lower_dequantize(NodeContext& node);

// lower_pooling.cc
TensorId lower_max_pool(NodeContext& node);
TensorId lower_average_pool(NodeContext& node);
TensorId lower_global_max_pool(NodeContext& node);
TensorId lower_global_average_pool(NodeContext& node);

// lower_normalisations.cc
TensorId lower_batch_normalization(NodeContext& node);
TensorId lower_layer_normalization(NodeContext& node);
TensorId lower_lrn(NodeContext& node);
TensorId lower_softmax(NodeContext& node);
TensorId lower_log_softmax(NodeContext& node);

// lower_activations.cc
TensorId lower_relu(NodeContext& node);
TensorId lower_leaky_relu(NodeContext& node);
TensorId lower_elu(NodeContext& node);
TensorId lower_tanh(NodeContext& node);
TensorId lower_sigmoid(NodeContext& node);
TensorId lower_exp(NodeContext& node);
TensorId lower_log(NodeContext& node);
TensorId lower_sqrt(NodeContext& node);
TensorId lower_abs(NodeContext& node);
TensorId lower_neg(NodeContext& node);
TensorId lower_reciprocal(NodeContext& node);
TensorId lower_hard_swish(NodeContext& node);
TensorId lower_clip(NodeContext& node);
TensorId lower_pow(NodeContext& node);

// lower_binary.cc
// The function of two tensors that broadcast.
TensorId combine(RecipeBuilder& builder, BinaryFunction function, TensorId a, TensorId b);
TensorId lower_add(NodeContext& node);
TensorId lower_sub(NodeContext& node);
TensorId lower_mul(NodeContext& node);
TensorId lower_div(NodeContext& node);
TensorId lower_max(NodeContext& node);
TensorId lower_min(NodeContext& node);

// lower_layout.cc
TensorId lower_reduce_mean(NodeContext& node);
TensorId lower_reduce_sum(NodeContext& node);
TensorId lower_reduce_max(NodeContext& node);
TensorId lower_reduce_min(NodeContext& node);
TensorId lower_reduce_prod(NodeContext& node);
TensorId lower_concat(NodeContext& node);
TensorId lower_reshape(NodeContext& node);
TensorId lower_transpose(NodeContext& node);
TensorId lower_identity(NodeContext& node);
TensorId lower_dropout(NodeContext& node);

// lower_microsoft.cc
TensorId lower_fused_conv(NodeContext& node);
TensorId lower_fused_matmul(NodeContext& node);
TensorId lower_fused_gemm(NodeContext& node);
TensorId lower_gelu(NodeContext& node);
TensorId lower_bias_gelu(NodeContext& node);
TensorId lower_fast_gelu(NodeContext& node);
TensorId lower_quick_gelu(NodeContext& node);
TensorId lower_skip_layer_normalization(NodeContext& node);

}  // namespace ephost_dnnl
