// patterns.h: a search for groups of ONNX nodes that together are one operation of the library. A
// group's inner values are read by the group alone.
#pragma once

#include <optional>

#include "plugins/dnnl/lowering/lowering.h"

namespace ephost_dnnl {

// x / 2 * (1 + erf(x / sqrt 2)) in the forms that exporters write, found from its Erf node.
[[nodiscard]] std::optional<Unit> match_gelu(const eph::GraphView& graph, uint32_t erf);

// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + bias over the last dimension,
// found from its Div node.
[[nodiscard]] std::optional<Unit> match_layer_normalization(const eph::GraphView& graph,
                                                            uint32_t division);

}  // namespace ephost_dnnl
