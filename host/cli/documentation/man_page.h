// Manual pages in roff (man macros), one for each command.
#pragma once

#include <string>

#include "host/cli/documentation/command_tree.h"

namespace ephost::cli {

// "ephost-cache-list": what the page of a command is called, without its section.
[[nodiscard]] std::string man_page_name(const DocumentedCommand& command);

// The page of `command`, a command of `program` or that itself. Subcommands are named, and have
// pages of their own.
[[nodiscard]] std::string man_page(const DocumentedCommand& program,
                                   const DocumentedCommand& command);

}  // namespace ephost::cli
