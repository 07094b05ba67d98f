// A FileSystem that fails the n-th operation, moves few bytes at a time, or runs full, on the real
// one below.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>

#include "host/base/files/file_system.h"

namespace ephost::test {

// Set the fields before use. Every call but munmap, unlink, unlinkat and rmdir counts as one
// operation.
class FaultyFileSystem : public PosixFileSystem {
 public:
  int fail_at = -1;             // index of the operation that fails; -1: none
  int error = EIO;              // what it fails with
  std::function<void()> event;  // if set, it does not fail; this happens right before it
  bool skips_syncs = false;     // they count, but do not wait for the disk
  size_t most_bytes_per_call = std::numeric_limits<size_t>::max();
  mutable size_t room = std::numeric_limits<size_t>::max();  // bytes until the disk is full

  // How many operations there were so far.
  [[nodiscard]] int operations() const { return count_; }

  int open(const char* path, int flags, mode_t mode) const override {
    return fails() ? -1 : PosixFileSystem::open(path, flags, mode);
  }
  int openat(int folder, const char* path, int flags) const override {
    return fails() ? -1 : PosixFileSystem::openat(folder, path, flags);
  }
  int openat2(int folder, const char* path, const struct open_how* how) const override {
    return fails() ? -1 : PosixFileSystem::openat2(folder, path, how);
  }
  int close(int descriptor) const override {
    const int outcome = PosixFileSystem::close(descriptor);
    return fails() ? -1 : outcome;
  }
  int stat(const char* path, struct stat* out_info) const override {
    return fails() ? -1 : PosixFileSystem::stat(path, out_info);
  }
  int fstat(int descriptor, struct stat* out_info) const override {
    return fails() ? -1 : PosixFileSystem::fstat(descriptor, out_info);
  }
  ssize_t read(int descriptor, void* out_data, size_t size) const override {
    if (fails()) return -1;
    return PosixFileSystem::read(descriptor, out_data, std::min(size, most_bytes_per_call));
  }
  ssize_t write(int descriptor, const void* data, size_t size) const override {
    if (fails()) return -1;
    if (room == 0) {
      errno = ENOSPC;
      return -1;
    }
    const size_t fitting = std::min({size, most_bytes_per_call, room});
    room -= fitting;
    return PosixFileSystem::write(descriptor, data, fitting);
  }
  int fsync(int descriptor) const override {
    if (fails()) return -1;
    return skips_syncs ? 0 : PosixFileSystem::fsync(descriptor);
  }
  int rename(const char* from, const char* to) const override {
    return fails() ? -1 : PosixFileSystem::rename(from, to);
  }
  int link(const char* existing, const char* added) const override {
    return fails() ? -1 : PosixFileSystem::link(existing, added);
  }
  int mkdir(const char* path, mode_t mode) const override {
    return fails() ? -1 : PosixFileSystem::mkdir(path, mode);
  }
  int utimensat(const char* path, const struct timespec* times) const override {
    return fails() ? -1 : PosixFileSystem::utimensat(path, times);
  }
  int flock(int descriptor, int operation) const override {
    return fails() ? -1 : PosixFileSystem::flock(descriptor, operation);
  }
  void* mmap(size_t size, int descriptor) const override {
    return fails() ? MAP_FAILED : PosixFileSystem::mmap(size, descriptor);
  }

 private:
  bool fails() const {
    if (count_++ != fail_at) return false;
    if (event) {
      event();
      return false;
    }
    errno = error;
    return true;
  }

  mutable int count_ = 0;
};

}  // namespace ephost::test
