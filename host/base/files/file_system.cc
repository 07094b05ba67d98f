#include "host/base/files/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace ephost {

namespace {

// While this object lives, a signal that a system call of this thread raises does not end the
// process. The disposition of that signal, which is process-wide, is left to the application.
class HeldSignal {
 public:
  explicit HeldSignal(int number) {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, number) == 1;
    sigemptyset(&signals_);
    sigaddset(&signals_, number);
    is_blocked_ = ::pthread_sigmask(SIG_BLOCK, &signals_, &old_mask_) == 0;
  }
  HeldSignal(const HeldSignal&) = delete;
  HeldSignal& operator=(const HeldSignal&) = delete;
  ~HeldSignal() {
    if (!is_blocked_) return;
    const int error = errno;
    constexpr struct timespec kNoWait {};
    if (!was_pending_) ::sigtimedwait(&signals_, nullptr, &kNoWait);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    errno = error;
  }

 private:
  sigset_t signals_ = {};
  sigset_t old_mask_ = {};
  bool is_blocked_ = false;
  bool was_pending_ = false;
};

}  // namespace

int FileSystem::open_folder(const char* path) const {
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

int PosixFileSystem::open(const char* path, int flags, mode_t mode) const {
  return ::open(path, flags, mode);
}

int PosixFileSystem::openat(int folder, const char* path, int flags) const {
  return ::openat(folder, path, flags);
}

// The C library has no wrapper for this call yet.
int PosixFileSystem::openat2(int folder, const char* path, const struct open_how* how) const {
  return static_cast<int>(::syscall(SYS_openat2, folder, path, how, sizeof(*how)));
}

int PosixFileSystem::close(int descriptor) const { return ::close(descriptor); }

int PosixFileSystem::stat(const char* path, struct stat* out_info) const {
  return ::stat(path, out_info);
}

int PosixFileSystem::fstat(int descriptor, struct stat* out_info) const {
  return ::fstat(descriptor, out_info);
}

ssize_t PosixFileSystem::read(int descriptor, void* out_data, size_t size) const {
  return ::read(descriptor, out_data, size);
}

ssize_t PosixFileSystem::write(int descriptor, const void* data, size_t size) const {
  const HeldSignal signal(SIGXFSZ);
  return ::write(descriptor, data, size);
}

int PosixFileSystem::fsync(int descriptor) const { return ::fsync(descriptor); }

int PosixFileSystem::rename(const char* from, const char* to) const { return ::rename(from, to); }

int PosixFileSystem::link(const char* existing, const char* added) const {
  return ::link(existing, added);
}

int PosixFileSystem::unlink(const char* path) const { return ::unlink(path); }

int PosixFileSystem::unlinkat(int folder, const char* path, int flags) const {
  return ::unlinkat(folder, path, flags);
}

int PosixFileSystem::mkdir(const char* path, mode_t mode) const { return ::mkdir(path, mode); }

int PosixFileSystem::rmdir(const char* path) const { return ::rmdir(path); }

int PosixFileSystem::utimensat(const char* path, const struct timespec* times) const {
  return ::utimensat(AT_FDCWD, path, times, 0);
}

int PosixFileSystem::flock(int descriptor, int operation) const {
  return ::flock(descriptor, operation);
}

int PosixFileSystem::fcntl(int descriptor, int command, int argument) const {
  return ::fcntl(descriptor, command, argument);
}

int PosixFileSystem::fstatfs(int descriptor, struct statfs* out_info) const {
  return ::fstatfs(descriptor, out_info);
}

void* PosixFileSystem::mmap(size_t size, int descriptor) const {
  return ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
}

int PosixFileSystem::munmap(void* address, size_t size) const { return ::munmap(address, size); }

const FileSystem& posix_file_system() {
  static const PosixFileSystem instance;
  return instance;
}

}  // namespace ephost
