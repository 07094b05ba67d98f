// Places buffers with known lifetimes in one block of memory, as the planner of a session does.
// Reads and writes such problems in the CSV form of the MiniMalloc benchmark.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// Needs `size` bytes from time `lower` up to, not including, `upper`.
struct BufferRequest {
  std::string id;
  uint32_t lower = 0;
  uint32_t upper = 0;
  uint64_t size = 0;
};

struct BufferPlacementOptions {
  uint64_t alignment = 1;  // of every offset: a power of two
  // The search ends at a placement of at most so many bytes; without it, at the lowest one found.
  std::optional<uint64_t> capacity;
};

// Sizes count rounded up to the alignment.
struct BufferPlacement {
  std::vector<uint64_t> offsets;    // beside the requests
  uint64_t peak_bytes = 0;          // the largest end of a buffer; may exceed the capacity
  uint64_t lower_bound_bytes = 0;   // the most that is alive at one time
  uint64_t proved_bound_bytes = 0;  // no placement is below: the lower bound, or what was proved
  bool proved_optimal = false;      // the peak meets that bound
};

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
