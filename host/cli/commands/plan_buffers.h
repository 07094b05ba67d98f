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
  std::optional<uint64_t> capacity;  // the placement must fit in so many bytes
  uint64_t alignment = 1;            // of every offset
  bool json = false;                 // a report instead of the CSV on standard output
};

// Writes `id,lower,upper,size,offset`, and says what it reached: on standard error where the table
// goes to standard output. Searches for seconds if it must. FAIL if the capacity is exceeded; then
// nothing is written.
[[nodiscard]] Status plan_buffers(const BufferPlanRequest& request);

}  // namespace ephost::cli
