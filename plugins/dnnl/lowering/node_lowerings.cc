#include "plugins/dnnl/lowering/node_lowerings.h"

#include <span>
#include <string>
#include <string_view>

namespace ephost_dnnl {
namespace {

// An operator with the lowest and highest version of its definition that the lowering follows.
struct Entry {
  std::string_view op_type;
  int32_t lowest;
  int32_t highest;
  NodeLowering lower;
};

// Versions of layout operators that differ in element types only are all fine, and those whose
// lowering looks at every attribute.
constexpr int32_t kAnyLater = 1000;

constexpr Entry kEntries[] = {
    {"Abs", 6, 13, &lower_abs},
    {"Add", 7, 14, &lower_add},
    {"AveragePool", 7, 11, &lower_average_pool},
    {"BatchNormalization", 7, 15, &lower_batch_normalization},
    {"Clip", 6, 13, &lower_clip},
    {"Concat", 4, 13, &lower_concat},
    {"Conv", 1, 11, &lower_conv},
    {"DequantizeLinear", 10, kAnyLater, &lower_dequantize},
    {"Div", 7, 14, &lower_div},
    {"Dropout", 7, 13, &lower_dropout},
    {"Elu", 6, 6, &lower_elu},
    {"Exp", 6, 13, &lower_exp},
    {"Flatten", 1, kAnyLater, &lower_reshape},
    {"Gemm", 7, 13, &lower_gemm},
    {"Gelu", 20, 20, &lower_gelu},
    {"GlobalAveragePool", 1, 1, &lower_global_average_pool},
    {"GlobalMaxPool", 1, 1, &lower_global_max_pool},
    {"HardSwish", 14, 14, &lower_hard_swish},
    {"Identity", 1, kAnyLater, &lower_identity},
    {"LRN", 1, 13, &lower_lrn},
    {"LayerNormalization", 17, 17, &lower_layer_normalization},
    {"LeakyRelu", 6, 16, &lower_leaky_relu},
    {"Log", 6, 13, &lower_log},
    {"LogSoftmax", 1, 13, &lower_log_softmax},
    {"MatMul", 1, 13, &lower_matmul},
    {"Max", 6, 13, &lower_max},
    {"MaxPool", 1, 12, &lower_max_pool},
    {"Min", 6, 13, &lower_min},
    {"Mul", 7, 14, &lower_mul},
    {"Neg", 6, 13, &lower_neg},
    {"Pow", 7, 15, &lower_pow},
    {"Reciprocal", 6, 13, &lower_reciprocal},
    {"QuantizeLinear", 10, kAnyLater, &lower_quantize},
    {"ReduceMax", 1, 18, &lower_reduce_max},
    {"ReduceMean", 1, 18, &lower_reduce_mean},
    {"ReduceMin", 1, 18, &lower_reduce_min},
    {"ReduceProd", 1, 18, &lower_reduce_prod},
    {"ReduceSum", 1, 13, &lower_reduce_sum},
    {"Relu", 6, 14, &lower_relu},
    {"Reshape", 5, kAnyLater, &lower_reshape},
    {"Sigmoid", 6, 13, &lower_sigmoid},
    {"Softmax", 1, 13, &lower_softmax},
    {"Sqrt", 6, 13, &lower_sqrt},
    {"Squeeze", 1, kAnyLater, &lower_reshape},
    {"Sub", 7, 14, &lower_sub},
    {"Sum", 6, 13, &lower_add},
    {"Tanh", 6, 13, &lower_tanh},
    {"Transpose", 1, kAnyLater, &lower_transpose},
    {"Unsqueeze", 1, kAnyLater, &lower_reshape},
};

// Operators of com.microsoft, which ONNX Runtime's optimizations write.
constexpr Entry kMicrosoftEntries[] = {
    {"BiasGelu", 1, 1, &lower_bias_gelu},
    {"FastGelu", 1, 1, &lower_fast_gelu},
    {"FusedConv", 1, 1, &lower_fused_conv},
    {"FusedGemm", 1, 1, &lower_fused_gemm},
    {"FusedMatMul", 1, 1, &lower_fused_matmul},
    {"Gelu", 1, 1, &lower_gelu},
    {"QuickGelu", 1, 1, &lower_quick_gelu},
    {"SkipLayerNormalization", 1, 1, &lower_skip_layer_normalization},
};

std::span<const Entry> entries_of(std::string_view domain) {
  if (domain.empty() || domain == "ai.onnx") return kEntries;
  if (domain == "com.microsoft") return kMicrosoftEntries;
  return {};
}

}  // namespace

NodeLowering find_node_lowering(const eph::NodeView& node) {
  for (const Entry& entry : entries_of(node.domain())) {
    if (entry.op_type != node.op_type()) continue;
    if (node.since_version() < entry.lowest || node.since_version() > entry.highest) {
      throw Unsupported("version " + std::to_string(node.since_version()) + " of " +
                        std::string(node.op_type()) + " is not supported");
    }
    return entry.lower;
  }
  throw Unsupported("operator " + std::string(node.op_type()) + " is not supported");
}

}  // namespace ephost_dnnl
