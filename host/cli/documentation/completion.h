// Completion for bash: commands, options, the values that an option admits, and files.
#pragma once

#include <string>

#include "host/cli/documentation/command_tree.h"

namespace ephost::cli {

// A script that bash reads; it needs nothing else.
[[nodiscard]] std::string bash_completion(const DocumentedCommand& program);

}  // namespace ephost::cli
