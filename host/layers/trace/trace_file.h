// The file or stream that the lines of a trace go to.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <functional>
#include <string_view>

namespace ephost::layers {

// A function that appends lines to `file`, or writes them to standard error if that is empty.
// `until_crash`: each line is written at once; otherwise they are collected, and written at the
// latest when the function is destroyed. FAIL if the file cannot be opened. Not thread-safe.
[[nodiscard]] Result<std::function<void(std::string_view line)>> open_trace(
    const std::filesystem::path& file, bool until_crash);

}  // namespace ephost::layers
