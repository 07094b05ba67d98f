#include "host/optimize/quantization_parameters.h"

#include <algorithm>
#include <cmath>

#include "host/optimize/quantization_nodes.h"

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::read_elements;
using graph::Tensor;

// Whether an attribute that names an element type leaves the node's arithmetic in float.
bool is_float_or_unset(const Node& node, std::string_view attribute) {
  const int64_t type = node.integer(attribute).value_or(0);
  return type == 0 || type == static_cast<int64_t>(ElementType::kFloat);
}

}  // namespace

std::optional<std::vector<int32_t>> integers_of(const Graph& graph, graph::ValueId value) {
  const Tensor* tensor = value == kNoValue ? nullptr : graph.constant(value);
  if (tensor == nullptr) return std::nullopt;
  switch (tensor->type) {
    case ElementType::kInt8:
      return read_elements<int8_t, int32_t>(*tensor);
    case ElementType::kUint8:
      return read_elements<uint8_t, int32_t>(*tensor);
    case ElementType::kInt16:
      return read_elements<int16_t, int32_t>(*tensor);
    case ElementType::kUint16:
      return read_elements<uint16_t, int32_t>(*tensor);
    case ElementType::kInt32:
      return read_elements<int32_t, int32_t>(*tensor);
    default:
      return std::nullopt;
  }
}

std::optional<QuantizationParameters> quantization_parameters(const Graph& graph,
                                                              const Node& node) {
  if (!is_quantization(node) || !node.domain.empty() || node.is_of_other_opset) return {};
  if (node.inputs.size() < 2 || node.outputs.size() != 1 ||
      node.integer("block_size").value_or(0) != 0) {
    return {};
  }
  if (std::ranges::count(node.inputs.begin(), node.inputs.begin() + 2, kNoValue) != 0) return {};
  const bool quantizes = node.op_type == "QuantizeLinear";
  if (!is_float_or_unset(node, quantizes ? "precision" : "output_dtype")) return {};
  QuantizationParameters parameters{.scale = node.inputs[1],
                                    .axis = node.integer("axis").value_or(1)};
  const Tensor* scale = graph.constant(parameters.scale);
  if (scale == nullptr || scale->type != ElementType::kFloat || scale->shape.size() > 1) return {};
  parameters.scales = read_elements<float, float>(*scale);
  const auto is_regular = [](float value) { return std::isnormal(value) && value > 0; };
  if (parameters.scales.empty() || !std::ranges::all_of(parameters.scales, is_regular)) return {};
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    parameters.zero_point = node.inputs[2];
    const auto zero_points = integers_of(graph, parameters.zero_point);
    if (!zero_points || zero_points->size() != parameters.scales.size()) return {};
    parameters.zero_points = *zero_points;
  }
  return parameters;
}

}  // namespace ephost::optimize
