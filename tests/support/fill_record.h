// fill_record.h: a host's filling of a record of a plugin, and its refusals.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ephost::test {

// Returns `code` after giving its explanation to `error`, which may be null.
inline int32_t refuse(eph_error* error, int32_t code, std::string_view why) {
  if (error != nullptr) error->api->set_message(error, {why.data(), why.size()});
  return code;
}

// Fills the fields of *out that its struct_size covers, and leaves the smaller of both sizes there.
// Refuses a record without a size.
template <class Record>
int32_t fill_record(Record known, Record* out, eph_error* error) {
  if (out == nullptr || out->struct_size < sizeof(known.struct_size)) {
    return refuse(error, EPH_INVALID_ARGUMENT, "the record is null or has no size");
  }
  known.struct_size = std::min<uint64_t>(out->struct_size, sizeof(known));
  std::memcpy(out, &known, static_cast<std::size_t>(known.struct_size));
  return EPH_OK;
}

}  // namespace ephost::test
