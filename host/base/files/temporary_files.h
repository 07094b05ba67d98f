// The temporary files of AtomicFile that nobody will finish: a process that is killed leaves them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "host/base/files/file_system.h"

namespace ephost {

// Whether AtomicFile could have given a file this name.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// AtomicFile's temporary files in `directory` whose writers, in any process, are gone: each writer
// holds a lock on its file as long as it lives. None where the file system has no locks.
[[nodiscard]] std::vector<std::filesystem::path> find_abandoned_temporaries(
    const std::filesystem::path& directory, const FileSystem& file_system = posix_file_system());

// Removes these. What cannot be removed stays.
void remove_abandoned_temporaries(const std::filesystem::path& directory,
                                  const FileSystem& file_system = posix_file_system());

}  // namespace ephost
