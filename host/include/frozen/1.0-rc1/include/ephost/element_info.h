// Facts about the element types of tensors.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/element_type.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ephost {
inline namespace v1 {

// ONNX's lower-case name, e.g. "float", "int64", "bfloat16"; "undefined" for anything else.
[[nodiscard]] inline std::string_view element_type_name(ElementType type) {
  return detail::api().value->element_type_name(static_cast<int32_t>(type));
}

// Size of one element in bits; 0 for undefined and string. Elements of 4 and 2 bits are packed two
// and four to a byte, the first one into its lowest bits.
[[nodiscard]] inline uint32_t element_bits(ElementType type) {
  return detail::api().value->element_bits(static_cast<int32_t>(type));
}

// Bytes of a dense tensor; nothing for strings, negative extents and overflow.
[[nodiscard]] inline std::optional<uint64_t> tensor_bytes(ElementType type,
                                                          std::span<const int64_t> shape) {
  const uint64_t bytes =
      detail::api().value->tensor_bytes(static_cast<int32_t>(type), shape.data(), shape.size());
  return bytes == EPHOST_UNKNOWN ? std::nullopt : std::optional<uint64_t>(bytes);
}

}  // namespace v1
}  // namespace ephost
