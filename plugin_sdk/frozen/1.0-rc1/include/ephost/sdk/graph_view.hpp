// graph_view.hpp: read access to a graph of the host and the data of its constants. Views own
// nothing: they are valid as long as the graph (see eph_graph).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string>
#include <string_view>

namespace eph {

// Elements of a constant or of a run-time tensor. Throws Failure unless T is the element type.
template <class T>
[[nodiscard]] ArrayView<T> elements(const eph_value& value) {
  if (value.element_type != element_type_of<T>()) {
    throw Failure(EPH_INVALID_GRAPH, "a tensor has element type " +
                                         std::to_string(value.element_type) + ", expected " +
                                         std::to_string(element_type_of<T>()));
  }
  return {static_cast<const T*>(value.data), static_cast<std::size_t>(value.byte_size / sizeof(T))};
}

[[nodiscard]] inline ArrayView<int64_t> shape_of(const eph_value& value) {
  return {value.shape, value.rank};
}

// Extents, -1 for an unknown one; empty if the rank is unknown.
[[nodiscard]] inline ArrayView<int64_t> shape_of(const eph_type& type) {
  return {type.shape, type.rank > 0 ? static_cast<std::size_t>(type.rank) : 0};
}

// The value under `key`, or null.
[[nodiscard]] inline const eph_string* find_entry(ArrayView<eph_key_value> entries,
                                                  std::string_view key) {
  for (const eph_key_value& entry : entries) {
    if (view(entry.key) == key) return &entry.value;
  }
  return nullptr;
}

// The elements of a run-time sequence, or the keys and the values of a map.
[[nodiscard]] inline ArrayView<eph_value> parts_of(const eph_value& value) {
  if (value.kind != EPH_KIND_SEQUENCE && value.kind != EPH_KIND_MAP) {
    throw Failure(EPH_INVALID_ARGUMENT, "a value of kind " + std::to_string(value.kind) +
                                            " is neither a sequence nor a map");
  }
  return {static_cast<const eph_value*>(value.data),
          static_cast<std::size_t>(value.byte_size / sizeof(eph_value))};
}

class NodeView {
 public:
  NodeView(uint32_t index, const eph_node_info& info) : index_(index), info_(info) {}

  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] std::string_view op_type() const { return view(info_.op_type); }
  [[nodiscard]] std::string_view domain() const { return view(info_.domain); }
  [[nodiscard]] int32_t since_version() const { return info_.since_version; }
  [[nodiscard]] bool is_taken() const { return (info_.flags & EPH_NODE_TAKEN) != 0; }
  // Value indices; EPH_NONE for an omitted one.
  [[nodiscard]] ArrayView<uint32_t> inputs() const { return {info_.inputs, info_.input_count}; }
  [[nodiscard]] ArrayView<uint32_t> outputs() const { return {info_.outputs, info_.output_count}; }
  // The i-th input, or EPH_NONE if there are fewer.
  [[nodiscard]] uint32_t input(std::size_t i) const {
    return i < info_.input_count ? info_.inputs[i] : EPH_NONE;
  }
  [[nodiscard]] uint32_t output(std::size_t i) const {
    return i < info_.output_count ? info_.outputs[i] : EPH_NONE;
  }
  // Outer values that the node's subgraphs read.
  [[nodiscard]] ArrayView<uint32_t> implicit_inputs() const {
    return {info_.implicit_inputs, info_.implicit_input_count};
  }
  [[nodiscard]] ArrayView<eph_attribute> attributes() const {
    return {info_.attributes, info_.attribute_count};
  }
  // Which overload of a function of the model is called; mostly empty.
  [[nodiscard]] std::string_view overload() const { return view(info_.overload); }
  // The node's metadata_props; see `find_entry`.
  [[nodiscard]] ArrayView<eph_key_value> metadata() const {
    return {info_.metadata, info_.metadata_count};
  }

