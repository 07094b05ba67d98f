// Sums, differences and products of two tensors that are quantised.
#include <algorithm>
#include <utility>

#include "plugins/dnnl/passes/integer_recipe.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {
namespace {

// An operand as it lies: integers or floats, which are integers with scale 1 and zero point 0.
struct Term {
  TensorId tensor = 0;
  double scale = 1;
  double zero_point = 0;
};

Term term_of(IntegerRecipe& recipe, TensorId floats) {
  const std::optional<Integers> integers = recipe.integers(floats);
  if (!integers) return {floats, 1, 0};
  return {integers->tensor, integers->affine.scale,
          static_cast<double>(integers->affine.zero_point)};
}

PostOp linear(double factor, double offset) {
  PostOp post_op;
  post_op.eltwise = {EltwiseFunction::kLinear, static_cast<float>(factor),
                     static_cast<float>(offset)};
  return post_op;
}

// What is left to add to f(a.scale * a, b.scale * b) for the zero points; nothing if no constant.
std::optional<double> offset_of(BinaryFunction function, const Term& a, const Term& b) {
  switch (function) {
    case BinaryFunction::kAdd:
      return -a.scale * a.zero_point - b.scale * b.zero_point;
    case BinaryFunction::kSub:
      return -a.scale * a.zero_point + b.scale * b.zero_point;
    case BinaryFunction::kMul:
      if (a.zero_point == 0 && b.zero_point == 0) return 0;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool set_scales(Op& op, double a, double b) {
  op.quantization.emplace().scales = {static_cast<float>(a), static_cast<float>(b)};
  const auto& scales = op.quantization->scales;
  return std::all_of(scales.begin(), scales.end(), &is_valid_scale);
}

// The operation in units of the output's steps: its post-ops are bounds only.
bool compute_in_steps(Op& op, BinaryFunction function, const Term& a, const Term& b, double offset,
                      const Affine& output) {
  const auto bounds = as_bounds(op.post_ops, output, ZeroPoint::kAdded);
  if (!bounds) return false;
  const bool is_product = function == BinaryFunction::kMul;
  if (!set_scales(op, a.scale / output.scale, is_product ? b.scale : b.scale / output.scale)) {
    return false;
  }
  op.post_ops.clear();
  const double total = offset / output.scale + static_cast<double>(output.zero_point);
  if (total != 0) op.post_ops.push_back(linear(1, total));
  op.post_ops.insert(op.post_ops.end(), bounds->begin(), bounds->end());
  return true;
}

// The operation in floats, with any post-ops; the last of them quantises.
bool compute_in_floats(Op& op, const Term& a, const Term& b, double offset, const Affine& output) {
  if (!set_scales(op, a.scale, b.scale)) return false;
  if (offset != 0) op.post_ops.insert(op.post_ops.begin(), linear(1, offset));
  op.post_ops.push_back(quantizing_post_op(output));
  return true;
}

bool emit_if_fast(IntegerRecipe& recipe, Op op, TensorId floats, const Affine& output) {
  op.quantization->nan_result = output.zero_point;
  if (!recipe.is_fast(op, recipe.recipe().dims(floats), output.type)) return false;
  recipe.emit(std::move(op), floats, output);
  return true;
}

}  // namespace

bool rewrite_arithmetic(IntegerRecipe& recipe, const Op& op) {
  const std::optional<Affine> target = recipe.target(op.output);
  if (!target) return false;
  const BinaryFunction function = get_if<Binary>(op)->function;
  const Term floats[] = {{op.inputs[0], 1, 0}, {op.inputs[1], 1, 0}};
  const Term terms[] = {term_of(recipe, op.inputs[0]), term_of(recipe, op.inputs[1])};
  for (const auto& [a, b] : {std::pair(terms[0], terms[1]), std::pair(terms[0], floats[1]),
                             std::pair(floats[0], terms[1]), std::pair(floats[0], floats[1])}) {
    const std::optional<double> offset = offset_of(function, a, b);
    if (!offset) continue;
    Op rewritten = op;
    rewritten.inputs = {a.tensor, b.tensor};
    Op in_floats = rewritten;
    if (compute_in_steps(rewritten, function, a, b, *offset, *target) &&
        emit_if_fast(recipe, rewritten, op.output, *target)) {
      return true;
    }
    if (compute_in_floats(in_floats, a, b, *offset, *target) &&
        emit_if_fast(recipe, in_floats, op.output, *target)) {
      return true;
    }
  }
  return false;
}

}  // namespace ephost_dnnl
