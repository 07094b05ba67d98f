// Temporary files of AtomicFile that were abandoned because their process was killed.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "host/base/files/file_system.h"

namespace ephost {

// Whether AtomicFile could have chosen this file name.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// Returns AtomicFile's temporary files in `directory` whose writers, in any process, no longer
// exist: each writer locks its file as long as it lives. Returns none on file systems without
// locks.
[[nodiscard]] std::vector<std::filesystem::path> find_abandoned_temporaries(
    const std::filesystem::path& directory, const FileSystem& file_system = posix_file_system());

// Removes these files. Files that cannot be removed are left.
void remove_abandoned_temporaries(const std::filesystem::path& directory,
                                  const FileSystem& file_system = posix_file_system());

}  // namespace ephost
