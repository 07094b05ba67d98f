// A lock on a folder itself, shared or exclusive, across processes and threads: no lock file is
// left, and it ends with the process. Keeps the publications into one folder apart, and those who
// use an entry of the cache store from those who remove it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file_system.h"

namespace ephost::context {

// How to wait for a lock that somebody else holds.
struct LockWait {
  std::chrono::milliseconds timeout{10'000};
  Cancellation cancellation = {};  // ends the wait
  // Called once, by the waiting thread, if the wait takes longer than a second. May be empty.
  std::function<void(const std::string& message)> report;
};

class FolderLock {
 public:
  enum class Mode { kShared, kExclusive };

  // Waits until nobody else holds it: FAIL after the timeout, MODEL_LOAD_CANCELED once cancelled.
  // Where the file system has no locks, or the folder may be written but not read, the result holds
  // nothing: publication then still is atomic file by file.
  static Result<FolderLock> acquire(const std::filesystem::path& folder, const LockWait& wait,
                                    const FileSystem& file_system);

  // The same without waiting; nothing if another holder excludes it.
  static Result<std::optional<FolderLock>> try_acquire(const std::filesystem::path& folder,
                                                       Mode mode, const FileSystem& file_system);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  // False where the file system has no locks.
  [[nodiscard]] bool is_held() const { return held_; }

  // Whether `path` is the folder that was locked; no longer, if it was renamed or removed.
  [[nodiscard]] bool is_at(const std::filesystem::path& path) const;

 private:
  FolderLock(int descriptor, const FileSystem& file_system)
      : descriptor_(descriptor), file_system_(&file_system) {}
  static Result<FolderLock> open(const std::filesystem::path& folder,
                                 const FileSystem& file_system);
  // Without waiting; false if another holder excludes it.
  bool lock(Mode mode);
  // "process 123", as far as the system tells.
  [[nodiscard]] std::string holder() const;

  int descriptor_;
  bool held_ = false;
  const FileSystem* file_system_;
};

}  // namespace ephost::context
