// The bytes that each step reads and writes, and the check of an order of steps against them. Used
// by the checks of this folder only.
#pragma once

#include <ephost/status.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"

namespace ephost::plan {

// By later step, then by earlier: whether the earlier one is done before the later one begins.
using KnownOrder = std::vector<std::vector<bool>>;

class StepUses {
 public:
  // Borrows all. `sizes` as given to plan_memory.
  StepUses(const ExecutionPlan& plan, const AllocationPlan& allocation,
           const MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes);

  // Fails where a step may begin before the producer of an input is done, or where two steps use
  // the same bytes, one of them to write, and none of them comes first. Compares each pair of
  // steps, without regard to the users in between.
  [[nodiscard]] Status check(const KnownOrder& order) const;

 private:
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

  void add(ValueId id, std::set<Piece>& pieces) const;
  [[nodiscard]] std::optional<uint64_t> size_of(ValueId id) const {
    return sizes_.empty() ? allocation_.values[id].bytes : sizes_[id];
  }
  [[nodiscard]] uint64_t size_of_buffer(ValueId root) const;
  [[nodiscard]] Status check_reads(const KnownOrder& order) const;
  static bool meet(const std::set<Piece>& some, const std::set<Piece>& others);
  [[nodiscard]] bool conflict(uint32_t a, uint32_t b) const;

  const ExecutionPlan& plan_;
  const AllocationPlan& allocation_;
  const MemoryPattern& pattern_;
  std::span<const std::optional<uint64_t>> sizes_;
  uint32_t count_;
  std::vector<std::set<Piece>> reads_;   // by step
  std::vector<std::set<Piece>> writes_;  // by step
};

}  // namespace ephost::plan
