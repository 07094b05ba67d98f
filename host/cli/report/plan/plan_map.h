// Plans as data for the picture of them (memory_map.h).
#pragma once

#include <ephost/place_buffers.h>
#include <ephost/plan_model.h>

#include <span>
#include <string>
#include <vector>

#include "host/cli/report/plan/memory_map.h"

namespace ephost::cli {

// The plan of one graph; `seconds` of each step, if they are known.
[[nodiscard]] MemoryMap map_of(const GraphPlan& plan, std::vector<double> seconds = {});

// Sentences about memory that is in no block: what it is for, and why.
[[nodiscard]] std::vector<std::string> memory_notes(const GraphPlan& plan);

// Buffers and where they were placed.
[[nodiscard]] MemoryMap map_of(const std::string& name, std::span<const BufferRequest> requests,
                               const BufferPlacement& placement);

}  // namespace ephost::cli
