// The examples that --help and the manual pages show, for all commands in one place.
#pragma once

#include <string>
#include <string_view>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli {

// The line of a footer after which only examples follow, one in each line.
inline constexpr std::string_view kExamplesHeading = "Examples:";

// Adds them to the footers of all commands below `root`, which have been declared.
void add_examples(ArgumentParser& root);

// "Examples:" and the lines of `examples`, indented.
[[nodiscard]] std::string examples_text(std::string_view examples);

}  // namespace ephost::cli
