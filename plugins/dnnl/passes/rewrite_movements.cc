// Operations that move or compare elements, and average pooling.
#include <algorithm>
#include <utility>

#include "plugins/dnnl/passes/integer_recipe.h"

namespace ephost_dnnl {
namespace {

// The operation on integers instead of floats, with the same meaning of its output.
bool rewrite_view(IntegerRecipe& recipe, const Op& op, bool has_primitive) {
  const std::optional<Integers> data = recipe.integers(op.inputs[0]);
  if (!data || !op.post_ops.empty()) return false;
  Op moved = op;
  moved.inputs = {data->tensor};
  if (has_primitive && !recipe.is_fast(moved, recipe.recipe().dims(op.output), data->affine.type)) {
    return false;
  }
  recipe.emit(std::move(moved), op.output, data->affine);
  return true;
}

bool rewrite_concat(IntegerRecipe& recipe, const Op& op) {
  std::vector<Integers> parts;
  for (const TensorId input : op.inputs) {
    const std::optional<Integers> part = recipe.integers(input);
    if (!part) return false;
    parts.push_back(*part);
  }
  const std::optional<Affine> target = recipe.target(op.output);
  const bool are_alike = std::all_of(parts.begin(), parts.end(), [&](const Integers& part) {
    return part.affine == parts[0].affine;
  });
  if (!target && !are_alike) return false;
  const Affine affine = are_alike ? parts[0].affine : *target;
  Op joined = op;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    joined.inputs[i] = recipe.converted(parts[i], affine, op.name);
  }
  recipe.emit(std::move(joined), op.output, affine);
  return true;
}

bool reads_padding(const Pooling& op) {
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  return op.kind == PoolingKind::kAverageIncludePadding &&
         !(std::all_of(op.pads_begin.begin(), op.pads_begin.end(), is_zero) &&
           std::all_of(op.pads_end.begin(), op.pads_end.end(), is_zero));
}

bool rewrite_average(IntegerRecipe& recipe, const Op& op, const Pooling& pooling) {
  const std::optional<Integers> data = recipe.integers(op.inputs[0]);
  const std::optional<Affine> target = recipe.target(op.output);
  if (!data || !target || target->type != data->affine.type) return false;
  // The library pads with integers 0.
  if (reads_padding(pooling) && data->affine.zero_point != 0) return false;
  Op averaged = op;
  averaged.inputs = {data->tensor};
  if (!(data->affine == *target)) {
    const float scale = data->affine.scale / target->scale;
    PostOp requantized;
    requantized.eltwise = {EltwiseFunction::kLinear, scale,
                           static_cast<float>(target->zero_point) -
                               scale * static_cast<float>(data->affine.zero_point)};
    averaged.post_ops.insert(averaged.post_ops.begin(), requantized);
  }
  const auto bounds = as_bounds(op.post_ops, *target, ZeroPoint::kAdded);
  if (!bounds) return false;
  averaged.post_ops.resize(averaged.post_ops.size() - op.post_ops.size());
  averaged.post_ops.insert(averaged.post_ops.end(), bounds->begin(), bounds->end());
  if (!recipe.is_fast(averaged, recipe.recipe().dims(op.output), target->type)) return false;
  recipe.emit(std::move(averaged), op.output, *target);
  return true;
}

}  // namespace

bool rewrite_conversion(IntegerRecipe& recipe, const Op& op) {
  const auto& conversion = *get_if<Conversion>(op);
  if (!is_integer(conversion.type)) {
    const Affine affine = {recipe.recipe().type(op.inputs[0]), conversion.input_scale,
                           conversion.input_zero_point};
    recipe.know(op.output, {op.inputs[0], affine});
    return false;
  }
  const std::optional<Integers> data = recipe.integers(op.inputs[0]);
  if (!data) return false;
  const Affine affine = {conversion.type, conversion.output_scale, conversion.output_zero_point};
  recipe.replace(op.output, recipe.converted(*data, affine, op.name));
  return true;
}

bool rewrite_movement(IntegerRecipe& recipe, const Op& op) {
  if (get_if<Concat>(op) != nullptr) return rewrite_concat(recipe, op);
  const auto* pooling = get_if<Pooling>(op);
  if (pooling != nullptr && pooling->kind != PoolingKind::kMax) {
    return rewrite_average(recipe, op, *pooling);
  }
  return rewrite_view(recipe, op, pooling != nullptr);
}

}  // namespace ephost_dnnl