  // The attribute, or null.
  [[nodiscard]] const eph_attribute* attribute(std::string_view attribute_name) const {
    for (const eph_attribute& candidate : attributes()) {
      if (view(candidate.name) == attribute_name) return &candidate;
    }
    return nullptr;
  }
  // These return the fallback if the attribute is absent, and throw if it has another kind.
  [[nodiscard]] int64_t get_int(std::string_view attribute_name, int64_t fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_INT);
    return found ? *static_cast<const int64_t*>(found->values) : fallback;
  }
  [[nodiscard]] float get_float(std::string_view attribute_name, float fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_FLOAT);
    return found ? *static_cast<const float*>(found->values) : fallback;
  }
  [[nodiscard]] std::string_view get_string(std::string_view attribute_name,
                                            std::string_view fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_STRING);
    return found ? view(*static_cast<const eph_string*>(found->values)) : fallback;
  }
  [[nodiscard]] ArrayView<int64_t> get_ints(std::string_view attribute_name) const {
    return array<int64_t>(attribute_name, EPH_ATTRIBUTE_INTS);
  }
  [[nodiscard]] ArrayView<float> get_floats(std::string_view attribute_name) const {
    return array<float>(attribute_name, EPH_ATTRIBUTE_FLOATS);
  }
  [[nodiscard]] ArrayView<eph_string> get_strings(std::string_view attribute_name) const {
    return array<eph_string>(attribute_name, EPH_ATTRIBUTE_STRINGS);
  }
  [[nodiscard]] const eph_value* get_tensor(std::string_view attribute_name) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_TENSOR);
    return found ? static_cast<const eph_value*>(found->values) : nullptr;
  }

 private:
  [[nodiscard]] const eph_attribute* checked(std::string_view attribute_name, int32_t kind) const {
    const eph_attribute* found = attribute(attribute_name);
    if (found != nullptr && found->kind != kind) {
      throw Failure(EPH_INVALID_GRAPH, std::string(op_type()) + " node '" + std::string(name()) +
                                           "': attribute '" + std::string(attribute_name) +
                                           "' has kind " + std::to_string(found->kind) +
                                           ", expected " + std::to_string(kind));
    }
    return found;
  }
  template <class T>
  [[nodiscard]] ArrayView<T> array(std::string_view attribute_name, int32_t kind) const {
    const eph_attribute* found = checked(attribute_name, kind);
    if (found == nullptr) return {};
    return {static_cast<const T*>(found->values), static_cast<std::size_t>(found->count)};
  }

  uint32_t index_;
  eph_node_info info_;
};

class ValueView {
 public:
  ValueView(uint32_t index, const eph_value_info& info) : index_(index), info_(info) {}

  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] int32_t kind() const { return info_.kind; }
  [[nodiscard]] int32_t element_type() const { return info_.element_type; }
  [[nodiscard]] bool has_rank() const { return info_.rank >= 0; }
  // Extents, -1 for an unknown one; empty if the rank is unknown.
  [[nodiscard]] ArrayView<int64_t> shape() const {
    return {info_.shape, info_.rank > 0 ? static_cast<std::size_t>(info_.rank) : 0};
  }
  [[nodiscard]] bool has_static_shape() const {
    const ArrayView<int64_t> extents = shape();
    return has_rank() &&
           std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent >= 0; });
  }
  // The symbol of an extent of `shape`; empty if it has none.
  [[nodiscard]] std::string_view dim_name(uint32_t axis) const {
    return info_.dim_names == nullptr ? std::string_view() : view(info_.dim_names[axis]);
  }
  [[nodiscard]] bool is_graph_input() const { return (info_.flags & EPH_VALUE_GRAPH_INPUT) != 0; }
  [[nodiscard]] bool is_graph_output() const { return (info_.flags & EPH_VALUE_GRAPH_OUTPUT) != 0; }
  [[nodiscard]] uint32_t producer() const { return info_.producer; }
  [[nodiscard]] ArrayView<uint32_t> consumers() const {
    return {info_.consumers, info_.consumer_count};
  }
  [[nodiscard]] bool is_outer() const { return (info_.flags & EPH_VALUE_OUTER_SCOPE) != 0; }
  // The data, or null if the value is not a constant.
  [[nodiscard]] const eph_value* constant() const { return info_.constant; }
  // The type of what a sequence, map or optional contains; null for others.
  [[nodiscard]] const eph_type* content() const { return info_.content; }

 private:
  uint32_t index_;
  eph_value_info info_;
};

