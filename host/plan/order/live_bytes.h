// The number of live bytes in a location's block at each step; no placement needs less than the
// largest of them. Measures plans before anything is placed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "host/plan/allocation_plan.h"
#include "host/plan/memory_pattern.h"

namespace ephost::plan {

struct LivePeak {
  uint64_t bytes = 0;
  uint32_t pc = 0;  // the first step with that many live bytes
};

struct LiveBytes {
  std::map<uint32_t, LivePeak> peaks;  // by location

  [[nodiscard]] uint64_t sum_of_peaks() const {
    uint64_t sum = 0;
    for (const auto& [location, peak] : peaks) sum += peak.bytes;
    return sum;
  }
};

// Counts buffers of kAllocate values and workspaces, rounded up to the alignment of memory
// patterns. `sizes`, if not empty, has one entry per value and replaces the sizes in `values`;
// unknown sizes count as 0. The sizes must add up to less than 2^64.
[[nodiscard]] LiveBytes find_live_bytes(std::span<const ValuePlan> values,
                                        std::span<const BufferPlan> buffers,
                                        std::span<const Workspace> workspaces, size_t steps,
                                        std::span<const std::optional<uint64_t>> sizes = {});

}  // namespace ephost::plan
