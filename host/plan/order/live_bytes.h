// How many bytes of a location's block are needed at each step: no placement gets by with less than
// the largest of these sums. Measures plans before anything is placed.
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
  uint32_t pc = 0;  // the first step that needs so much
};

struct LiveBytes {
  std::map<uint32_t, LivePeak> peaks;  // by location

  [[nodiscard]] uint64_t sum_of_peaks() const {
    uint64_t sum = 0;
    for (const auto& [location, peak] : peaks) sum += peak.bytes;
    return sum;
  }
};

// Buffers of kAllocate values and workspaces, rounded up to the alignment of memory patterns.
// `sizes`, if not empty, has one entry a value and stands in for what `values` say; what is unknown
// counts as nothing. Sizes add up to less than 64 bits hold.
[[nodiscard]] LiveBytes find_live_bytes(std::span<const ValuePlan> values,
                                        std::span<const BufferPlan> buffers,
                                        std::span<const Workspace> workspaces, size_t steps,
                                        std::span<const std::optional<uint64_t>> sizes = {});

}  // namespace ephost::plan
