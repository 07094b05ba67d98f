// Counter of calls of the C allocator in this process, operator new included, by the host, plugins
// and the libraries of both. The counting itself is done by a library that is
// preloaded for the purpose (tests/support/count_allocations.c); the program replaces no
// allocator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace ephost::cli {

struct AllocationCount {
  uint64_t all = 0;
  uint64_t by_host = 0;  // those of the counting thread with no function of a plugin on the stack
};

// Whether the library is preloaded.
[[nodiscard]] bool can_count_allocations();

// Starts counting from zero; slows every allocation down. `plugins` are the libraries of the
// plugins, loaded and to stay so. One count at a time, stopped by the thread that started it. Both
// do nothing where nothing can be counted.
void start_counting_allocations(std::span<const std::filesystem::path> plugins);
[[nodiscard]] AllocationCount stop_counting_allocations();

}  // namespace ephost::cli
