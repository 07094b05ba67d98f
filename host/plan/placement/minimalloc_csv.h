// Placement problems and solutions as text, in the CSV format of the MiniMalloc benchmark: a header
// `id,lower,upper,size` (columns in any order) and one line per buffer. Text in, text out; `ephost
// plan --buffers` reads and writes the files.
//
// This is our own because the format has no quoting, so that splitting at commas is all that
// parsing takes, and because errors must state line and column, which CSV libraries do not keep.
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
  std::vector<Buffer> buffers;    // parallel to ids
  std::vector<uint64_t> offsets;  // parallel to ids if there is a column `offset`, else empty
};

// Returns INVALID_ARGUMENT with `name`, line and column of the first error: a missing, duplicate or
// unknown column, a wrong number of fields, a value that is not a number or is too large, lower >=
// upper, or a duplicate id.
[[nodiscard]] Result<BufferTable> read_minimalloc_csv(std::string_view text, std::string_view name);

// Writes `id,lower,upper,size,offset` in the table's order; `offsets` has one entry per buffer.
[[nodiscard]] std::string write_minimalloc_csv(const BufferTable& table,
                                               std::span<const uint64_t> offsets);

}  // namespace ephost::plan
