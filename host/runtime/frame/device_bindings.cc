#include "host/runtime/frame/device_bindings.h"

#include <optional>
#include <utility>

#include "host/runtime/values/composite.h"
#include "host/runtime/values/device_value.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

const DeviceEnd* DeviceBindings::find_end(std::span<const DeviceEnd> ends, size_t index,
                                          const Value& value) const {
  if (index >= ends.size() || ends[index].on_device == graph::kNoValue) return nullptr;
  const uint32_t location = program_.allocation().values[ends[index].on_device].location;
  return program_.devices()[location - 1].memory == *value.memory() ? &ends[index] : nullptr;
}

eph_value DeviceBindings::view_on(const DeviceEnd& end, const Value& value) const {
  eph_value view = view_of(value);
  view.data = value.extent().empty() ? empty_tensor_memory() : value.extent().data();
  view.byte_size = value.extent().size();
  view.memory = memory_of(end);
  return view;
}

Result<eph_value> DeviceBindings::view_input(size_t index, const Value& value) {
  if (const DeviceEnd* const end = find_end(program_.device_ends().inputs, index, value)) {
    return view_on(*end, value);
  }
  EPHOST_ASSIGN_OR_RETURN(Value copy, to_host(value));
  return view_of(staged_.emplace_back(std::move(copy)));
}

void DeviceBindings::bind_input(size_t index, const eph_value& view) {
  if (view.memory == bridge::kHostMemory) return;
  const DeviceEnd& end = program_.device_ends().inputs[index];
  if (!end.is_alone) return;
  values_.set_view(end.on_device, view);
  moved_.push_back(end.on_device);
}

void DeviceBindings::take_aside(std::span<Value> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].memory() == nullptr) continue;
    if (find_end(program_.device_ends().outputs, i, outputs[i]) != nullptr) continue;
    aside_.emplace_back(i, std::exchange(outputs[i], Value()));
  }
}

void DeviceBindings::bind_output(size_t index, const Value& value) {
  const DeviceEnd& end = program_.device_ends().outputs[index];
  if (!end.is_alone) return;
  const plan::ValuePlan& planned = program_.allocation().values[end.on_device];
  if (planned.bytes) {
    values_.set_view(end.on_device, view_on(end, value));
    moved_.push_back(end.on_device);
  } else {
    places_.emplace_back(end.on_device, value.extent());
  }
}

uint32_t DeviceBindings::memory_of(size_t output) const {
  return memory_of(program_.device_ends().outputs[output]);
}

std::byte* DeviceBindings::place(graph::ValueId id, uint64_t bytes) const {
  for (const auto& [known, extent] : places_) {
    if (known == id && extent.size() == bytes) return extent.data();
  }
  return nullptr;
}

Status DeviceBindings::collect(std::span<Value> outputs) {
  for (auto& [index, wanted] : aside_) {
    Value& made = outputs[index];
    if (made.kind() != ValueKind::kTensor || made.element_type() == ElementType::kString) continue;
    const bool fits = wanted.has_value() && wanted.element_type() == made.element_type() &&
                      wanted.shape() == made.shape();
    if (fits) {
      EPHOST_RETURN_IF_ERROR(copy_elements(made, wanted));
    } else {
      EPHOST_ASSIGN_OR_RETURN(wanted, to_device(made, *wanted.memory()));
    }
    made = std::move(wanted);
  }
  aside_.clear();
  return Status::ok_status();
}

void DeviceBindings::end_run(std::span<Value> outputs) {
  for (const graph::ValueId id : moved_) put_back(id);
  moved_.clear();
  places_.clear();
  staged_.clear();
  for (auto& [index, wanted] : aside_) outputs[index] = std::move(wanted);
  aside_.clear();
}

// Where the pattern has it.
void DeviceBindings::put_back(graph::ValueId id) {
  const graph::ValueType& type = program_.graph().values[id].type;
  const std::optional<uint64_t> bytes = program_.allocation().values[id].bytes;
  std::byte* const place = memory_.place(id);
  if (bytes && *bytes != 0 && place != nullptr) {
    values_.set_tensor(id, place, *bytes, type.element, *type.shape);
  } else if (bytes && *bytes == 0) {
    values_.set_tensor(id, empty_tensor_memory(), 0, type.element, *type.shape);
  } else {
    values_.clear(id);
  }
}

}  // namespace ephost::runtime
