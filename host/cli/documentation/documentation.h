// Writer of the manual pages of a program and its completion: `PROGRAM --write-documentation
// FOLDER`, which the build calls and --help does not show.
#pragma once

#include <ephost/status.h>

#include <filesystem>

#include "host/cli/documentation/command_tree.h"

namespace ephost::cli {

inline constexpr const char* kWriteDocumentation = "--write-documentation";

// Writes man1/<command>.1 for the program and each command, bash-completion/<program>,
// zsh/_<program> and fish/<program>.fish below `folder`, which need not exist.
[[nodiscard]] Status write_documentation(const DocumentedCommand& program,
                                         const std::filesystem::path& folder);

}  // namespace ephost::cli
