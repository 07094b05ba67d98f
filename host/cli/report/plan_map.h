// From plans to the picture of them (memory_map.h).
#pragma once

#include <string>
#include <vector>

#include "host/cli/report/memory_map.h"
#include "host/plan/placement/minimalloc_csv.h"
#include "host/session/pipeline/prepared_model.h"

namespace ephost::cli {

// Of a planned model: its own graph, then its bodies.
[[nodiscard]] std::vector<MemoryMap> maps_of(const session::PreparedModel& prepared);

// Of buffers and where they were placed.
[[nodiscard]] MemoryMap map_of(const std::string& name, const plan::BufferTable& table,
                               const plan::Placement& placement);

}  // namespace ephost::cli
