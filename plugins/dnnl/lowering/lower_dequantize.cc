// DequantizeLinear of constants: weights that a model stores as integers become constants in float
// when the partition is compiled.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

template <class T>
std::vector<int32_t> widened(const eph_value& value) {
  const auto elements = eph::elements<T>(value);
  return {elements.begin(), elements.end()};
}

std::vector<int32_t> integers_of(const eph_value& value) {
  switch (value.element_type) {
    case EPH_ELEMENT_INT8:
      return widened<int8_t>(value);
    case EPH_ELEMENT_UINT8:
      return widened<uint8_t>(value);
    case EPH_ELEMENT_INT16:
      return widened<int16_t>(value);
    case EPH_ELEMENT_UINT16:
      return widened<uint16_t>(value);
    case EPH_ELEMENT_INT32:
      return widened<int32_t>(value);
    default:
      throw Unsupported("quantised constants of this element type are not supported");
  }
}

const eph_value& required_constant(const NodeContext& node, std::size_t i) {
  const eph_value* const value = node.constant(i);
  if (value == nullptr) throw Unsupported("input " + std::to_string(i) + " is left out");
  return *value;
}

// Number of consecutive elements with one scale.
std::size_t run_length(const NodeContext& node, const Dims& shape, std::size_t scales) {
  const auto count = static_cast<std::size_t>(element_count(dims_of_shape(shape)));
  if (scales == 1) return count;
  const auto axis =
      static_cast<std::size_t>(normalised_axis(node.node().get_int("axis", 1), shape.size()));
  if (static_cast<std::size_t>(shape[axis]) != scales) {
    throw Unsupported("the number of scales is not the extent of the axis");
  }
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  return inner;
}

}  // namespace

TensorId lower_dequantize(NodeContext& node) {
  const int64_t output_type = node.node().get_int("output_dtype", 0);
  if (node.node().get_int("block_size", 0) != 0) throw Unsupported("block_size is not supported");
  if (output_type != 0 && output_type != EPH_ELEMENT_FLOAT) {
    throw Unsupported("output_dtype=" + std::to_string(output_type) + " is not supported");
  }
  const eph_value& x = required_constant(node, 0);
  const eph_value& scale = required_constant(node, 1);
  if (scale.element_type != EPH_ELEMENT_FLOAT) throw Unsupported("scales are not float");
  const Dims shape(x.shape, x.shape + x.rank);
  const std::vector<int32_t> integers = integers_of(x);
  const auto scales = eph::elements<float>(scale);
  std::vector<int32_t> zero_points(scales.size(), 0);
  if (node.has_input(2)) zero_points = integers_of(required_constant(node, 2));
  if (scales.size() == 0 || zero_points.size() != scales.size() ||
      std::ssize(integers) != element_count(dims_of_shape(shape))) {
    throw Unsupported("a constant does not have the elements that its shape states");
  }
  const std::size_t length = run_length(node, shape, scales.size());
  std::vector<float> floats;
  floats.reserve(integers.size());
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const std::size_t at = i / length % scales.size();
    const int64_t steps = int64_t{integers[i]} - zero_points[at];
    floats.push_back(static_cast<float>(steps) * scales[at]);
  }
  return node.builder().add_constant(shape, std::move(floats));
}

}  // namespace ephost_dnnl
