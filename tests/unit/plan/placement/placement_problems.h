// Placement problems generated from a seed, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan/placement/place_buffers.h"

namespace ephost::plan::testing {

enum class Lives : uint8_t { kShort, kMixed, kLong };

[[nodiscard]] std::vector<Buffer> random_buffers(uint64_t seed, size_t count, uint32_t times,
                                                 Lives lives);

// Cuts a block of memory over time into random pieces, so that the lower bound, `size`, can be met,
// but only by reassembling the pieces. No piece is smaller than `grain` or lives shorter.
[[nodiscard]] std::vector<Buffer> perfect_packing(uint64_t seed, uint64_t size, uint32_t times,
                                                  uint32_t grain);

// A problem as a network produces it: every step allocates an output, most values die soon, some
// skip far ahead, and some steps need a workspace.
[[nodiscard]] std::vector<Buffer> graph_like(uint64_t seed, uint32_t steps);

// The same problem reversed in time.
[[nodiscard]] std::vector<Buffer> mirrored(std::vector<Buffer> buffers);
[[nodiscard]] std::vector<Buffer> shuffled(std::vector<Buffer> buffers, uint64_t seed);

}  // namespace ephost::plan::testing
