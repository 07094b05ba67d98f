#include "host/base/files/file_lock.h"

#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "host/base/files/file.h"
#include "host/base/format.h"

namespace ephost {
namespace {

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

LockOutcome try_lock(int descriptor, LockMode mode, const FileSystem& file_system) {
  const int operation = (mode == LockMode::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  int outcome = 0;
  do {
    outcome = file_system.flock(descriptor, operation);
  } while (outcome != 0 && errno == EINTR);
  if (outcome == 0) return LockOutcome::kTaken;
  return errno == EWOULDBLOCK ? LockOutcome::kHeldElsewhere : LockOutcome::kFailed;
}

std::string lock_holder(int descriptor, const FileSystem& file_system) {
  struct stat info {};
  const Result<std::string> locks = read_file("/proc/locks");
  if (locks.ok() && file_system.fstat(descriptor, &info) == 0) {
    std::istringstream lines(*locks);
    for (std::string line; std::getline(lines, line);) {
      const int process = holder_in(line, info);
      if (process == ::getpid()) return "this process";
      if (process > 0) return formatted("process {}", process);
    }
  }
  return "another process";
}

}  // namespace ephost
