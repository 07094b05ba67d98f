// The temporary files of AtomicFile that nobody will finish: a process that is killed leaves them.
#pragma once

#include <filesystem>

#include "host/base/file_system.h"

namespace ephost {

// Removes AtomicFile's temporary files in `directory` whose writers, in any process, are gone: each
// writer holds a lock on its file as long as it lives. What cannot be removed stays; where the file
// system has no locks, all stay.
void remove_abandoned_temporaries(const std::filesystem::path& directory,
                                  const FileSystem& file_system = posix_file_system());

}  // namespace ephost
