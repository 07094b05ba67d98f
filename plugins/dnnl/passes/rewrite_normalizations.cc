// BatchNormalization between integers: one multiplication and one addition for each channel, in
// steps of the output.
#include <utility>

#include "plugins/dnnl/passes/channel_map.h"
#include "plugins/dnnl/passes/integer_recipe.h"

namespace ephost_dnnl {
namespace {

bool has_constant_statistics(const IntegerRecipe& recipe, const Op& op) {
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    if (!recipe.index().is_constant(op.inputs[i])) return false;
  }
  return true;
}

}  // namespace

bool rewrite_batch_normalization(IntegerRecipe& recipe, const Op& op) {
  const std::optional<Integers> data = recipe.integers(op.inputs[0]);
  if (!data || !has_constant_statistics(recipe, op)) return false;
  std::vector<PostOp> activations = op.post_ops;
  TensorId result = op.output;
  if (const Op* activation = recipe.activation(result)) {
    PostOp post_op;
    post_op.eltwise = *get_if<Eltwise>(*activation);
    activations.push_back(post_op);
    result = activation->output;
  }
  const std::optional<Affine> target = recipe.target(result);
  if (!target) return false;
  const auto bounds = as_bounds(activations, *target, ZeroPoint::kAdded);
  if (!bounds) return false;

  ChannelMap map = channel_map(*get_if<BatchNormalization>(op), op.inputs, recipe.partition());
  for (std::size_t i = 0; i < map.factor.size(); ++i) {
    const double factor = double{map.factor[i]} * data->affine.scale / target->scale;
    const double offset = map.offset[i] / double{target->scale} +
                          static_cast<double>(target->zero_point) -
                          factor * static_cast<double>(data->affine.zero_point);
    map.factor[i] = static_cast<float>(factor);
    map.offset[i] = static_cast<float>(offset);
  }
  const Dims dims = recipe.recipe().dims(result);
  Dims channels(dims.size(), 1);
  channels[1] = dims[1];
  PostOp addition;
  addition.kind = PostOpKind::kBinary;
  addition.binary.function = BinaryFunction::kAdd;
  addition.operand = recipe.add_constant(channels, std::move(map.offset));
  Op scaled;
  scaled.parameters = Binary{BinaryFunction::kMul};
  scaled.inputs = {data->tensor, recipe.add_constant(channels, std::move(map.factor))};
  scaled.post_ops = {addition};
  scaled.post_ops.insert(scaled.post_ops.end(), bounds->begin(), bounds->end());
  scaled.quantization = Quantization{{1, 1}, 0, 0, 0, target->zero_point};
  scaled.name = op.name;
  if (!recipe.is_fast(scaled, dims, target->type)) return false;
  recipe.emit(std::move(scaled), result, *target);
  if (result != op.output) recipe.drop_producer(result);
  return true;
}

}  // namespace ephost_dnnl
