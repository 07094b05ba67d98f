// Completion for shells: commands, options, the values that an option admits, and files. Each
// function returns a script that its shell reads, and that needs nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/cli/documentation/command_tree.h"

namespace ephost::cli {

[[nodiscard]] std::string bash_completion(const DocumentedCommand& program);
// The function _PROGRAM, in a file of that name in a folder of `fpath`.
[[nodiscard]] std::string zsh_completion(const DocumentedCommand& program);
[[nodiscard]] std::string fish_completion(const DocumentedCommand& program);

// For these functions:

enum class ValueKind {
  kChoice,  // of DocumentedArgument::choices
  kFile,    // or a folder
  kFolder,
  kOther
};
// What is proposed for a value; NAME=FILE is a file after the equals sign.
[[nodiscard]] ValueKind kind_of(const DocumentedArgument& argument);

// The program and all commands below it, parents first.
[[nodiscard]] std::vector<const DocumentedCommand*> all_commands(const DocumentedCommand& program);

// In single quotes bash and zsh take the text as it is.
[[nodiscard]] std::string quoted_for_shell(std::string_view text);

}  // namespace ephost::cli
