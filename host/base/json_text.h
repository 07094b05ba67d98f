// Text as a string of a JSON document, for modules that write JSON without a library.
#pragma once

#include <string>
#include <string_view>

namespace ephost {

// In quotes, with escapes for quotes, backslashes and control characters. Other bytes stay as they
// are; text that may be malformed passes through printable.h before.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace ephost