class GraphView {
 public:
  explicit GraphView(const eph_graph* graph) : graph_(graph) {
    info_.struct_size = sizeof(info_);
    detail::ThrowingError error;
    error.check(graph->api->get_graph(graph, &info_, &error));
  }

  [[nodiscard]] const eph_graph* handle() const { return graph_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] uint32_t node_count() const { return static_cast<uint32_t>(info_.node_count); }
  [[nodiscard]] uint32_t value_count() const { return static_cast<uint32_t>(info_.value_count); }
  [[nodiscard]] ArrayView<uint32_t> inputs() const { return {info_.inputs, info_.input_count}; }
  [[nodiscard]] ArrayView<uint32_t> outputs() const { return {info_.outputs, info_.output_count}; }
  // The body of a node or function, rather than the model's own graph or a partition.
  [[nodiscard]] bool is_body() const { return (info_.flags & EPH_GRAPH_BODY) != 0; }
  [[nodiscard]] int64_t ir_version() const { return info_.ir_version; }
  // Every domain that the model imports, once.
  [[nodiscard]] ArrayView<eph_opset> opsets() const { return {info_.opsets, info_.opset_count}; }
  // The model's metadata_props; see `find_entry`.
  [[nodiscard]] ArrayView<eph_key_value> metadata() const {
    return {info_.metadata, info_.metadata_count};
  }

  // Throw if the index is out of range.
  [[nodiscard]] NodeView node(uint32_t index) const {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    detail::ThrowingError error;
    error.check(graph_->api->get_node(graph_, index, &info, &error));
    return {index, info};
  }
  [[nodiscard]] ValueView value(uint32_t index) const {
    eph_value_info info = {};
    info.struct_size = sizeof(info);
    detail::ThrowingError error;
    error.check(graph_->api->get_value(graph_, index, &info, &error));
    return {index, info};
  }
  // The index of the value with that name; EPH_NONE if there is none.
  [[nodiscard]] uint32_t find_value(std::string_view value_name) const {
    uint32_t found = EPH_NONE;
    detail::ThrowingError error;
    const int32_t code = graph_->api->find_value(graph_, to_abi(value_name), &found, &error);
    if (code != EPH_NOT_FOUND) error.check(code);
    return found;
  }
  // The constant behind input `i` of a node, or null.
  [[nodiscard]] const eph_value* constant_input(const NodeView& of, std::size_t i) const {
    return of.input(i) == EPH_NONE ? nullptr : value(of.input(i)).constant();
  }
  // 0 if the model does not import the domain.
  [[nodiscard]] int64_t opset(std::string_view domain) const {
    return graph_->api->get_opset(graph_, to_abi(domain));
  }
  // The graph as a serialised ModelProto; lives as long as the graph. Constants of `outside_bytes`
  // or more are external tensors with the location "eph:value/N"; 0: all are inside.
  [[nodiscard]] std::string_view onnx(uint64_t outside_bytes = 0) const {
    eph_bytes bytes = {};
    detail::ThrowingError error;
    error.check(graph_->api->get_onnx(graph_, outside_bytes, &bytes, &error));
    return {static_cast<const char*>(bytes.data), static_cast<std::size_t>(bytes.size)};
  }

 private:
  const eph_graph* graph_;
  eph_graph_info info_ = {};
};

}  // namespace eph
