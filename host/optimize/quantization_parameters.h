// Scales and zero points of QuantizeLinear and DequantizeLinear nodes, where they are constants.
// For the pass that forms integer operators (quantized_operators.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::optimize {

struct QuantizationParameters {
  graph::ValueId scale = graph::kNoValue;
  graph::ValueId zero_point = graph::kNoValue;  // kNoValue: all are zero
  std::vector<float> scales;                    // finite and positive
  std::vector<int32_t> zero_points;             // as many, or none
  int64_t axis = 1;                             // of several scales

  [[nodiscard]] bool has_one_scale() const { return scales.size() == 1; }
};

// Nothing if the node is of another operator or domain, if it came from a function of another
// opset, if it quantises in blocks or does not compute in float, or if scales or zero points are
// unknown, irregular, or more than one without being a list.
[[nodiscard]] std::optional<QuantizationParameters> quantization_parameters(
    const graph::Graph& graph, const graph::Node& node);

// The elements of a constant of int8, uint8, int16, uint16 or int32; nothing for any other value.
[[nodiscard]] std::optional<std::vector<int32_t>> integers_of(const graph::Graph& graph,
                                                              graph::ValueId value);

}  // namespace ephost::optimize
