// Buffers with known lifetimes, and where they lie in one block of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

}  // namespace ephost
