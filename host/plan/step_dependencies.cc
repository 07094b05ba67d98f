#include "host/plan/step_dependencies.h"

#include <algorithm>
#include <map>

namespace ephost::plan {
namespace {

constexpr uint32_t kNoStep = UINT32_MAX;

// Walks the steps in order and keeps for each piece of memory who wrote it last and who has used it
// since: those the next writer waits for. It is enough to wait for these, since they wait for the
// writers before.
class DependencyFinder {
 public:
  DependencyFinder(const ExecutionPlan& execution, const AllocationPlan& allocation,
                   const MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes)
      : execution_(execution),
        allocation_(allocation),
        pattern_(pattern),
        producer_(allocation.values.size(), kNoStep),
        users_(allocation.values.size() + allocation.workspaces.size()),
        bytes_(allocation.values.size(), 0),
        seen_at_(execution.steps.size(), kNoStep),
        predecessors_(execution.steps.size()) {
    for (ValueId id = 0; id < allocation.values.size(); ++id) {
      const ValuePlan& value = allocation.values[id];
      if (value.reused == kNoValue) continue;
      const std::optional<uint64_t>& bytes = sizes.empty() ? value.bytes : sizes[id];
      bytes_[value.reused] = std::max(bytes_[value.reused], bytes.value_or(0));
    }
  }

  StepDependencies run() && {
    for (uint32_t pc = 0; pc < execution_.steps.size(); ++pc) visit(pc);
    return to_lists();
  }

 private:
  // Memory is known by an index: of the value that owns it, or behind these of the workspace.
  using Owner = uint32_t;

  void visit(uint32_t pc) {
    const Step& step = execution_.steps[pc];
    for (const ValueId id : step.inputs) read(id, pc);
    for (const ValueId id : step.implicit_inputs) read(id, pc);
    while (next_buffer_ < allocation_.buffers.size() &&
           allocation_.buffers[next_buffer_].first_pc == pc) {
      const BufferPlan& buffer = allocation_.buffers[next_buffer_++];
      take_place(buffer.root, buffer.location, pattern_.offsets[buffer.root], bytes_[buffer.root],
                 pc);
    }
    while (next_workspace_ < allocation_.workspaces.size() &&
           allocation_.workspaces[next_workspace_].pc == pc) {
      const auto owner = static_cast<Owner>(allocation_.values.size() + next_workspace_);
      const Workspace& workspace = allocation_.workspaces[next_workspace_++];
      take_place(owner, workspace.location, pattern_.workspace_offsets[pc], workspace.bytes, pc);
      users_[owner] = {pc};
    }
    for (const ValueId id : step.outputs) write(id, pc);
  }

  void read(ValueId id, uint32_t pc) {
    if (id == kNoValue) return;
    wait_for(producer_[id], pc);
    const Owner owner = owner_of(id);
    if (owner == kNoValue) return;
    if (!users_[owner].empty()) wait_for(users_[owner].front(), pc);  // the last writer
    users_[owner].push_back(pc);
  }

  void write(ValueId id, uint32_t pc) {
    if (id == kNoValue) return;
    producer_[id] = pc;
    const Owner owner = owner_of(id);
    if (owner == kNoValue) return;
    for (const uint32_t user : users_[owner]) wait_for(user, pc);
    users_[owner] = {pc};
  }

  // None for what lies in inputs and constants: nobody writes there.
  [[nodiscard]] Owner owner_of(ValueId id) const {
    const ValueId owner = allocation_.values[id].reused;
    if (owner == kNoValue) return kNoValue;
    const AllocKind kind = allocation_.values[owner].kind;
    const bool is_ours = kind == AllocKind::kAllocate || kind == AllocKind::kAllocateOutput;
    return is_ours ? owner : kNoValue;
  }

  // From now on the bytes are the owner's; its first step waits for all who used them before.
  void take_place(Owner owner, uint32_t location, uint64_t offset, uint64_t bytes, uint32_t pc) {
    if (offset == kNoOffset || bytes == 0) return;
    const uint64_t end =
        offset + (bytes + pattern_.alignment - 1) / pattern_.alignment * pattern_.alignment;
    std::map<uint64_t, Place>& places = places_[location];
    auto place = places.upper_bound(offset);
    if (place != places.begin()) --place;
    while (place != places.end() && place->first < end) {
      const auto [begin, old] = *place;
      if (old.end <= offset) {
        ++place;
        continue;
      }
      for (const uint32_t user : users_[old.owner]) wait_for(user, pc);
      place = places.erase(place);
      if (begin < offset) places[begin] = {offset, old.owner};
      if (old.end > end) places[end] = old;
    }
    places[offset] = {end, owner};
  }

  void wait_for(uint32_t earlier, uint32_t pc) {
    if (earlier == kNoStep || earlier == pc || seen_at_[earlier] == pc) return;
    seen_at_[earlier] = pc;
    predecessors_[pc].push_back(earlier);
  }

  [[nodiscard]] StepDependencies to_lists() const {
    StepDependencies lists;
    lists.first_successor.resize(predecessors_.size() + 1);
    for (const std::vector<uint32_t>& earlier : predecessors_) {
      lists.waits_for.push_back(static_cast<uint32_t>(earlier.size()));
      for (const uint32_t step : earlier) ++lists.first_successor[step + 1];
    }
    for (size_t i = 1; i < lists.first_successor.size(); ++i) {
      lists.first_successor[i] += lists.first_successor[i - 1];
    }
    lists.successors.resize(lists.first_successor.back());
    std::vector<uint32_t> next(lists.first_successor);
    for (uint32_t pc = 0; pc < predecessors_.size(); ++pc) {
      for (const uint32_t step : predecessors_[pc]) lists.successors[next[step]++] = pc;
    }
    return lists;
  }

  struct Place {
    uint64_t end = 0;
    Owner owner = 0;
  };

  const ExecutionPlan& execution_;
  const AllocationPlan& allocation_;
  const MemoryPattern& pattern_;
  std::vector<uint32_t> producer_;                        // by value
  std::vector<std::vector<uint32_t>> users_;              // by owner
  std::vector<uint64_t> bytes_;                           // by owner that is a value
  std::map<uint32_t, std::map<uint64_t, Place>> places_;  // by location, then by offset
  std::vector<uint32_t> seen_at_;  // by step: the last one that it became a predecessor of
  std::vector<std::vector<uint32_t>> predecessors_;  // by step
  size_t next_buffer_ = 0;
  size_t next_workspace_ = 0;
};

}  // namespace

StepDependencies find_dependencies(const ExecutionPlan& execution, const AllocationPlan& allocation,
                                   const MemoryPattern& pattern,
                                   std::span<const std::optional<uint64_t>> sizes) {
  return DependencyFinder(execution, allocation, pattern, sizes).run();
}

// Steps that all wait for the one before them, directly or not, form a line; otherwise some step
// starts while another one is ready.
bool has_parallel_steps(const StepDependencies& dependencies) {
  for (uint32_t step = 0; step + 1 < dependencies.waits_for.size(); ++step) {
    const std::span<const uint32_t> next = dependencies.successors_of(step);
    if (next.empty() || next.front() != step + 1) return true;
  }
  return false;
}

}  // namespace ephost::plan
