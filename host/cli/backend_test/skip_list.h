// A list of tests that are known to fail, each with the reason: one "name: reason" a line, or
// "name?: reason" for a test that passes now and then. Empty lines and lines that start with '#'
// are ignored.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ephost::cli {

struct SkipReason {
  std::string text;
  bool may_pass = false;
};

// By the names of tests.
using SkipList = std::map<std::string, SkipReason, std::less<>>;

// INVALID_ARGUMENT with `file` and line for a name without a reason or one that is listed twice.
[[nodiscard]] Result<SkipList> parse_skip_list(std::string_view text, std::string_view file);

}  // namespace ephost::cli
