// The environment of the process, and the folders of its user. Where the process has more rights
// than the user who started it (setuid, for example), that user's variables decide nothing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ephost {

// The value of a variable. Null if it is not set, or if the process has raised privileges.
[[nodiscard]] const char* environment_value(const char* name);

// The absolute path in a variable, or nothing: the XDG specification requires that relative paths
// are ignored.
[[nodiscard]] std::filesystem::path environment_folder(const char* name);

// All variables as "NAME=value", whatever the privileges.
[[nodiscard]] std::vector<std::string> environment_entries();

[[nodiscard]] bool has_raised_privileges();

// Folders of the XDG specification in which programs keep files of this user. The files of root
// that no person has written are those of the machine.
enum class UserFolder {
  kConfig,  // XDG_CONFIG_HOME, ~/.config
  kData,    // XDG_DATA_HOME, ~/.local/share
  kState,   // XDG_STATE_HOME, /var/lib for root, ~/.local/state
  kCache,   // XDG_CACHE_HOME, /var/cache for root, ~/.cache
};
// Empty if the environment does not say where it is.
[[nodiscard]] std::filesystem::path user_folder(UserFolder folder);

}  // namespace ephost
