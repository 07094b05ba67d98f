// Shared or exclusive lock (flock) on a folder itself, between processes and threads. It leaves no
// lock file, and the kernel releases it when the process ends. It serialises publications into a
// folder, and protects entries of the cache store that are in use from removal.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file_lock.h"

namespace ephost::context {

// How to wait for a lock that another holder has.
struct LockWait {
  std::chrono::milliseconds timeout{10'000};
  Cancellation cancellation = {};  // ends the wait when requested
  // Called once, on the waiting thread, if the wait takes longer than a second. May be empty.
  std::function<void(const std::string& message)> report;
};

class FolderLock {
 public:
  // Takes the exclusive lock, waiting for other holders: FAIL after the timeout,
  // CANCELLED or DEADLINE_EXCEEDED once cancelled. If the file system has no locks, or the folder
  // is writable but not readable, the result holds no lock; publication is then still atomic for
  // each file.
  static Result<FolderLock> acquire(const std::filesystem::path& folder, const LockWait& wait,
                                    const FileSystem& file_system);

  // Takes the lock without waiting; nullopt if another holder excludes it.
  static Result<std::optional<FolderLock>> try_acquire(const std::filesystem::path& folder,
                                                       LockMode mode,
                                                       const FileSystem& file_system);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  // False if the file system has no locks.
  [[nodiscard]] bool is_held() const { return held_; }

  // Whether `path` still leads to the locked folder, which may have been renamed or removed.
  [[nodiscard]] bool is_at(const std::filesystem::path& path) const;

 private:
  FolderLock(int descriptor, const FileSystem& file_system)
      : descriptor_(descriptor), file_system_(&file_system) {}
  static Result<FolderLock> open(const std::filesystem::path& folder,
                                 const FileSystem& file_system);
  // Does not wait; false if another holder excludes it.
  bool lock(LockMode mode);

  int descriptor_;
  bool held_ = false;
  const FileSystem* file_system_;
};

}  // namespace ephost::context
