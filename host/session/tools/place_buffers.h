// Placement of buffers with known lifetimes in one block of memory, as the planner of a session
// does it. Reads and writes such problems in the CSV form of the MiniMalloc benchmark.
#pragma once

#include <ephost/status.h>
#include <ephost/types/placement.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// Deterministic; may search for seconds. May be called from any thread. INVALID_ARGUMENT for lower
// >= upper, an alignment that is not a power of two, or sizes that add up to more than 64 bits
// hold.
[[nodiscard]] Result<BufferPlacement> place_buffers(std::span<const BufferRequest> requests,
                                                    const BufferPlacementOptions& options = {});

// From CSV with the columns id, lower, upper and size in any order. INVALID_ARGUMENT with `name`,
// line and column of the first mistake.
[[nodiscard]] Result<std::vector<BufferRequest>> parse_buffer_requests(std::string_view csv,
                                                                       std::string_view name);

// CSV with the columns id, lower, upper, size and offset.
[[nodiscard]] std::string to_csv(std::span<const BufferRequest> requests,
                                 const BufferPlacement& placement);

}  // namespace ephost
