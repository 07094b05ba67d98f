#include "host/layers/validate/lent/graph_copies.h"

#include <cstddef>
#include <utility>

namespace ephost::layers {

const eph_string* GraphCopies::copy_texts(const eph_string* texts, uint64_t count) {
  eph_string* const copied = arena_.copy(texts, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) copied[i] = arena_.copy(texts[i]);
  return copied;
}

const eph_key_value* GraphCopies::copy_pairs(const eph_key_value* pairs, uint64_t count) {
  eph_key_value* const copied = arena_.copy(pairs, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) {
    copied[i] = {arena_.copy(pairs[i].key), arena_.copy(pairs[i].value)};
  }
  return copied;
}

const eph_value* GraphCopies::copy_values(const eph_value* values, uint64_t count) {
  eph_value* const copied = arena_.copy(values, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) {
    copied[i].shape = arena_.copy(values[i].shape, values[i].rank);
  }
  return copied;
}

const eph_attribute* GraphCopies::copy_attributes(const eph_attribute* attributes, uint64_t count) {
  eph_attribute* const copied = arena_.copy(attributes, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) {
    const eph_attribute& given = attributes[i];
    copied[i].name = arena_.copy(given.name);
    const auto copy_as = [&]<class T>(const T*) {
      return arena_.copy(static_cast<const T*>(given.values), given.count);
    };
    switch (given.kind) {
      case EPH_ATTRIBUTE_FLOAT:
      case EPH_ATTRIBUTE_FLOATS:
        copied[i].values = copy_as(static_cast<const float*>(nullptr));
        break;
      case EPH_ATTRIBUTE_INT:
      case EPH_ATTRIBUTE_INTS:
        copied[i].values = copy_as(static_cast<const int64_t*>(nullptr));
        break;
      case EPH_ATTRIBUTE_STRING:
      case EPH_ATTRIBUTE_STRINGS:
        copied[i].values = copy_texts(static_cast<const eph_string*>(given.values), given.count);
        break;
      case EPH_ATTRIBUTE_TENSOR:
      case EPH_ATTRIBUTE_TENSORS:
        copied[i].values = copy_values(static_cast<const eph_value*>(given.values), given.count);
        for (uint64_t t = 0; t < given.count; ++t) {
          attributes_.add(given.name, static_cast<const eph_value*>(given.values)[t]);
        }
        break;
      case EPH_ATTRIBUTE_GRAPH:
      case EPH_ATTRIBUTE_GRAPHS: {
        const auto** const graphs = copy_as(static_cast<const eph_graph* const*>(nullptr));
        for (uint64_t g = 0; g < given.count; ++g) graphs[g] = wrap_(graphs[g]);
        copied[i].values = graphs;
        break;
      }
      default:  // sparse tensors, and kinds of later versions: the host's own
        break;
    }
  }
  return copied;
}

const eph_type* GraphCopies::copy_type(const eph_type* type) {
  eph_type* const copied = arena_.copy(type, 1);
  if (copied == nullptr) return nullptr;
  const uint64_t rank = type->rank > 0 ? static_cast<uint64_t>(type->rank) : 0;
  copied->shape = arena_.copy(type->shape, rank);
  copied->dim_names = copy_texts(type->dim_names, rank);
  copied->content = copy_type(type->content);
  return copied;
}

eph_graph_info GraphCopies::graph(const eph_graph_info& given) {
  const std::lock_guard lock(mutex_);
  const auto known = graph_.find(0);
  if (known != graph_.end()) return known->second;
  eph_graph_info copied = given;
  copied.name = arena_.copy(given.name);
  copied.inputs = arena_.copy(given.inputs, given.input_count);
  copied.outputs = arena_.copy(given.outputs, given.output_count);
  eph_opset* const opsets = arena_.copy(given.opsets, given.opset_count);
  for (uint64_t i = 0; opsets != nullptr && i < given.opset_count; ++i) {
    opsets[i].domain = arena_.copy(given.opsets[i].domain);
  }
  copied.opsets = opsets;
  copied.metadata = copy_pairs(given.metadata, given.metadata_count);
  return graph_.emplace(0, copied).first->second;
}

eph_node_info GraphCopies::node(uint32_t index, const eph_node_info& given) {
  const std::lock_guard lock(mutex_);
  const auto known = nodes_.find(index);
  if (known != nodes_.end()) return known->second;
  eph_node_info copied = given;
  copied.name = arena_.copy(given.name);
  copied.op_type = arena_.copy(given.op_type);
  copied.domain = arena_.copy(given.domain);
  copied.overload = arena_.copy(given.overload);
  copied.inputs = arena_.copy(given.inputs, given.input_count);
  copied.outputs = arena_.copy(given.outputs, given.output_count);
  copied.implicit_inputs = arena_.copy(given.implicit_inputs, given.implicit_input_count);
  copied.attributes = copy_attributes(given.attributes, given.attribute_count);
  copied.metadata = copy_pairs(given.metadata, given.metadata_count);
  return nodes_.emplace(index, copied).first->second;
}

eph_value_info GraphCopies::value(uint32_t index, const eph_value_info& given) {
  const std::lock_guard lock(mutex_);
  const auto known = values_.find(index);
  if (known != values_.end()) return known->second;
  eph_value_info copied = given;
  const uint64_t rank = given.rank > 0 ? static_cast<uint64_t>(given.rank) : 0;
  copied.name = arena_.copy(given.name);
  copied.shape = arena_.copy(given.shape, rank);
  copied.dim_names = copy_texts(given.dim_names, rank);
  copied.consumers = arena_.copy(given.consumers, given.consumer_count);
  copied.constant = copy_values(given.constant, given.constant == nullptr ? 0 : 1);
  copied.content = copy_type(given.content);
  if (given.constant != nullptr) constants_.add(given.name, *given.constant);
  return values_.emplace(index, copied).first->second;
}

eph_bytes GraphCopies::onnx(eph_bytes given) {
  const std::lock_guard lock(mutex_);
  const auto known = onnx_.find(given.data);
  if (known != onnx_.end()) return known->second;
  const auto* const bytes = static_cast<const std::byte*>(given.data);
  const eph_bytes copied = {arena_.copy(bytes, given.size), given.size};
  return onnx_.emplace(given.data, copied).first->second;
}

std::vector<Finding> GraphCopies::findings() {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> found = constants_.findings();
  const std::vector<Finding> of_attributes = attributes_.findings();
  found.insert(found.end(), of_attributes.begin(), of_attributes.end());
  return found;
}

ConstantChecksums GraphCopies::constants() const {
  const std::lock_guard lock(mutex_);
  return constants_;
}

void GraphCopies::poison() noexcept {
  const std::lock_guard lock(mutex_);
  arena_.poison();
}

size_t GraphCopies::bytes() const {
  const std::lock_guard lock(mutex_);
  return sizeof(*this) + arena_.bytes();
}

}  // namespace ephost::layers
