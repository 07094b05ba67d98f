#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/base/format.h"
#include "host/plan/check/checker.h"

namespace ephost::plan {
namespace {

Status wrong_dependencies(const std::string& what) {
  return {StatusCode::kFail, "the dependencies of steps are wrong: " + what};
}

// Bytes that a step uses: in the block of a location, or in a separate buffer.
struct Piece {
  ValueId buffer = kNoValue;
  uint32_t location = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  [[nodiscard]] bool meets(const Piece& other) const {
    return buffer == other.buffer && location == other.location && begin < other.end &&
           other.begin < end;
  }
  friend auto operator<=>(const Piece&, const Piece&) = default;
};

// Compares each pair of steps, without regard to the users in between.
class DependencyCheck {
 public:
  DependencyCheck(const ExecutionPlan& plan, const AllocationPlan& allocation,
                  const MemoryPattern& pattern, const StepDependencies& dependencies,
                  std::span<const std::optional<uint64_t>> sizes)
      : plan_(plan),
        allocation_(allocation),
        pattern_(pattern),
        dependencies_(dependencies),
        sizes_(sizes),
        count_(static_cast<uint32_t>(plan.steps.size())) {}

  [[nodiscard]] Status run() {
    EPHOST_RETURN_IF_ERROR(find_order());
    find_pieces();
    EPHOST_RETURN_IF_ERROR(check_reads());
    for (uint32_t later = 0; later < count_; ++later) {
      for (uint32_t earlier = 0; earlier < later; ++earlier) {
        if (!comes_before_[later][earlier] && conflict(earlier, later)) {
          return wrong_dependencies(
              formatted("steps {} and {} use the same memory, but neither waits for the other",
                        earlier, later));
        }
      }
    }
    return Status::ok_status();
  }

 private:
  Status find_order() {
    std::vector<uint32_t> waits(count_, 0);
    comes_before_.assign(count_, std::vector<bool>(count_, false));
    for (uint32_t step = 0; step < count_; ++step) {
      for (const uint32_t next : dependencies_.successors_of(step)) {
        if (next <= step || next >= count_)
          return wrong_dependencies("a step waits for a later one");
        ++waits[next];
        for (uint32_t before = 0; before < step; ++before) {
          if (comes_before_[step][before]) comes_before_[next][before] = true;
        }
        comes_before_[next][step] = true;
      }
    }
    if (waits != dependencies_.waits_for)
      return wrong_dependencies("a step waits for too many or too few steps");
    return Status::ok_status();
  }

  Status check_reads() const {
    std::vector<uint32_t> producer(allocation_.values.size(), count_);
    for (uint32_t pc = 0; pc < count_; ++pc) {
      const Step& step = plan_.steps[pc];
      for (const auto* ids : {&step.inputs, &step.implicit_inputs}) {
        for (const ValueId id : *ids) {
          if (id == kNoValue || producer[id] == count_ || comes_before_[pc][producer[id]]) continue;
          return wrong_dependencies(
              formatted("step {} does not wait for the producer of an input", pc));
        }
      }
      for (const ValueId id : step.outputs) {
        if (id != kNoValue) producer[id] = pc;
      }
    }
    return Status::ok_status();
  }

  void find_pieces() {
    reads_.resize(count_);
    writes_.resize(count_);
    for (uint32_t pc = 0; pc < count_; ++pc) {
      const Step& step = plan_.steps[pc];
      for (const ValueId id : step.inputs) add(id, reads_[pc]);
      for (const ValueId id : step.implicit_inputs) add(id, reads_[pc]);
      for (const ValueId id : step.outputs) add(id, writes_[pc]);
    }
    for (const Workspace& workspace : allocation_.workspaces) {
      const uint64_t offset = pattern_.workspace_offsets[workspace.pc];
      if (offset == kNoOffset) continue;
      writes_[workspace.pc].insert(
          {kNoValue, workspace.location, offset, offset + workspace.bytes});
    }
  }

  // Inputs and constants are never written; an apparent write is a view of them.
  void add(ValueId id, std::set<Piece>& pieces) const {
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

  [[nodiscard]] std::optional<uint64_t> size_of(ValueId id) const {
    return sizes_.empty() ? allocation_.values[id].bytes : sizes_[id];
  }
  [[nodiscard]] uint64_t size_of_buffer(ValueId root) const {
    uint64_t size = 0;
    for (ValueId id = 0; id < allocation_.values.size(); ++id) {
      if (allocation_.values[id].reused != root) continue;
      size = std::max(size, allocation_.values[id].offset + size_of(id).value_or(0));
    }
    return size;
  }

  static bool meet(const std::set<Piece>& some, const std::set<Piece>& others) {
    return std::ranges::any_of(some, [&](const Piece& a) {
      return std::ranges::any_of(others, [&](const Piece& b) { return a.meets(b); });
    });
  }
  [[nodiscard]] bool conflict(uint32_t a, uint32_t b) const {
    return meet(writes_[a], writes_[b]) || meet(writes_[a], reads_[b]) ||
           meet(writes_[b], reads_[a]);
  }

  const ExecutionPlan& plan_;
  const AllocationPlan& allocation_;
  const MemoryPattern& pattern_;
  const StepDependencies& dependencies_;
  std::span<const std::optional<uint64_t>> sizes_;
  uint32_t count_;
  std::vector<std::vector<bool>> comes_before_;  // by later step, then by earlier
  std::vector<std::set<Piece>> reads_;           // by step
  std::vector<std::set<Piece>> writes_;
};

}  // namespace

Status check_dependencies(const ExecutionPlan& plan, const AllocationPlan& allocation,
                          const MemoryPattern& pattern, const StepDependencies& dependencies,
                          std::span<const std::optional<uint64_t>> sizes) {
  return DependencyCheck(plan, allocation, pattern, dependencies, sizes).run();
}

}  // namespace ephost::plan
