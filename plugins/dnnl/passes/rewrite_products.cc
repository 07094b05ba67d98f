// Convolutions and matrix products of integers.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "plugins/dnnl/library/quantization.h"
#include "plugins/dnnl/passes/integer_recipe.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {
namespace {

// The sum of this many products of 8-bit integers fits into 32 bits.
constexpr int64_t kMaxTerms = 65535;

// The second factor as signed integers.
struct Weights {
  TensorId tensor = 0;
  std::vector<float> scales;  // one, or one for each channel of the output
  int64_t zero_point = 0;
};

// What a constant is a view of: the constant that has the data, perhaps transposed.
struct Root {
  TensorId tensor = 0;
  bool is_transposed = false;
};

std::optional<Root> find_root(const IntegerRecipe& recipe, TensorId tensor) {
  const RecipeIndex& index = recipe.index();
  if (tensor >= index.constants().size()) return std::nullopt;
  if (index.is_constant(tensor)) return Root{tensor, false};
  const std::optional<std::size_t> producer = index.producer(tensor);
  if (!producer) return std::nullopt;
  const Op& op = recipe.original()[*producer];
  const auto* transpose = get_if<Transpose>(op);
  if (transpose == nullptr || transpose->permutation != Dims{1, 0} ||
      !index.is_constant(op.inputs[0])) {
    return std::nullopt;
  }
  return Root{op.inputs[0], true};
}

// Whether a constant has one scale for each index of the axis, or one scale.
bool has_scales_along(const QuantizedConstant& constant, const Dims& dims, std::size_t axis) {
  if (constant.scales.size() == 1) return true;
  const Dims inner(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end());
  return constant.scales.size() == static_cast<std::size_t>(dims[axis]) &&
         constant.run == static_cast<std::size_t>(element_count(inner));
}

// The common zero point of signed integers; those of unsigned ones are shifted by 128.
std::optional<int64_t> signed_zero_point(const QuantizedConstant& constant) {
  const int64_t first = constant.zero_points[0];
  for (const int32_t zero_point : constant.zero_points) {
    if (zero_point != first) return std::nullopt;
  }
  return constant.type == EPH_ELEMENT_UINT8 ? first - 128 : first;
}

TensorId signed_constant(IntegerRecipe& recipe, const QuantizedConstant& constant,
                         const Dims& dims) {
  if (constant.type == EPH_ELEMENT_INT8) {
    return recipe.borrow_constant(dims, ElementType::kS8, constant.integers);
  }
  std::vector<int8_t> shifted(constant.count);
  for (std::size_t i = 0; i < shifted.size(); ++i) {
    shifted[i] = static_cast<int8_t>(constant.integer(i) - 128);
  }
  return recipe.add_constant(dims, std::move(shifted));
}

std::optional<Weights> constant_weights(IntegerRecipe& recipe, const Op& op) {
  const std::optional<Root> root = find_root(recipe, op.inputs[1]);
  if (!root) return std::nullopt;
  const QuantizedConstant* constant = recipe.constants().quantized(root->tensor);
  if (constant == nullptr ||
      (constant->type != EPH_ELEMENT_INT8 && constant->type != EPH_ELEMENT_UINT8)) {
    return std::nullopt;
  }
  const Dims dims = recipe.recipe().dims(root->tensor);
  const bool is_convolution = get_if<Convolution>(op) != nullptr;
  if (is_convolution && root->is_transposed) return std::nullopt;
  const bool is_first = is_convolution || root->is_transposed;
  const std::optional<int64_t> zero_point = signed_zero_point(*constant);
  if (!has_scales_along(*constant, dims, is_first ? 0 : dims.size() - 1) || !zero_point ||
      (is_convolution && *zero_point != 0)) {
    return std::nullopt;
  }
  Weights weights = {signed_constant(recipe, *constant, dims), constant->scales, *zero_point};
  if (root->is_transposed) {
    Op transpose;
    transpose.parameters = Transpose{{1, 0}};
    transpose.inputs = {weights.tensor};
    transpose.output = recipe.add_tensor({dims[1], dims[0]}, ElementType::kS8);
    transpose.name = op.name;
    recipe.emit(transpose);
    weights.tensor = transpose.output;
  }
  return weights;
}

std::optional<Weights> weights_of(IntegerRecipe& recipe, const Op& op) {
  if (auto constant = constant_weights(recipe, op)) return constant;
  if (get_if<MatMul>(op) == nullptr) return std::nullopt;
  const std::optional<Integers> factor = recipe.integers(op.inputs[1]);
  if (!factor) return std::nullopt;
  Affine affine = factor->affine;
  if (affine.type == ElementType::kU8) {
    affine.type = ElementType::kS8;
    affine.zero_point -= 128;
  }
  return Weights{recipe.converted(*factor, affine, op.name), {affine.scale}, affine.zero_point};
}

// The bias in units of the sum, whose scales are given; nothing if it is not constant.
std::optional<std::vector<float>> bias_of(IntegerRecipe& recipe, TensorId tensor,
                                          const std::vector<float>& scales) {
  TensorId root = tensor;
  while (const std::optional<std::size_t> producer = recipe.index().producer(root)) {
    const Op& op = recipe.original()[*producer];
    if (get_if<Reshape>(op) == nullptr) return std::nullopt;
    root = op.inputs[0];
  }
  if (!recipe.index().is_constant(root)) return std::nullopt;
  const float* floats = recipe.constants().data(root);
  std::vector<float> bias(static_cast<std::size_t>(element_count(recipe.recipe().dims(root))));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = floats[i] / scales[i % scales.size()];
  return bias;
}

int64_t term_count(const IntegerRecipe& recipe, const Op& op) {
  const Dims& weights = recipe.recipe().dims(op.inputs[1]);
  return get_if<Convolution>(op) != nullptr ? element_count(weights) / weights[0]
                                            : weights[weights.size() - 2];
}

// The product as one of integers. What its sum is multiplied by, and its bias in units of the sum,
// are set for an output of floats.
struct Product {
  Op op;
  std::vector<float> bias;
};

std::optional<Product> integer_product(IntegerRecipe& recipe, const Op& op) {
  const std::optional<Integers> data = recipe.integers(op.inputs[0]);
  if (!data || term_count(recipe, op) > kMaxTerms) return std::nullopt;
  const std::optional<Weights> weights = weights_of(recipe, op);
  if (!weights) return std::nullopt;
  Product product = {op, {}};
  Quantization& quantization = product.op.quantization.emplace();
  quantization.data_zero_point = data->affine.zero_point;
  quantization.weights_zero_point = weights->zero_point;
  for (const float scale : weights->scales) {
    quantization.scales.push_back(scale * data->affine.scale);
  }
  const auto& scales = quantization.scales;
  if (!std::all_of(scales.begin(), scales.end(), &is_valid_scale)) return std::nullopt;
  if (op.inputs.size() > 2) {
    std::optional<std::vector<float>> bias = bias_of(recipe, op.inputs[2], scales);
    if (!bias) return std::nullopt;
    product.bias = *std::move(bias);
  }
  product.op.inputs.resize(2);
  product.op.inputs[0] = data->tensor;
  product.op.inputs[1] = weights->tensor;
  return product;
}

// The product with integers as its output.
std::optional<Op> absorbing(const Op& product, const Affine& output) {
  Op op = product;
  op.quantization->nan_result = output.zero_point;
  if (const auto bounds = as_bounds(op.post_ops, output, ZeroPoint::kToBeAdded)) {
    for (float& scale : op.quantization->scales) scale /= output.scale;
    op.quantization->output_zero_point = output.zero_point;
    op.post_ops = *bounds;
  } else {
    op.post_ops.push_back(quantizing_post_op(output));
  }
  const auto& scales = op.quantization->scales;
  if (!std::all_of(scales.begin(), scales.end(), &is_valid_scale)) return std::nullopt;
  return op;
}

void add_bias(IntegerRecipe& recipe, Op& op, std::vector<float> bias) {
  if (bias.empty()) return;
  const std::vector<float>& scales = op.quantization->scales;
  for (std::size_t i = 0; bias_is_scaled() && i < bias.size(); ++i) {
    bias[i] *= scales[i % scales.size()];
  }
  const auto count = static_cast<int64_t>(bias.size());
  op.inputs.push_back(recipe.add_constant({count}, std::move(bias)));
}

}  // namespace

bool rewrite_product(IntegerRecipe& recipe, const Op& op) {
  std::optional<Product> product = integer_product(recipe, op);
  if (!product) return false;
  const Dims dims = recipe.recipe().dims(op.output);
  if (const std::optional<Affine> target = recipe.target(op.output)) {
    if (std::optional<Op> absorbed = absorbing(product->op, *target)) {
      add_bias(recipe, *absorbed, product->bias);
      if (recipe.is_fast(*absorbed, dims, target->type)) {
        recipe.emit(*std::move(absorbed), op.output, *target);
        return true;
      }
    }
  }
  add_bias(recipe, product->op, std::move(product->bias));
  if (!recipe.is_fast(product->op, dims, ElementType::kF32)) return false;
  recipe.emit(std::move(product->op));
  return true;
}

}  // namespace ephost_dnnl
