#include "plugins/dnnl/lowering/node_context.h"

#include <algorithm>

#include "plugins/dnnl/executor/element_types.h"

namespace ephost_dnnl {
namespace {

std::string_view element_type_name(int32_t type) {
  static constexpr std::string_view kNames[] = {
      "undefined", "float",  "uint8",     "int8",       "uint16",  "int16",
      "int32",     "int64",  "string",    "bool",       "float16", "double",
      "uint32",    "uint64", "complex64", "complex128", "bfloat16"};
  return type >= 0 && type < static_cast<int32_t>(std::size(kNames)) ? kNames[type] : "other";
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

}  // namespace

ElementType ValueMap::type(uint32_t value) const {
  const eph::ValueView view = graph_.value(value);
  if (view.kind() != EPH_KIND_TENSOR) throw Unsupported(quoted(view.name()) + " is not a tensor");
  const std::optional<ElementType> type = from_abi(view.element_type());
  if (!type) {
    throw Unsupported("element type " + std::string(element_type_name(view.element_type())) +
                      " of " + quoted(view.name()));
  }
  return *type;
}

Dims ValueMap::shape(uint32_t value) const {
  static_cast<void>(type(value));
  const eph::ValueView view = graph_.value(value);
  Dims dims = view.shape().to_vector();
  if (view.has_static_shape()) return dims;
  if (open_extent_ == 0 || dims.size() < 2 || dims.back() < 0) {
    throw Unsupported("dynamic shape of " + quoted(view.name()));
  }
  std::replace_if(
      dims.begin(), dims.end(), [](int64_t extent) { return extent < 0; }, open_extent_);
  return dims;
}

TensorId ValueMap::tensor(uint32_t value) {
  const auto known = tensors_.find(value);
  if (known != tensors_.end()) return known->second;
  const Dims dims = shape(value);
  const ElementType element_type = type(value);
  const eph_value* constant = graph_.value(value).constant();
  if (constant == nullptr) return tensors_[value] = builder_.add_input(dims, element_type);
  const TensorId tensor = builder_.add_constant(dims, constant->data, element_type);
  if (constant->element_type != to_abi(element_type) ||
      constant->byte_size / size_of(element_type) !=
          static_cast<uint64_t>(element_count(builder_.dims(tensor)))) {
    throw Unsupported("constant " + quoted(graph_.value(value).name()) +
                      " doesn't hold what its shape says");
  }
  return tensors_[value] = tensor;
}

void ValueMap::require_stated_shape(uint32_t value, TensorId tensor) const {
  const Dims stated = dims_of_shape(shape(value));
  if (stated != builder_.dims(tensor)) {
    throw Unsupported("the model declares shape " + to_text(stated) + ", the operator gives " +
                      to_text(builder_.dims(tensor)));
  }
  if (type(value) != builder_.type(tensor)) {
    throw Unsupported("the model declares another element type than the operator gives");
  }
}

TensorId NodeContext::input(std::size_t i) {
  if (!has_input(i)) throw Unsupported("input " + std::to_string(i) + " is left out");
  return values_.tensor(node_.input(i));
}

Dims NodeContext::output_dims() const { return dims_of_shape(values_.shape(node_.output(0))); }

const eph_value* NodeContext::constant(std::size_t i) const {
  if (!has_input(i)) return nullptr;
  const eph_value* found = graph().constant_input(node_, i);
  if (found == nullptr) {
    throw Unsupported("input " + quoted(graph().value(node_.input(i)).name()) +
                      " is not a constant");
  }
  return found;
}

std::optional<std::vector<int64_t>> NodeContext::constant_ints(std::size_t i) const {
  const eph_value* found = constant(i);
  if (found == nullptr) return std::nullopt;
  return eph::elements<int64_t>(*found).to_vector();
}

std::optional<float> NodeContext::constant_scalar(std::size_t i) const {
  const eph_value* found = constant(i);
  if (found == nullptr) return std::nullopt;
  if (found->element_type != EPH_ELEMENT_FLOAT || found->byte_size != sizeof(float)) {
    throw Unsupported("input " + std::to_string(i) + " is not one float");
  }
  return eph::elements<float>(*found)[0];
}

Dims NodeContext::ints_or(std::string_view name, std::size_t count, int64_t fallback) const {
  if (node_.attribute(name) == nullptr) return Dims(count, fallback);
  Dims values = node_.get_ints(name).to_vector();
  if (values.size() != count) {
    throw Unsupported("attribute " + quoted(name) + " has " + std::to_string(values.size()) +
                      " values, expected " + std::to_string(count));
  }
  return values;
}

bool NodeContext::is_read(std::size_t i) const {
  if (i >= node_.outputs().size() || node_.output(i) == EPH_NONE) return false;
  const eph::ValueView value = graph().value(node_.output(i));
  return !value.consumers().empty() || value.is_graph_output();
}

void NodeContext::bind_output(std::size_t i, TensorId tensor) {
  values_.require_stated_shape(node_.output(i), tensor);
  values_.bind(node_.output(i), tensor);
}

void NodeContext::require_single_output() const {
  for (std::size_t i = 1; i < node_.outputs().size(); ++i) {
    if (is_read(i)) {
      throw Unsupported("output " + quoted(graph().value(node_.output(i)).name()) + " is read");
    }
  }
}

int64_t normalised_axis(int64_t axis, std::size_t rank) {
  const auto extent = static_cast<int64_t>(rank);
  if (axis < -extent || axis >= extent) {
    throw Unsupported("axis " + std::to_string(axis) + " is out of range");
  }
  return axis < 0 ? axis + extent : axis;
}

}  // namespace ephost_dnnl
