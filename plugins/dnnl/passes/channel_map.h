// channel_map.h: a BatchNormalization with constants as a linear function of each channel.
#pragma once

#include <vector>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl {

// y = factor * x + offset for each channel.
struct ChannelMap {
  std::vector<float> factor;
  std::vector<float> offset;
};

// `inputs` are those of the operation; all but the first are constants of the partition.
[[nodiscard]] ChannelMap channel_map(const BatchNormalization& op,
                                     const std::vector<TensorId>& inputs,
                                     const LoweredPartition& partition);

}  // namespace ephost_dnnl
