// Lower and upper case of UTF-8 text by Unicode's simple mappings: one code point for another,
// whatever the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ephost_cpu {

enum class Case { kLower, kUpper };

// Sets `changed` to the text in that case. Bytes that are not UTF-8 stay as they are.
void change_case(std::string_view text, Case to, std::string& changed);

}  // namespace ephost_cpu
