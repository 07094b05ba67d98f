#include <cmath>
#include <optional>
#include <vector>

#include "plugins/dnnl/passes/channel_map.h"
#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/passes/recipe_index.h"

namespace ephost_dnnl {

ChannelMap channel_map(const BatchNormalization& op, const std::vector<TensorId>& inputs,
                       const LoweredPartition& partition) {
  const auto channels = static_cast<std::size_t>(partition.recipe.dims(inputs[1])[0]);
  const float* scale = partition.constants.data(inputs[1]);
  const float* bias = partition.constants.data(inputs[2]);
  const float* mean = partition.constants.data(inputs[3]);
  const float* variance = partition.constants.data(inputs[4]);
  ChannelMap map;
  for (std::size_t i = 0; i < channels; ++i) {
    const double factor = scale[i] / std::sqrt(static_cast<double>(variance[i]) + op.epsilon);
    map.factor.push_back(static_cast<float>(factor));
    map.offset.push_back(static_cast<float>(bias[i] - mean[i] * factor));
  }
  return map;
}

namespace {

TensorId add_constant(LoweredPartition& partition, Dims dims, std::vector<float> data) {
  const auto tensor = static_cast<TensorId>(partition.recipe.tensors.size());
  partition.recipe.tensors.push_back({std::move(dims)});
  partition.recipe.constants.push_back(tensor);
  partition.constants.own(tensor, std::move(data));
  return tensor;
}

// The convolution with the map applied to its result.
void apply(const ChannelMap& map, Op& convolution, LoweredPartition& partition) {
  const Dims weight_dims = partition.recipe.dims(convolution.inputs[1]);
  const std::size_t channels = map.factor.size();
  const std::size_t size = static_cast<std::size_t>(element_count(weight_dims)) / channels;
  const float* weights = partition.constants.data(convolution.inputs[1]);
  const float* bias =
      convolution.inputs.size() > 2 ? partition.constants.data(convolution.inputs[2]) : nullptr;
  std::vector<float> new_weights(channels * size), new_bias(channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t i = channel * size; i < (channel + 1) * size; ++i) {
      new_weights[i] = weights[i] * map.factor[channel];
    }
    new_bias[channel] =
        map.offset[channel] + (bias != nullptr ? bias[channel] * map.factor[channel] : 0.0F);
  }
  const TensorId weights_id = add_constant(partition, weight_dims, std::move(new_weights));
  const TensorId bias_id =
      add_constant(partition, {static_cast<int64_t>(channels)}, std::move(new_bias));
  convolution.inputs = {convolution.inputs[0], weights_id, bias_id};
}

}  // namespace

void fold_batch_normalizations(LoweredPartition& partition) {
  Recipe& recipe = partition.recipe;
  const RecipeIndex index(recipe);
  const auto are_constants = [&](const std::vector<TensorId>& inputs) {
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      if (!index.is_constant(inputs[i])) return false;
    }
    return true;
  };
  for (std::size_t at = 0; at < recipe.ops.size(); ++at) {
    const auto* normalization = get_if<BatchNormalization>(recipe.ops[at]);
    if (normalization == nullptr || !are_constants(recipe.ops[at].inputs)) continue;
    const std::optional<std::size_t> producer = index.producer(recipe.ops[at].inputs[0]);
    if (!producer || get_if<Convolution>(recipe.ops[*producer]) == nullptr ||
        !index.has_single_use(recipe.ops[at].inputs[0]) ||
        !are_constants(recipe.ops[*producer].inputs)) {
      continue;
    }
    // The folded convolution replaces the normalisation; the original convolution becomes dead.
    Op folded = recipe.ops[*producer];
    apply(channel_map(*normalization, recipe.ops[at].inputs, partition), folded, partition);
    folded.output = recipe.ops[at].output;
    recipe.ops[at] = std::move(folded);
  }
}

}  // namespace ephost_dnnl
