// Placement problems and solutions as text, in the CSV form of the MiniMalloc benchmark: a header
// `id,lower,upper,size` (columns in any order) and one line a buffer. Text in, text out; `ephost
// plan
// --buffers` reads and writes the files.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/placement/place_buffers.h"

namespace ephost::plan {

struct BufferTable {
  std::vector<std::string> ids;   // unique, as written in the file
  std::vector<Buffer> buffers;    // beside ids
  std::vector<uint64_t> offsets;  // beside ids if the text had a column `offset`, else empty
};

// INVALID_ARGUMENT with `name`, line and column of the first thing wrong: a missing, double or
// unknown column, a wrong number of fields, something that is no number or too large, lower >=
// upper, an id that was already used.
[[nodiscard]] Result<BufferTable> read_minimalloc_csv(std::string_view text, std::string_view name);

// `id,lower,upper,size,offset`, in the table's order; `offsets` has one entry a buffer.
[[nodiscard]] std::string write_minimalloc_csv(const BufferTable& table,
                                               std::span<const uint64_t> offsets);

}  // namespace ephost::plan
