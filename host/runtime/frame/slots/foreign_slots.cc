#include "host/runtime/frame/slots/foreign_slots.h"

#include "host/bridge/provider.h"

namespace ephost::runtime {

ForeignSlots::ForeignSlots(const Program& program, ValueTable& values)
    : values_(values), steps_(program.steps().size()) {
  if (program.devices().empty()) return;
  const std::vector<plan::ValuePlan>& plans = program.allocation().values;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bridge::Computation* const computation = program.computation(i);
    if (computation == nullptr) continue;
    const auto add = [&](const std::vector<graph::ValueId>& ids, bool is_output) {
      for (size_t slot = 0; slot < ids.size(); ++slot) {
        if (ids[slot] == graph::kNoValue) continue;
        const uint32_t location = plans[ids[slot]].location;
        const uint32_t memory = program.memory_at(location, computation->provider());
        if (memory == program.memory_at(location)) continue;
        steps_[i].push_back({is_output, slot, ids[slot], memory});
      }
    };
    add(program.steps()[i].inputs, false);
    add(program.steps()[i].outputs, true);
  }
}

eph_value* ForeignSlots::find(size_t step, bool is_output, size_t slot) {
  for (Slot& known : steps_[step]) {
    if (known.is_output == is_output && known.number == slot) return &known.view;
  }
  return nullptr;
}

// A constant, or an input of the application, may lie in host memory after all.
void ForeignSlots::update(size_t step) {
  for (Slot& slot : steps_[step]) {
    slot.view = values_[slot.id];
    if (slot.view.memory != bridge::kHostMemory) slot.view.memory = slot.memory;
  }
}

}  // namespace ephost::runtime
