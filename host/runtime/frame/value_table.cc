#include "host/runtime/frame/value_table.h"

#include <algorithm>
#include <utility>

#include "host/runtime/values/composite.h"

namespace ephost::runtime {

ValueTable::ValueTable(const Program& program)
    : program_(program),
      values_(program.graph().values.size()),
      shapes_(program.graph().values.size()) {
  const graph::Graph& graph = program.graph();
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    const graph::Value& value = graph.values[id];
    values_[id] = value.is_constant() ? program.constants()[value.initializer] : unset(id);
    if (is_object(value.type)) objects_.emplace(id, Value());
  }
  for (const auto& [id, data] : program.device_constants().data()) {
    values_[id].data = data;
    values_[id].memory = program.memory_at(program.allocation().values[id].location);
  }
}

// A computation may depend on which of several types an output is wanted in.
eph_value ValueTable::unset(graph::ValueId id) const {
  const graph::ValueType& type = program_.graph().values[id].type;
  eph_value value = {};
  if (!is_object(type)) value.element_type = static_cast<int32_t>(type.element);
  return value;
}

void ValueTable::set_tensor(graph::ValueId id, void* data, uint64_t bytes, ElementType type,
                            std::span<const int64_t> shape) {
  eph_value& value = values_[id];
  if (value.data != data) has_moved_.store(true, std::memory_order_relaxed);
  value.data = data;
  value.shape = shape.data();
  value.byte_size = bytes;
  value.rank = static_cast<uint32_t>(shape.size());
  value.element_type = static_cast<int32_t>(type);
  value.kind = EPH_KIND_TENSOR;
  value.memory = program_.memory_at(program_.allocation().values[id].location);
}

void ValueTable::set_view(graph::ValueId id, const eph_value& view) {
  if (values_[id].data != view.data) has_moved_.store(true, std::memory_order_relaxed);
  values_[id] = view;
}

std::span<const int64_t> ValueTable::keep_shape(graph::ValueId id, std::span<const int64_t> shape) {
  // A computation may hand back the very shape that it was given.
  if (shape.data() != shapes_[id].data()) shapes_[id].assign(shape.begin(), shape.end());
  return shapes_[id];
}

StringTensor& ValueTable::text(graph::ValueId id) {
  const std::lock_guard lock(strings_mutex_);
  return strings_[id];
}

const Value* ValueTable::object(graph::ValueId id) const {
  const auto found = objects_.find(id);
  return found == objects_.end() ? nullptr : &found->second;
}

Value* ValueTable::object(graph::ValueId id) {
  const auto found = objects_.find(id);
  return found == objects_.end() ? nullptr : &found->second;
}

void ValueTable::set_object(graph::ValueId id, Value value) {
  values_[id] = view_of(value);
  objects_[id] = std::move(value);
}

void ValueTable::release_object(graph::ValueId id) {
  if (Value* const kept = object(id)) *kept = Value();
}

void ValueTable::end_run(bool keeps_outputs) {
  for (auto& [id, kept] : objects_) {
    if (!keeps_outputs || !program_.graph().values[id].is_graph_output) kept = Value();
  }
}

bool admits_tensor(const graph::ValueType& type, ElementType element,
                   std::span<const int64_t> shape) {
  if (is_object(type)) return false;
  if (type.element != ElementType::kUndefined && type.element != element) return false;
  return !type.shape || std::ranges::equal(*type.shape, shape, [](int64_t stated, int64_t extent) {
    return !graph::is_static_dim(stated) || stated == extent;
  });
}

}  // namespace ephost::runtime
