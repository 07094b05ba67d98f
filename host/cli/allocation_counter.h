// Counts the calls of the C allocator in this process, whoever makes them: host, plugins and the
// libraries behind both, operator new included. Part of the executable, not of a library: it stands
// in front of the allocator of the whole process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace ephost::cli {

struct AllocationCount {
  uint64_t all = 0;
  uint64_t by_host = 0;  // those of the counting thread with no function of a plugin on the stack
};

// Starts counting from zero; slows every allocation down. `plugins` are the libraries of the
// plugins, loaded and to stay so. One count at a time, stopped by the thread that started it.
void start_counting_allocations(std::span<const std::filesystem::path> plugins);
// Nothing where the build cannot count (under a sanitizer, which has an allocator of its own).
[[nodiscard]] std::optional<AllocationCount> stop_counting_allocations();

}  // namespace ephost::cli
