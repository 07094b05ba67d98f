// Limits of a worker's resources, applied by the worker itself before it loads a plugin.
#pragma once

#include <ephost/status.h>

#include <cstdint>

namespace ephost::worker {

// 0: no limit.
struct Limits {
  // Bytes of private writable memory (RLIMIT_DATA): heap, stacks of threads, data of libraries.
  // What is mapped from the host and from files does not count. Memory that processes can share,
  // which would not be counted, cannot be made (resource_filter.h). Also the most that a single
  // file which the worker makes may have (RLIMIT_FSIZE); writing beyond fails.
  uint64_t memory = 0;
  uint64_t cpu_seconds = 0;  // of all threads together, over the worker's whole life (RLIMIT_CPU)
  uint64_t open_files = 0;   // RLIMIT_NOFILE
  uint64_t threads = 0;      // that the worker has at a time; the host answers for each new one
};

// Applies them to the calling process, and turns core files off. FAIL when the system refuses one.
[[nodiscard]] Status apply_limits(const Limits& limits);

}  // namespace ephost::worker
