#include "host/plan/check/step_uses.h"

#include <algorithm>

#include "host/base/format.h"

namespace ephost::plan {

StepUses::StepUses(const ExecutionPlan& plan, const AllocationPlan& allocation,
                   const MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes)
    : plan_(plan),
      allocation_(allocation),
      pattern_(pattern),
      sizes_(sizes),
      count_(static_cast<uint32_t>(plan.steps.size())),
      reads_(count_),
      writes_(count_) {
  for (uint32_t pc = 0; pc < count_; ++pc) {
    const Step& step = plan_.steps[pc];
    for (const ValueId id : step.inputs) add(id, reads_[pc]);
    for (const ValueId id : step.implicit_inputs) add(id, reads_[pc]);
    for (const ValueId id : step.outputs) add(id, writes_[pc]);
  }
  for (const Workspace& workspace : allocation_.workspaces) {
    const uint64_t offset = pattern_.workspace_offsets[workspace.pc];
    if (offset == kNoOffset) continue;
    writes_[workspace.pc].insert({kNoValue, workspace.location, offset, offset + workspace.bytes});
  }
}

// Inputs and constants are never written; an apparent write is a view of them.
void StepUses::add(ValueId id, std::set<Piece>& pieces) const {
  if (id == kNoValue || allocation_.values[id].reused == kNoValue) return;
  const ValuePlan& value = allocation_.values[id];
  const ValuePlan& root = allocation_.values[value.reused];
  if (root.kind == AllocKind::kPreExisting || root.kind == AllocKind::kAllocateStatically) return;
  Piece piece = {value.reused, root.location, 0, UINT64_MAX};
  const bool is_fixed = value.bytes && size_of(id);
  if (is_fixed) {
    piece.begin = value.offset;
    piece.end = value.offset + *size_of(id);
  }
  if (const uint64_t base = pattern_.offsets[value.reused]; base != kNoOffset) {
    piece.buffer = kNoValue;
    piece.begin += base;
    piece.end = base + (is_fixed ? piece.end : size_of_buffer(value.reused));
  }
  pieces.insert(piece);
}

uint64_t StepUses::size_of_buffer(ValueId root) const {
  uint64_t size = 0;
  for (ValueId id = 0; id < allocation_.values.size(); ++id) {
    if (allocation_.values[id].reused != root) continue;
    size = std::max(size, allocation_.values[id].offset + size_of(id).value_or(0));
  }
  return size;
}

Status StepUses::check(const KnownOrder& order) const {
  EPHOST_RETURN_IF_ERROR(check_reads(order));
  for (uint32_t later = 0; later < count_; ++later) {
    for (uint32_t earlier = 0; earlier < later; ++earlier) {
      if (order[later][earlier] || !conflict(earlier, later)) continue;
      return {StatusCode::kFail,
              formatted("steps {} and {} use the same memory, but neither waits for the other",
                        earlier, later)};
    }
  }
  return Status::ok_status();
}

Status StepUses::check_reads(const KnownOrder& order) const {
  std::vector<uint32_t> producer(allocation_.values.size(), count_);
  for (uint32_t pc = 0; pc < count_; ++pc) {
    const Step& step = plan_.steps[pc];
    for (const auto* ids : {&step.inputs, &step.implicit_inputs}) {
      for (const ValueId id : *ids) {
        if (id == kNoValue || producer[id] == count_ || order[pc][producer[id]]) continue;
        return {StatusCode::kFail,
                formatted("step {} does not wait for the producer of an input", pc)};
      }
    }
    for (const ValueId id : step.outputs) {
      if (id != kNoValue) producer[id] = pc;
    }
  }
  return Status::ok_status();
}

bool StepUses::meet(const std::set<Piece>& some, const std::set<Piece>& others) {
  return std::ranges::any_of(some, [&](const Piece& a) {
    return std::ranges::any_of(others, [&](const Piece& b) { return a.meets(b); });
  });
}

bool StepUses::conflict(uint32_t a, uint32_t b) const {
  return meet(writes_[a], writes_[b]) || meet(writes_[a], reads_[b]) || meet(writes_[b], reads_[a]);
}

}  // namespace ephost::plan
