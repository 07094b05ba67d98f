#include "plugins/dnnl/recipe/recipe.h"

#include <array>
#include <functional>
#include <numeric>

namespace ephost_dnnl {

std::string_view op_type(const Op& op) {
  static constexpr std::array<std::string_view, std::variant_size_v<Parameters>> kNames = {
      "Convolution",
      "MatMul",
      "Pooling",
      "BatchNormalization",
      "LayerNormalization",
      "Lrn",
      "Softmax",
      "Eltwise",
      "Binary",
      "Reduction",
      "Concat",
      "Reshape",
      "Transpose",
      "Conversion"};
  return kNames[op.parameters.index()];
}

std::string describe(const Op& op) { return std::string(op_type(op)) + " '" + op.name + "'"; }

std::string_view to_text(ElementType type) {
  if (!is_integer(type)) return "float";
  return type == ElementType::kU8 ? "uint8" : "int8";
}

int64_t element_count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::string to_text(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::vector<uint32_t> count_uses(const Recipe& recipe) {
  std::vector<uint32_t> uses(recipe.tensors.size(), 0);
  for (const Op& op : recipe.ops) {
    for (const TensorId input : op.inputs) ++uses[input];
    for (const PostOp& post_op : op.post_ops) {
      if (post_op.has_operand()) ++uses[post_op.operand];
    }
  }
  for (const Port& output : recipe.outputs) ++uses[output.tensor];
  return uses;
}

}  // namespace ephost_dnnl
