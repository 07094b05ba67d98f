// The system calls behind host/base/files/file.h, as one overridable table, so that a test can make
// the n-th operation fail (short write, full disk, failed sync, failed rename). It is not an
// abstraction over operating systems: every slot means exactly what the system call of that name
// means.
#pragma once

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <cstddef>

namespace ephost {

// Each function returns what the system call returns, and sets errno on failure. All may be called
// from any thread.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual int open(const char* path, int flags, mode_t mode) const = 0;
  virtual int openat(int folder, const char* path, int flags) const = 0;
  // Fails with ENOSYS before Linux 5.6.
  virtual int openat2(int folder, const char* path, const struct open_how* how) const = 0;
  virtual int close(int descriptor) const = 0;
  virtual int stat(const char* path, struct stat* out_info) const = 0;
  virtual int fstat(int descriptor, struct stat* out_info) const = 0;
  virtual ssize_t read(int descriptor, void* out_data, size_t size) const = 0;
  // A write beyond the file size limit (RLIMIT_FSIZE) fails with EFBIG and raises no SIGXFSZ.
  virtual ssize_t write(int descriptor, const void* data, size_t size) const = 0;
  virtual int fsync(int descriptor) const = 0;
  virtual int rename(const char* from, const char* to) const = 0;
  virtual int link(const char* existing, const char* added) const = 0;
  virtual int unlink(const char* path) const = 0;
  virtual int mkdir(const char* path, mode_t mode) const = 0;
  virtual int rmdir(const char* path) const = 0;
  virtual int unlinkat(int folder, const char* path, int flags) const = 0;
  // The path is relative to the current directory; links are followed.
  virtual int utimensat(const char* path, const struct timespec* times) const = 0;
  virtual int flock(int descriptor, int operation) const = 0;
  // Only the commands that take an integer.
  virtual int fcntl(int descriptor, int command, int argument) const = 0;
  virtual int fstatfs(int descriptor, struct statfs* out_info) const = 0;
  // Maps the first `size` bytes for reading with MAP_PRIVATE; returns MAP_FAILED on failure.
  virtual void* mmap(size_t size, int descriptor) const = 0;
  virtual int munmap(void* address, size_t size) const = 0;

  // Opens a folder, to be locked or synced; follows links.
  [[nodiscard]] int open_folder(const char* path) const;
};

// The real system calls; tests override single slots.
class PosixFileSystem : public FileSystem {
 public:
  int open(const char* path, int flags, mode_t mode) const override;
  int openat(int folder, const char* path, int flags) const override;
  int openat2(int folder, const char* path, const struct open_how* how) const override;
  int close(int descriptor) const override;
  int stat(const char* path, struct stat* out_info) const override;
  int fstat(int descriptor, struct stat* out_info) const override;
  ssize_t read(int descriptor, void* out_data, size_t size) const override;
  ssize_t write(int descriptor, const void* data, size_t size) const override;
  int fsync(int descriptor) const override;
  int rename(const char* from, const char* to) const override;
  int link(const char* existing, const char* added) const override;
  int unlink(const char* path) const override;
  int mkdir(const char* path, mode_t mode) const override;
  int rmdir(const char* path) const override;
  int unlinkat(int folder, const char* path, int flags) const override;
  int utimensat(const char* path, const struct timespec* times) const override;
  int flock(int descriptor, int operation) const override;
  int fcntl(int descriptor, int command, int argument) const override;
  int fstatfs(int descriptor, struct statfs* out_info) const override;
  void* mmap(size_t size, int descriptor) const override;
  int munmap(void* address, size_t size) const override;
};

// The default of every `file_system` parameter; lives as long as the process.
[[nodiscard]] const FileSystem& posix_file_system();

}  // namespace ephost
