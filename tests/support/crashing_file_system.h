// A FileSystem on which nothing happens any more from the n-th change on, as if the process had
// stopped there: what was done stays, nothing is cleaned up.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <limits>

#include "host/base/files/file_system.h"

namespace ephost::test {

// Set `crash_at` before use. Counted are the calls that change the folder or a file.
class CrashingFileSystem : public PosixFileSystem {
 public:
  int crash_at = std::numeric_limits<int>::max();

  // How many changes were asked for so far.
  [[nodiscard]] int changes() const { return count_; }

  int open(const char* path, int flags, mode_t mode) const override {
    if ((flags & O_CREAT) != 0 && stopped()) return -1;
    return PosixFileSystem::open(path, flags, mode);
  }
  ssize_t write(int descriptor, const void* data, size_t size) const override {
    return stopped() ? -1 : PosixFileSystem::write(descriptor, data, size);
  }
  // The process stops here, not the machine: what was written is there.
  int fsync(int) const override { return 0; }
  int rename(const char* from, const char* to) const override {
    return stopped() ? -1 : PosixFileSystem::rename(from, to);
  }
  int link(const char* existing, const char* added) const override {
    return stopped() ? -1 : PosixFileSystem::link(existing, added);
  }
  int unlink(const char* path) const override {
    return stopped() ? -1 : PosixFileSystem::unlink(path);
  }
  int unlinkat(int directory, const char* name, int flags) const override {
    return stopped() ? -1 : PosixFileSystem::unlinkat(directory, name, flags);
  }
  int mkdir(const char* path, mode_t mode) const override {
    return stopped() ? -1 : PosixFileSystem::mkdir(path, mode);
  }
  int rmdir(const char* path) const override {
    return stopped() ? -1 : PosixFileSystem::rmdir(path);
  }

 private:
  bool stopped() const {
    if (count_++ < crash_at) return false;
    errno = EIO;
    return true;
  }

  mutable int count_ = 0;
};

}  // namespace ephost::test
