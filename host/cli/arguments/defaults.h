// Defaults of the commands from the environment and from files, for what the command line leaves
// out: a selection and a cache store. An application that links the library gets none of this.
// manifests/SCHEMA.md documents the places.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "host/cli/arguments/argument_parser.h"

namespace ephost::cli {

struct SelectionFlags {
  std::filesystem::path file;
  bool none = false;
};

// --selection, --no-selection.
void add_selection_flags(ArgumentParser& app, SelectionFlags& flags);

struct SelectionFile {
  std::filesystem::path path;
  std::string_view origin;  // "given", "EPHOST_SELECTION", "user" or "system"
};

// The file of --selection; otherwise the one that EPHOST_SELECTION names, then the user's, then the
// system's, as far as they exist. An empty path: none, which is so with --no-selection and with an
// empty EPHOST_SELECTION. A process with raised privileges ignores the environment. A log message
// names a file that was not given.
[[nodiscard]] SelectionFile find_selection(const SelectionFlags& flags);

// EPHOST_CACHE_DIR; empty: none.
[[nodiscard]] std::filesystem::path default_cache_dir();

// EPHOST_LAYERS: the names of the layers that a session has of itself where no entry lists any;
// empty if not set.
[[nodiscard]] std::string default_layers();

}  // namespace ephost::cli
