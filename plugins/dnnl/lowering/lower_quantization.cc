// QuantizeLinear, and DequantizeLinear of activations and of constants: weights that a model stores
// as integers stay integers until a pass or the packing of constants reads them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/element_types.h"
#include "plugins/dnnl/lowering/node_lowerings.h"
#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {
namespace {

const eph_value& required_constant(const NodeContext& node, std::size_t i) {
  const eph_value* const value = node.constant(i);
  if (value == nullptr) throw Unsupported("input " + std::to_string(i) + " is left out");
  return *value;
}

std::size_t size_of_integers(const eph_value& value) {
  switch (value.element_type) {
    case EPH_ELEMENT_INT8:
    case EPH_ELEMENT_UINT8:
      return 1;
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
      return 2;
    case EPH_ELEMENT_INT32:
      return 4;
    default:
      throw Unsupported("quantised constants of this element type are not supported");
  }
}

// A constant with scales yet to be set.
QuantizedConstant integers_of(const eph_value& value) {
  QuantizedConstant constant;
  constant.integers = value.data;
  constant.type = value.element_type;
  constant.byte_size = value.byte_size;
  constant.count = static_cast<std::size_t>(value.byte_size / size_of_integers(value));
  return constant;
}

std::vector<int32_t> all_of(const QuantizedConstant& constant) {
  std::vector<int32_t> integers(constant.count);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = constant.integer(i);
  return integers;
}

std::vector<float> read_scales(const NodeContext& node) {
  const eph_value& scale = required_constant(node, 1);
  if (scale.element_type != EPH_ELEMENT_FLOAT) throw Unsupported("scales are not float");
  return eph::elements<float>(scale).to_vector();
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

void require_no_blocks(const NodeContext& node) {
  if (node.node().get_int("block_size", 0) != 0) throw Unsupported("block_size is not supported");
}

void require_type(const NodeContext& node, const char* attribute, int32_t type) {
  const int64_t stated = node.node().get_int(attribute, 0);
  if (stated != 0 && stated != type) {
    throw Unsupported(std::string(attribute) + "=" + std::to_string(stated) + " is not supported");
  }
}

TensorId dequantized_constant(NodeContext& node, const eph_value& x) {
  const Dims shape(x.shape, x.shape + x.rank);
  QuantizedConstant constant = integers_of(x);
  constant.scales = read_scales(node);
  constant.zero_points.assign(constant.scales.size(), 0);
  if (node.has_input(2)) constant.zero_points = all_of(integers_of(required_constant(node, 2)));
  if (constant.scales.empty() || constant.zero_points.size() != constant.scales.size() ||
      static_cast<int64_t>(constant.count) != element_count(dims_of_shape(shape))) {
    throw Unsupported("a constant does not have the elements of its shape");
  }
  constant.run = run_length(node, shape, constant.scales.size());
  return node.builder().add_constant(shape, std::move(constant));
}

// The one scale and zero point of a tensor that is computed in every run.
struct ActivationQuantization {
  float scale = 1;
  int64_t zero_point = 0;
};

ActivationQuantization activation_quantization(const NodeContext& node, ElementType type) {
  const std::vector<float> scales = read_scales(node);
  if (scales.size() != 1) throw Unsupported("an activation has one scale for each channel");
  if (!is_valid_scale(scales[0])) throw Unsupported("a scale is not positive");
  if (!node.has_input(2)) return {scales[0], 0};
  const QuantizedConstant zero_points = integers_of(required_constant(node, 2));
  const bool fits = zero_points.type == to_abi(type) && zero_points.count == 1;
  if (!fits) throw Unsupported("the zero point is not one number of the quantised type");
  return {scales[0], zero_points.integer(0)};
}

}  // namespace

TensorId lower_dequantize(NodeContext& node) {
  require_no_blocks(node);
  require_type(node, "output_dtype", EPH_ELEMENT_FLOAT);
  if (const eph_value* x = node.graph().constant_input(node.node(), 0)) {
    return dequantized_constant(node, *x);
  }
  const TensorId data = node.input(0);
  const ElementType type = node.builder().type(data);
  if (!is_integer(type)) throw Unsupported("the input is not quantised");
  const auto [scale, zero_point] = activation_quantization(node, type);
  return node.builder().add(Conversion{ElementType::kF32, scale, 1, zero_point, 0}, {data});
}

TensorId lower_quantize(NodeContext& node) {
  require_no_blocks(node);
  require_type(node, "precision", EPH_ELEMENT_FLOAT);
  const TensorId data = node.input(0);
  const ElementType type = node.output_type();
  if (is_integer(node.builder().type(data)) || !is_integer(type)) {
    throw Unsupported("only floats are quantised, and to 8 bits");
  }
  const auto [scale, zero_point] = activation_quantization(node, type);
  return node.builder().add(Conversion{type, 1, scale, 0, zero_point}, {data});
}

}  // namespace ephost_dnnl
