#include "host/context/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <thread>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/format.h"

namespace ephost::context {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(1);
constexpr milliseconds kMaxPause(20);
constexpr milliseconds kReportAfter(1000);

// The process that a line of /proc/locks names as the holder of a flock on this file; 0 if the line
// is about something else. Example: "12: FLOCK ADVISORY WRITE 4711 08:01:131106 0 EOF". In the
// lines of waiting processes, "->" follows the number.
int holder_in(const std::string& line, const struct stat& file) {
  std::istringstream words(line);
  std::string number, kind, advisory, mode, place;
  int process = 0;
  if (!(words >> number >> kind >> advisory >> mode >> process >> place) || kind != "FLOCK")
    return 0;
  unsigned major = 0;
  unsigned minor = 0;
  uint64_t inode = 0;
  if (std::sscanf(place.c_str(), "%x:%x:%" SCNu64, &major, &minor, &inode) != 3) return 0;
  return makedev(major, minor) == file.st_dev && inode == file.st_ino ? process : 0;
}

}  // namespace

Result<FolderLock> FolderLock::open(const std::filesystem::path& folder,
                                    const FileSystem& file_system) {
  const int descriptor = file_system.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0 && errno != EACCES) return file_error("open the folder", folder, errno);
  return FolderLock(descriptor, file_system);
}

bool FolderLock::lock(Mode mode) {
  if (descriptor_ < 0) return true;
  const int operation = (mode == Mode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  int outcome = 0;
  do {
    outcome = file_system_->flock(descriptor_, operation);
  } while (outcome != 0 && errno == EINTR);
  held_ = outcome == 0;
  return held_ || errno != EWOULDBLOCK;
}

std::string FolderLock::holder() const {
  struct stat info {};
  const Result<std::string> locks = read_file("/proc/locks");
  if (locks.ok() && file_system_->fstat(descriptor_, &info) == 0) {
    std::istringstream lines(*locks);
    for (std::string line; std::getline(lines, line);) {
      const int process = holder_in(line, info);
      if (process == ::getpid()) return "this process";
      if (process > 0) return formatted("process {}", process);
    }
  }
  return "another process";
}

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder, const LockWait& wait,
                                       const FileSystem& file_system) {
  using Clock = std::chrono::steady_clock;
  EPHOST_ASSIGN_OR_RETURN(FolderLock lock, open(folder, file_system));
  const auto start = Clock::now();
  bool is_reported = false;
  for (milliseconds pause = kFirstPause; !lock.lock(Mode::kExclusive);
       pause = std::min(2 * pause, kMaxPause)) {
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    EPHOST_RETURN_IF_ERROR(wait.cancellation.check().with_context("waiting for the lock on " +
                                                                  quote(folder.native())));
    if (waited >= wait.timeout) {
      return Status(StatusCode::kFail,
                    formatted("the folder {} has been locked by {} for more than {} ms; check "
                              "whether that hangs, or raise ep.context_lock_timeout_ms",
                              quote(folder.native()), lock.holder(), wait.timeout.count()));
    }
    if (!is_reported && waited >= kReportAfter && wait.report) {
      wait.report(formatted("waiting for the lock on {}, held by {}", quote(folder.native()),
                            lock.holder()));
      is_reported = true;
    }
    std::this_thread::sleep_for(std::min(pause, wait.timeout - waited));
  }
  return lock;
}

Result<std::optional<FolderLock>> FolderLock::try_acquire(const std::filesystem::path& folder,
                                                          Mode mode,
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
