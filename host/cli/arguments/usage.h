// Error messages for a command line that cannot be parsed.
#pragma once

#include <ephost/status.h>

#include <string_view>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ephost::cli {

// INVALID_ARGUMENT, with the command or option that was probably meant, and where to find help.
[[nodiscard]] Status usage_error(const CLI::App& root, const CLI::ParseError& error);

// Whether the arguments, which need not be valid, ask for reports as JSON.
[[nodiscard]] bool asks_for_json(int argc, const char* const* argv);

}  // namespace ephost::cli
