#include "plugins/dnnl/recipe/type_rules.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

bool holds(ElementType type, int64_t zero_point) {
  if (!is_integer(type)) return zero_point == 0;
  return zero_point >= range_of(type).least && zero_point <= range_of(type).greatest;
}

bool are_floats(const std::vector<ElementType>& types) {
  return std::none_of(types.begin(), types.end(), &is_integer);
}

void check(const Conversion& op, ElementType input) {
  require(is_integer(input) || is_integer(op.type), "converts floats to floats");
  require(is_valid_scale(op.input_scale) && is_valid_scale(op.output_scale), "bad scale");
  require(
      (is_integer(input) || op.input_scale == 1) && (is_integer(op.type) || op.output_scale == 1),
      "floats have a scale");
  require(holds(input, op.input_zero_point) && holds(op.type, op.output_zero_point),
          "a zero point is out of range");
}

// Operations that move or compare elements do so with any type.
bool keeps_type(const Parameters& parameters) {
  return std::holds_alternative<Reshape>(parameters) ||
         std::holds_alternative<Transpose>(parameters) ||
         std::holds_alternative<Concat>(parameters) || std::holds_alternative<Pooling>(parameters);
}

void check_product(const Recipe& recipe, const Op& op, const Quantization& quantization) {
  const ElementType data = recipe.type(op.inputs[0]), output = recipe.type(op.output);
  require(is_integer(data), "quantised data are floats");
  require(recipe.type(op.inputs[1]) == ElementType::kS8, "quantised weights are not s8");
  require(op.inputs.size() < 3 || !is_integer(recipe.type(op.inputs[2])), "a bias is not float");
  require(holds(data, quantization.data_zero_point) &&
              holds(ElementType::kS8, quantization.weights_zero_point) &&
              holds(output, quantization.output_zero_point),
          "a zero point is out of range");
  const bool is_convolution = get_if<Convolution>(op) != nullptr;
  require(!is_convolution || quantization.weights_zero_point == 0,
          "weights of a convolution have a zero point");
  const Dims& dims = recipe.dims(op.output);
  const int64_t channels = is_convolution ? dims[1] : dims.back();
  const int64_t scales = std::ssize(quantization.scales);
  require(scales == 1 || scales == channels, "bad number of scales");
}

void check_quantization(const Recipe& recipe, const Op& op) {
  const Quantization& quantization = *op.quantization;
  require(std::all_of(quantization.scales.begin(), quantization.scales.end(), &is_valid_scale),
          "bad scale");
  require(holds(recipe.type(op.output), quantization.nan_result), "a zero point is out of range");
  if (get_if<Convolution>(op) != nullptr || get_if<MatMul>(op) != nullptr) {
    check_product(recipe, op, quantization);
    return;
  }
  require(get_if<Binary>(op) != nullptr, "is not an operation on quantised integers");
  require(quantization.scales.size() == 2, "bad number of scales");
  require(quantization.data_zero_point == 0 && quantization.weights_zero_point == 0 &&
              quantization.output_zero_point == 0,
          "has zero points");
  require(is_integer(recipe.type(op.output)), "reads integers and writes floats");
}

}  // namespace

bool is_valid_scale(float scale) { return std::isnormal(scale) && scale > 0; }

ElementType infer_output_type(const Parameters& parameters,
                              const std::vector<ElementType>& inputs) {
  if (const auto* conversion = std::get_if<Conversion>(&parameters)) {
    check(*conversion, inputs[0]);
    return conversion->type;
  }
  if (keeps_type(parameters)) {
    require(std::all_of(inputs.begin(), inputs.end(),
                        [&](ElementType type) { return type == inputs[0]; }),
            "inputs differ in their element types");
    return inputs[0];
  }
  require(are_floats(inputs), "does not read integers");
  return ElementType::kF32;
}

void check_types(const Recipe& recipe, const Op& op) {
  const ElementType output = recipe.type(op.output);
  for (const PostOp& post_op : op.post_ops) {
    if (!post_op.has_operand()) continue;
    require(!is_integer(recipe.type(post_op.operand)), "an operand of a post-op is not float");
    require(post_op.kind != PostOpKind::kSum || !is_integer(output), "accumulates in integers");
  }
  if (op.quantization) {
    check_quantization(recipe, op);
    return;
  }
  std::vector<ElementType> inputs;
  for (const TensorId input : op.inputs) inputs.push_back(recipe.type(input));
  require(infer_output_type(op.parameters, inputs) == output, "the output has another type");
}

}  // namespace ephost_dnnl
