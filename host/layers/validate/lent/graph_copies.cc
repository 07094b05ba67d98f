#include "host/layers/validate/lent/graph_copies.h"

#include <span>
#include <utility>

namespace ephost::layers {
namespace {

Hash128 checksum_of(const void* data, uint64_t size) {
  return content_checksum({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

}  // namespace

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

void GraphCopies::note_constant(const eph_value_info& info) {
  const eph_value& constant = *info.constant;
  if (constant.kind != EPH_KIND_TENSOR || constant.data == nullptr || constant.byte_size == 0) {
    return;
  }
  constants_.try_emplace(constant.data,
                         Constant{std::string(info.name.data, info.name.size), constant.byte_size,
                                  checksum_of(constant.data, constant.byte_size)});
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
  if (given.constant != nullptr) note_constant(given);
  return values_.emplace(index, copied).first->second;
}

std::vector<std::string> GraphCopies::changed_constants() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> changed;
  for (const auto& [data, constant] : constants_) {
    if (checksum_of(data, constant.size) != constant.checksum) changed.push_back(constant.name);
  }
  return changed;
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
