// The largest resident set size of this process.
#pragma once

#include <cstdint>
#include <string_view>

namespace ephost::cli {

// In bytes, so far; 0 where the kernel does not tell. Read from /proc/self/status: the ru_maxrss
// of getrusage starts with the peak of the process that started this one.
[[nodiscard]] uint64_t peak_resident_bytes();

// The field VmHWM of such a file; 0 without it.
[[nodiscard]] uint64_t parse_peak_resident_bytes(std::string_view status_file);

}  // namespace ephost::cli
