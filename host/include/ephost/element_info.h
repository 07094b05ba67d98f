// Facts about the element types of tensors.
#pragma once

#include <ephost/element_type.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ephost {

// ONNX's lower-case name, e.g. "float", "int64", "bfloat16"; "undefined" for anything else.
[[nodiscard]] std::string_view element_type_name(ElementType type);

// Size of one element in bits; 0 for undefined and string. Elements of 4 and 2 bits are packed two
// and four to a byte, the first one into its lowest bits.
[[nodiscard]] uint32_t element_bits(ElementType type);

// Bytes of a dense tensor; nothing for strings, negative extents and overflow.
[[nodiscard]] std::optional<uint64_t> tensor_bytes(ElementType type,
                                                   std::span<const int64_t> shape);

}  // namespace ephost
