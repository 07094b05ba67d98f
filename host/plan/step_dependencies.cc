#include "host/plan/step_dependencies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace ephost::plan {
namespace {

// Bytes that a step uses, in the block of a location or in a separate buffer.
struct Range {
  std::pair<uint32_t, ValueId> space;  // location, and the root of a separate buffer
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Walks the steps in order and records for each byte its last writer and the readers since: the
// steps for which the next writer waits. Waiting for these suffices, since they wait for the
// writers before. Steps that use different parts of one value do not wait for each other.
class DependencyFinder {
 public:
  DependencyFinder(const ExecutionPlan& execution, const AllocationPlan& allocation,
                   const MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes)
      : execution_(execution),
        allocation_(allocation),
        pattern_(pattern),
        sizes_(sizes),
        producer_(allocation.values.size(), kNoStep),
        buffer_bytes_(allocation.values.size(), 0),
        seen_at_(execution.steps.size(), kNoStep),
        predecessors_(execution.steps.size()) {
    for (ValueId id = 0; id < allocation.values.size(); ++id) {
      const ValuePlan& value = allocation.values[id];
      if (value.reused == kNoValue) continue;
      uint64_t& bytes = buffer_bytes_[value.reused];
      bytes = std::max(bytes, value.offset + bytes_of(id).value_or(0));
    }
  }

  StepDependencies run() && {
    for (uint32_t pc = 0; pc < execution_.steps.size(); ++pc) visit(pc);
    return to_lists();
  }

 private:
  // The writer first, then the readers; empty where nothing was written. An entry is valid from its
  // offset up to the next entry.
  using Users = std::map<uint64_t, std::vector<uint32_t>>;

  void visit(uint32_t pc) {
    const Step& step = execution_.steps[pc];
    for (const ValueId id : step.inputs) read(id, pc);
    for (const ValueId id : step.implicit_inputs) read(id, pc);
    if (next_workspace_ < allocation_.workspaces.size() &&
        allocation_.workspaces[next_workspace_].pc == pc) {
      const Workspace& workspace = allocation_.workspaces[next_workspace_++];
      const uint64_t offset = pattern_.workspace_offsets[pc];
      if (offset != kNoOffset) {
        write({{workspace.location, kNoValue}, offset, offset + workspace.bytes}, pc);
      }
    }
    for (const ValueId id : step.outputs) {
      if (id == kNoValue) continue;
      producer_[id] = pc;
      if (const std::optional<Range> range = range_of(id)) write(*range, pc);
    }
  }

  void read(ValueId id, uint32_t pc) {
    if (id == kNoValue) return;
    wait_for(producer_[id], pc);
    const std::optional<Range> range = range_of(id);
    if (!range) return;
    const auto [first, last] = users_in(*range);
    for (auto users = first; users != last; ++users) {
      if (!users->second.empty()) wait_for(users->second.front(), pc);
      users->second.push_back(pc);
    }
  }

  void write(const Range& range, uint32_t pc) {
    const auto [first, last] = users_in(range);
    for (auto users = first; users != last; ++users) {
      for (const uint32_t user : users->second) wait_for(user, pc);
    }
    first->second = {pc};
    users_[range.space].erase(std::next(first), last);
  }

  // None for inputs and constants, which are never written.
  [[nodiscard]] std::optional<Range> range_of(ValueId id) const {
    const ValuePlan& value = allocation_.values[id];
    if (value.reused == kNoValue) return std::nullopt;
    const ValuePlan& root = allocation_.values[value.reused];
    if (root.kind != AllocKind::kAllocate && root.kind != AllocKind::kAllocateOutput) {
      return std::nullopt;
    }
    // Ranges that are unknown before the run may differ in each run: the whole buffer counts.
    uint64_t begin = 0;
    uint64_t end = buffer_bytes_[value.reused];
    if (value.bytes && bytes_of(id)) {
      begin = value.offset;
      end = begin + *bytes_of(id);
    }
    // Computing an empty value still reads the address of its buffer.
    end = std::max(end, begin + 1);
    const uint64_t base = pattern_.offsets[value.reused];
    if (base == kNoOffset || buffer_bytes_[value.reused] == 0) {
      return Range{{root.location, value.reused}, begin, end};
    }
    return Range{{root.location, kNoValue}, base + begin, base + end};
  }

  [[nodiscard]] std::optional<uint64_t> bytes_of(ValueId id) const {
    return sizes_.empty() ? allocation_.values[id].bytes : sizes_[id];
  }

  [[nodiscard]] std::pair<Users::iterator, Users::iterator> users_in(const Range& range) {
    Users& users = users_[range.space];
    const auto first = entry_at(users, range.begin);
    return {first, entry_at(users, range.end)};
  }
  static Users::iterator entry_at(Users& users, uint64_t offset) {
    const auto next = users.upper_bound(offset);
    if (next == users.begin()) return users.emplace_hint(next, offset, std::vector<uint32_t>());
    const auto before = std::prev(next);
    return before->first == offset ? before : users.emplace_hint(next, offset, before->second);
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

  const ExecutionPlan& execution_;
  const AllocationPlan& allocation_;
  const MemoryPattern& pattern_;
  std::span<const std::optional<uint64_t>> sizes_;
  std::vector<uint32_t> producer_;      // by value
  std::vector<uint64_t> buffer_bytes_;  // by value that is a root
  std::map<std::pair<uint32_t, ValueId>, Users> users_;
  std::vector<uint32_t> seen_at_;  // by step: the last step of which it became a predecessor
  std::vector<std::vector<uint32_t>> predecessors_;  // by step
  size_t next_workspace_ = 0;
};

}  // namespace

StepDependencies find_dependencies(const ExecutionPlan& execution, const AllocationPlan& allocation,
                                   const MemoryPattern& pattern,
                                   std::span<const std::optional<uint64_t>> sizes) {
  return DependencyFinder(execution, allocation, pattern, sizes).run();
}

// If every step waits for the one before it, directly or not, the steps form a line; otherwise some
// step starts while another one is ready.
bool has_parallel_steps(const StepDependencies& dependencies) {
  for (uint32_t step = 0; step + 1 < dependencies.waits_for.size(); ++step) {
    const std::span<const uint32_t> next = dependencies.successors_of(step);
    if (next.empty() || next.front() != step + 1) return true;
  }
  return false;
}

}  // namespace ephost::plan
