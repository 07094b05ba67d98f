// fill_record.h: how a host fills a record of a plugin.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ephost::test {

// Fills the fields of *out that its struct_size covers, and refuses one that states no size.
template <class Record>
int32_t fill_record(Record known, Record* out) {
  if (out == nullptr || out->struct_size < sizeof(known.struct_size)) return EPH_INVALID_ARGUMENT;
  known.struct_size = out->struct_size;
  std::memcpy(out, &known, std::min<std::size_t>(out->struct_size, sizeof(known)));
  return EPH_OK;
}

}  // namespace ephost::test
