// Counts the calls of the C allocator in this process, whoever makes them: host, plugins and the
// libraries behind both, operator new included. Part of the executable, not of a library: it stands
// in front of the allocator of the whole process.
#pragma once

#include <cstdint>
#include <optional>

namespace ephost::cli {

// Starts and stops counting, from zero. Not reentrant.
void start_counting_allocations();
// Nothing where the build cannot count (under a sanitizer, which has an allocator of its own).
[[nodiscard]] std::optional<uint64_t> stop_counting_allocations();

}  // namespace ephost::cli
