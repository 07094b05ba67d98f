#include "host/context/folder_lock.h"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/format.h"

namespace ephost::context {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(1);
constexpr milliseconds kMaxPause(20);
constexpr milliseconds kReportAfter(1000);

}  // namespace

Result<FolderLock> FolderLock::open(const std::filesystem::path& folder,
                                    const FileSystem& file_system) {
  const int descriptor = file_system.open_folder(folder.c_str());
  if (descriptor < 0 && errno != EACCES) return file_error("open the folder", folder, errno);
  return FolderLock(descriptor, file_system);
}

bool FolderLock::lock(LockMode mode) {
  if (descriptor_ < 0) return true;
  const LockOutcome outcome = try_lock(descriptor_, mode, *file_system_);
  held_ = outcome == LockOutcome::kTaken;
  return outcome != LockOutcome::kHeldElsewhere;
}

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder, const LockWait& wait,
                                       const FileSystem& file_system) {
  using Clock = std::chrono::steady_clock;
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, open(folder, file_system));
  const auto start = Clock::now();
  bool is_reported = false;
  for (milliseconds pause = kFirstPause; !lock.lock(LockMode::kExclusive);
       pause = std::min(2 * pause, kMaxPause)) {
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    EPHOST_RETURN_IF_ERROR(wait.cancellation.check().with_context("waiting for the lock on " +
                                                                  quote(folder.native())));
    if (waited >= wait.timeout) {
      return Status(StatusCode::kFail,
                    formatted("the folder {} has been locked by {} for more than {} ms; check "
                              "whether that hangs, or raise ep.context_lock_timeout_ms",
                              quote(folder.native()), lock_holder(lock.descriptor_, file_system),
                              wait.timeout.count()));
    }
    if (!is_reported && waited >= kReportAfter && wait.report) {
      wait.report(formatted("waiting for the lock on {}, held by {}", quote(folder.native()),
                            lock_holder(lock.descriptor_, file_system)));
      is_reported = true;
    }
    std::this_thread::sleep_for(std::min(pause, wait.timeout - waited));
  }
  return lock;
}

Result<std::optional<FolderLock>> FolderLock::try_acquire(const std::filesystem::path& folder,
                                                          LockMode mode,
                                                          const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, open(folder, file_system));
  if (!lock.lock(mode)) return std::optional<FolderLock>();
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
