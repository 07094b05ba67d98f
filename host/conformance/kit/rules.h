// The titles of the rules of ABI.md, which the build takes from that page.
#pragma once

#include <string_view>

namespace ephost::conformance {

// "One symbol." for 1; empty for a number that no rule has.
[[nodiscard]] std::string_view rule_title(int rule);

}  // namespace ephost::conformance
