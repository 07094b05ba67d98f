#include "host/context/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "host/base/file_error.h"

namespace ephost::context {

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder,
                                       const FileSystem& file_system) {
  const int descriptor = file_system.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0 && errno != EACCES) return file_error("open the folder", folder, errno);
  FolderLock lock(descriptor, file_system);
  while (descriptor >= 0 && ::flock(descriptor, LOCK_EX) != 0) {
    if (errno != EINTR) break;
  }
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), file_system_(other.file_system_) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) file_system_->close(descriptor_);
}

}  // namespace ephost::context
