// The values that have their bytes in one place.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <span>

namespace ephost::worker {

// Tensors, but for those of strings.
[[nodiscard]] inline bool is_numeric(const eph_value& value) {
  return value.kind == EPH_KIND_TENSOR && value.element_type != EPH_ELEMENT_STRING;
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(const eph_value& value) {
  return {static_cast<const std::byte*>(value.data), static_cast<size_t>(value.byte_size)};
}

}  // namespace ephost::worker
