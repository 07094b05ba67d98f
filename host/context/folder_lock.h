// Keeps the publications of several processes and threads into one folder apart. The lock is on the
// folder itself: no lock file is left, and it ends with the process.
#pragma once

#include <filesystem>

#include "ephost/status.h"
#include "host/base/file_system.h"

namespace ephost::context {

class FolderLock {
 public:
  // Waits until nobody else holds it. Where the file system has no locks, or the folder may be
  // written but not read, the result holds nothing: publication then still is atomic file by file.
  static Result<FolderLock> acquire(const std::filesystem::path& folder,
                                    const FileSystem& file_system);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  FolderLock(int descriptor, const FileSystem& file_system)
      : descriptor_(descriptor), file_system_(&file_system) {}

  int descriptor_;
  const FileSystem* file_system_;
};

}  // namespace ephost::context
