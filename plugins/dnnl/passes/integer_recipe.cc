#include "plugins/dnnl/passes/integer_recipe.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plugins/dnnl/executor/element_types.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {

IntegerRecipe::IntegerRecipe(LoweredPartition& partition, const FastPrimitiveQuery& is_fast)
    : partition_(partition),
      is_fast_(is_fast),
      index_(partition.recipe),
      original_(std::move(partition.recipe.ops)),
      is_dropped_(original_.size(), false) {
  partition_.recipe.ops.clear();
  grow();
}

void IntegerRecipe::grow() {
  const std::size_t known = replacements_.size(), count = recipe().tensors.size();
  integers_.resize(count);
  replacements_.resize(count);
  std::iota(replacements_.begin() + static_cast<std::ptrdiff_t>(known), replacements_.end(),
            static_cast<TensorId>(known));
}

std::optional<Integers> IntegerRecipe::integers(TensorId floats) {
  if (integers_[floats] || floats >= index_.constants().size() || !index_.is_constant(floats)) {
    return integers_[floats];
  }
  const QuantizedConstant* constant = constants().quantized(floats);
  if (constant == nullptr || constant->scales.size() != 1) return std::nullopt;
  const std::optional<ElementType> type = from_abi(constant->type);
  if (!type || !is_valid_scale(constant->scales[0])) return std::nullopt;
  const Affine affine = {*type, constant->scales[0], constant->zero_points[0]};
  const TensorId tensor = borrow_constant(recipe().dims(floats), *type, constant->integers);
  integers_[floats] = Integers{tensor, affine};
  return integers_[floats];
}

std::optional<Affine> IntegerRecipe::target(TensorId floats) const {
  if (!index_.has_single_use(floats)) return std::nullopt;
  const Op& reader = original_[index_.readers(floats)[0]];
  if (const auto* conversion = get_if<Conversion>(reader)) {
    return Affine{conversion->type, conversion->output_scale, conversion->output_zero_point};
  }
  const auto* pooling = get_if<Pooling>(reader);
  const bool moves = get_if<Reshape>(reader) != nullptr || get_if<Transpose>(reader) != nullptr ||
                     get_if<Concat>(reader) != nullptr ||
                     (pooling != nullptr && pooling->kind == PoolingKind::kMax);
  if (!moves || !reader.post_ops.empty()) return std::nullopt;
  return target(reader.output);
}

const Op* IntegerRecipe::activation(TensorId floats) const {
  if (!index_.has_single_use(floats)) return nullptr;
  const Op& reader = original_[index_.readers(floats)[0]];
  const auto* eltwise = get_if<Eltwise>(reader);
  const bool is_activation = eltwise != nullptr && reader.post_ops.empty() &&
                             (eltwise->function == EltwiseFunction::kClip ||
                              (eltwise->function == EltwiseFunction::kRelu && eltwise->alpha == 0));
  return is_activation ? &reader : nullptr;
}

TensorId IntegerRecipe::add_tensor(const Dims& dims, ElementType type) {
  partition_.recipe.tensors.push_back({dims, type});
  grow();
  return static_cast<TensorId>(recipe().tensors.size() - 1);
}

TensorId IntegerRecipe::borrow_constant(const Dims& dims, ElementType type, const void* data) {
  const TensorId tensor = add_tensor(Dims(dims), type);
  partition_.recipe.constants.push_back(tensor);
  constants().borrow(tensor, data);
  return tensor;
}

TensorId IntegerRecipe::add_constant(const Dims& dims, std::vector<float> data) {
  const TensorId tensor = borrow_constant(dims, ElementType::kF32, nullptr);
  constants().own(tensor, std::move(data));
  return tensor;
}

TensorId IntegerRecipe::add_constant(const Dims& dims, std::vector<int8_t> data) {
  const TensorId tensor = borrow_constant(dims, ElementType::kS8, nullptr);
  constants().own(tensor, std::move(data));
  return tensor;
}

void IntegerRecipe::emit(Op op) { emitted_.push_back(std::move(op)); }

void IntegerRecipe::emit(Op op, TensorId floats, const Affine& affine) {
  const TensorId tensor = add_tensor(recipe().dims(floats), affine.type);
  Op restored;
  restored.parameters = Conversion{ElementType::kF32, affine.scale, 1, affine.zero_point, 0};
  restored.inputs = {tensor};
  restored.output = floats;
  restored.name = op.name;
  op.output = tensor;
  emit(std::move(op));
  emit(std::move(restored));
  know(floats, {tensor, affine});
}

TensorId IntegerRecipe::converted(const Integers& from, const Affine& to, const std::string& name) {
  if (from.affine == to) return from.tensor;
  Op op;
  op.parameters =
      Conversion{to.type, from.affine.scale, to.scale, from.affine.zero_point, to.zero_point};
  op.inputs = {from.tensor};
  op.output = add_tensor(Dims(recipe().dims(from.tensor)), to.type);
  op.name = name;
  emit(op);
  return op.output;
}

Op IntegerRecipe::renamed(Op op) const {
  for (TensorId& input : op.inputs) input = replacements_[input];
  for (PostOp& post_op : op.post_ops) {
    if (post_op.has_operand()) post_op.operand = replacements_[post_op.operand];
  }
  return op;
}

bool IntegerRecipe::is_fast(Op op, const Dims& dims, ElementType type) {
  // The query sees the output as a tensor of the recipe.
  partition_.recipe.tensors.push_back({dims, type});
  op.output = static_cast<TensorId>(recipe().tensors.size() - 1);
  const bool answer = is_fast_(recipe(), op);
  partition_.recipe.tensors.pop_back();
  return answer;
}

void IntegerRecipe::finish() {
  partition_.recipe.ops = std::move(emitted_);
  for (Port& output : partition_.recipe.outputs) output.tensor = replacements_[output.tensor];
}

std::optional<std::vector<PostOp>> as_bounds(const std::vector<PostOp>& post_ops,
                                             const Affine& output, ZeroPoint state) {
  const auto least = static_cast<float>(range_of(output.type).least);
  const auto greatest = static_cast<float>(range_of(output.type).greatest);
  const auto zero_point = static_cast<float>(output.zero_point);
  float low = least, high = greatest;
  for (const PostOp& post_op : post_ops) {
    const Eltwise& eltwise = post_op.eltwise;
    const bool is_relu = eltwise.function == EltwiseFunction::kRelu && eltwise.alpha == 0;
    if (post_op.kind != PostOpKind::kEltwise ||
        (!is_relu && eltwise.function != EltwiseFunction::kClip)) {
      return std::nullopt;
    }
    const float from = is_relu ? zero_point : eltwise.alpha / output.scale + zero_point;
    const float to = is_relu ? greatest : eltwise.beta / output.scale + zero_point;
    low = std::min(std::max(low, from), to);
    high = std::min(std::max(high, from), to);
  }
  if (low <= least && high >= greatest) return std::vector<PostOp>();
  const float shift = state == ZeroPoint::kAdded ? 0 : zero_point;
  PostOp bounds;
  bounds.eltwise = {EltwiseFunction::kClip, low - shift, high - shift};
  return std::vector<PostOp>{bounds};
}

PostOp quantizing_post_op(const Affine& output) {
  PostOp post_op;
  post_op.eltwise = {EltwiseFunction::kLinear, 1 / output.scale,
                     static_cast<float>(output.zero_point)};
  return post_op;
}

}  // namespace ephost_dnnl
