// Files that decide whom to trust: read only where no other user could have written them, and
// written so that no other user can. Internal to the folder, except for secret files.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "host/base/files/private_files.h"

namespace ephost::trust {

enum class Owner { kRoot, kRootOrUser };

// FAIL, naming owner and mode, if others may write the folder, or replace it by another one
// (host/base/files/ownership.h). NO_SUCHFILE if it does not exist.
[[nodiscard]] Status check_own_folder(const std::filesystem::path& folder, Owner owner);

// The content of a file, by the same rule. INVALID_ARGUMENT for more than `max_bytes`.
[[nodiscard]] Result<std::string> read_own_file(const std::filesystem::path& file, Owner owner,
                                                size_t max_bytes);

// Replaces the file atomically; it gets this mode whatever the umask is.
[[nodiscard]] Status write_own_file(const std::filesystem::path& file, std::string_view content,
                                    mode_t mode);

}  // namespace ephost::trust
