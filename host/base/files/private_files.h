// Files and folders that the host keeps for itself, made for this user alone whatever the umask is:
// the host does not use what others may write (ownership.h), and would refuse its own files
// otherwise.
#pragma once

#include <ephost/status.h>
#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "host/base/files/file_system.h"

namespace ephost {

// Creates files that only their owner may read and write.
class PrivateFileSystem : public PosixFileSystem {
 public:
  int open(const char* path, int flags, mode_t mode) const override;
};
[[nodiscard]] const FileSystem& private_file_system();

// Creates a file of this content that must not exist, with `mode` without the bits of the umask,
// and syncs it. INVALID_ARGUMENT if something is there; after any other failure nothing is.
[[nodiscard]] Status create_file(const std::filesystem::path& file, std::string_view content,
                                 mode_t mode);

// Makes `folder` and those above it that do not exist, each with `mode` without the bits of the
// umask.
[[nodiscard]] Status make_private_folders(const std::filesystem::path& folder, mode_t mode = 0700);

}  // namespace ephost
