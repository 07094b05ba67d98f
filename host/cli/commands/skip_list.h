// The tests that are known not to pass, each with the reason. One a line, "name: reason"; empty
// lines and lines that start with '#' are passed over.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ephost::cli {

using SkipList = std::map<std::string, std::string, std::less<>>;

// INVALID_ARGUMENT with `file` and line for a name without reason or one that stands twice.
[[nodiscard]] Result<SkipList> parse_skip_list(std::string_view text, std::string_view file);

}  // namespace ephost::cli
