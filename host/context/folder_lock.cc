#include "host/context/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "host/base/file_error.h"

namespace ephost::context {

Result<FolderLock> FolderLock::open(const std::filesystem::path& folder,
                                    const FileSystem& file_system) {
  const int descriptor = file_system.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0 && errno != EACCES) return file_error("open the folder", folder, errno);
  return FolderLock(descriptor, file_system);
}

bool FolderLock::lock(int operation) {
  if (descriptor_ < 0) return true;
  int outcome = 0;
  do {
    outcome = file_system_->flock(descriptor_, operation);
  } while (outcome != 0 && errno == EINTR);
  held_ = outcome == 0;
  return held_ || errno != EWOULDBLOCK;
}

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder,
                                       const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, open(folder, file_system));
  lock.lock(LOCK_EX);
  return lock;
}

Result<std::optional<FolderLock>> FolderLock::try_acquire(const std::filesystem::path& folder,
                                                          Mode mode,
                                                          const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, open(folder, file_system));
  if (!lock.lock((mode == Mode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
    return std::optional<FolderLock>();
  }
  return std::optional<FolderLock>(std::move(lock));
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      held_(std::exchange(other.held_, false)),
      file_system_(other.file_system_) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(held_, other.held_);
  std::swap(file_system_, other.file_system_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) file_system_->close(descriptor_);
}

bool FolderLock::is_at(const std::filesystem::path& path) const {
  struct stat locked {};
  struct stat there {};
  return descriptor_ >= 0 && file_system_->fstat(descriptor_, &locked) == 0 &&
         file_system_->stat(path.c_str(), &there) == 0 && locked.st_dev == there.st_dev &&
         locked.st_ino == there.st_ino;
}

}  // namespace ephost::context
