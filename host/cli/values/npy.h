// NumPy's .npy format, versions 1 and 2, little-endian and row-major: encode and decode. Opens no
// files.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>

#include <string>
#include <string_view>

namespace ephost::cli {

// INVALID_ARGUMENT, naming `file`, for content that is damaged, too large, or of a kind that is not
// supported (objects, strings, structures, big-endian, column-major).
[[nodiscard]] Result<Value> decode_npy(std::string_view content, std::string_view file);

// Whether NumPy has the type.
[[nodiscard]] bool is_numpy_type(ElementType type);

// Version 1. INVALID_ARGUMENT for element types that NumPy doesn't have.
[[nodiscard]] Result<std::string> encode_npy(const Value& value);

}  // namespace ephost::cli
