#include "host/runtime/frame/slots/aligned_slots.h"

#include <cstring>

#include "host/base/text.h"

namespace ephost::runtime {
namespace {

bool has_bytes_in_host_memory(const eph_value& value) {
  return value.kind == EPH_KIND_TENSOR && value.memory == bridge::kHostMemory &&
         value.element_type != EPH_ELEMENT_STRING && value.data != nullptr && value.byte_size != 0;
}

bool is_aligned(const eph_value& value, uint64_t alignment) {
  return !has_bytes_in_host_memory(value) ||
         reinterpret_cast<uintptr_t>(value.data) % alignment == 0;
}

}  // namespace

AlignedSlots::AlignedSlots(const Program& program, ValueTable& values)
    : program_(program), values_(values), steps_(program.steps().size()) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bridge::Computation* const computation = program.computation(i);
    if (computation == nullptr || computation->host_alignment() <= kAlignment) continue;
    steps_[i] = std::make_unique<Step>();
    steps_[i]->alignment = computation->host_alignment();
    for (const graph::ValueId id : program.steps()[i].inputs) {
      steps_[i]->inputs.emplace_back().id = id;
    }
    for (const graph::ValueId id : program.steps()[i].outputs) {
      steps_[i]->outputs.emplace_back().id = id;
    }
  }
}

Status AlignedSlots::reserve(const Step& step, Slot& slot) const {
  if (slot.capacity < slot.view.byte_size) {
    slot.capacity = 0;
    slot.memory = allocate_aligned(slot.view.byte_size, step.alignment, Sharing::kWithWorkers);
    if (slot.memory == nullptr) {
      return out_of_memory(slot.view.byte_size, "an aligned copy of value " +
                                                    quote(program_.graph().values[slot.id].name));
    }
    slot.capacity = slot.view.byte_size;
  }
  slot.view.data = slot.memory.get();
  return Status::ok_status();
}

Status AlignedSlots::begin(size_t index) {
  Step& step = *steps_[index];
  for (Slot& slot : step.inputs) {
    if (slot.id == graph::kNoValue) continue;
    const eph_value& value = values_[slot.id];
    slot.view = value;
    if (is_aligned(value, step.alignment)) continue;
    EPHOST_RETURN_IF_ERROR(reserve(step, slot));
    std::memcpy(slot.view.data, value.data, value.byte_size);
  }
  for (Slot& slot : step.outputs) EPHOST_RETURN_IF_ERROR(take_output(step, slot));
  return Status::ok_status();
}

Status AlignedSlots::update_output(size_t index, size_t slot) {
  return take_output(*steps_[index], steps_[index]->outputs[slot]);
}

Status AlignedSlots::take_output(Step& step, Slot& slot) {
  slot.is_written_back = false;
  if (slot.id == graph::kNoValue) return Status::ok_status();
  const eph_value& value = values_[slot.id];
  slot.view = value;
  if (is_aligned(value, step.alignment)) return Status::ok_status();
  // A view of an input or constant has its bytes already, and must not be written to.
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  const plan::AllocKind root = plans[plans[slot.id].reused].kind;
  slot.is_written_back =
      root != plan::AllocKind::kPreExisting && root != plan::AllocKind::kAllocateStatically;
  // Where the step may find an output in the memory of an input, it does.
  for (const Slot& input : step.inputs) {
    if (input.id == graph::kNoValue || values_[input.id].data != value.data ||
        input.capacity < value.byte_size) {
      continue;
    }
    slot.view.data = input.view.data;
    return Status::ok_status();
  }
  return reserve(step, slot);
}

void AlignedSlots::keep_output(size_t index, size_t slot) {
  Slot& kept = steps_[index]->outputs[slot];
  kept.view = values_[kept.id];
  kept.is_written_back = false;
}

void AlignedSlots::end(size_t index) {
  for (const Slot& slot : steps_[index]->outputs) {
    if (!slot.is_written_back) continue;
    std::memcpy(values_[slot.id].data, slot.view.data, slot.view.byte_size);
  }
}

}  // namespace ephost::runtime
