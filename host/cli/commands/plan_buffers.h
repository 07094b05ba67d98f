// `ephost plan --buffers`: places the buffers of a MiniMalloc instance.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost::cli {

struct BufferPlanRequest {
  std::filesystem::path buffers;     // CSV: id,lower,upper,size
  std::filesystem::path output;      // empty: standard output
  std::filesystem::path html;        // empty: no picture
  std::optional<uint64_t> capacity;  // in bytes, that the placement must fit into
  uint64_t alignment = 1;            // of every offset
  bool json = false;                 // a report instead of the CSV on standard output
  bool quiet = false;                // no summary
};

// Writes `id,lower,upper,size,offset` and prints a summary: on standard error if the table goes to
// standard output. May search for seconds. FAIL, with nothing written, if the capacity is exceeded.
[[nodiscard]] Status plan_buffers(const BufferPlanRequest& request);

}  // namespace ephost::cli
