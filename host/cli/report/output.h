// Output of results to standard output or a file and of errors to standard error, and numbers with
// their units. All text, which may come from models and plugins, is made safe for a terminal.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "host/base/printable.h"

namespace ephost::cli {

// On standard error: "error[CODE]: message", or one line of JSON,
// {"error": {"code": "CODE", "message": "...", "exit_status": 4}}.
void print_error(const Status& status, int exit_status);
// How errors of this process are printed; at first, as text.
void print_errors_as_json(bool as_json);

// To standard output, made printable (host/base/printable.h).
void print(std::string_view text);
// The same to standard error.
void print_notice(std::string_view text);

// To standard output where `file` is empty, else to the file, atomically; made printable.
[[nodiscard]] Status write_text(const std::filesystem::path& file, std::string_view text);

// FAIL if standard output could not be written in full (full disk).
[[nodiscard]] Status flush_output();

// "1 node", "2 nodes".
[[nodiscard]] std::string counted(uint64_t count, std::string_view noun);
// "17 B", "1.5 MiB".
[[nodiscard]] std::string bytes_text(uint64_t bytes);
// "12.3 us", "4.56 ms", "7.89 s": three significant digits.
[[nodiscard]] std::string seconds_text(double seconds);
// "1.234", with `digits` digits after the point.
[[nodiscard]] std::string fixed(double number, int digits);
// With at most `digits` significant digits, in the shorter of plain and exponent form.
[[nodiscard]] std::string compact(double number, int digits = 6);

}  // namespace ephost::cli
