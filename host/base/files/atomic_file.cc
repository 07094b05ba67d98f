#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/file_lock.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/temporary_files.h"
#include "host/base/format.h"

namespace ephost {

namespace fs = std::filesystem;

namespace {

fs::path directory_of(const fs::path& path) {
  const fs::path directory = path.parent_path();
  return directory.empty() ? fs::path(".") : directory;
}

constexpr std::string_view kTemporaryPrefix = ".ephost-";
constexpr std::string_view kTemporarySuffix = ".tmp";

// The name is short whatever the target's name is, so that targets with names of maximum length
// work too.
fs::path temporary_name() {
  static std::atomic<uint64_t> counter{0};
  return formatted("{}{}-{}{}", kTemporaryPrefix, ::getpid(), counter.fetch_add(1),
                   kTemporarySuffix);
}

// A temporary file stays locked while its writer lives, which distinguishes it from an abandoned
// one.
LockOutcome lock_temporary(int descriptor, const FileSystem& file_system) {
  return try_lock(descriptor, LockMode::kExclusive, file_system);
}

Status check_target(const fs::path& path, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_file_path(path));
  if (!path.has_filename()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot write {}: it does not name a file; give a file name",
                            quote(path.native())));
  }
  struct stat info {};
  if (file_system.stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot write {}: it is {}; give a file name", quote(path.native()),
                            S_ISDIR(info.st_mode) ? "a directory" : "a device, pipe or socket"));
  }
  return Status::ok_status();
}

int sync_descriptor(int descriptor, const FileSystem& file_system) {
  int outcome = 0;
  do {
    outcome = file_system.fsync(descriptor);
  } while (outcome != 0 && errno == EINTR);
  return outcome;
}

Status sync_directory(const fs::path& directory, const FileSystem& file_system) {
  const int descriptor = file_system.open_folder(directory.c_str());
  if (descriptor < 0) {
    // A directory may be writable but not readable; such a directory cannot be synced.
    if (errno == EACCES) return Status::ok_status();
    return file_error("open the directory", directory, errno);
  }
  const int outcome = sync_descriptor(descriptor, file_system);
  const int error = errno;
  file_system.close(descriptor);
  // Some file systems do not sync directories and report EINVAL.
  if (outcome == 0 || error == EINVAL) return Status::ok_status();
  return file_error("sync the directory", directory, error);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path, fs::path temporary_path, int descriptor,
                       const FileSystem& file_system)
    : path_(std::move(path)),
      temporary_path_(std::move(temporary_path)),
      descriptor_(descriptor),
      file_system_(&file_system) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      file_system_(other.file_system_) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    temporary_path_ = std::exchange(other.temporary_path_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    size_ = other.size_;
    file_system_ = other.file_system_;
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) file_system_->close(std::exchange(descriptor_, -1));
  if (!temporary_path_.empty()) file_system_->unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

Result<AtomicFile> AtomicFile::create(const fs::path& path, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_target(path, file_system));
  // A name is taken if another process with our process id (in a container, for example) left a
  // file behind.
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fs::path temporary = directory_of(path) / temporary_name();
    const int descriptor =
        file_system.open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      if (errno == EEXIST || errno == EINTR) continue;
      return file_error("create", path, errno);
    }
    AtomicFile file(path, std::move(temporary), descriptor, file_system);
    // A cleanup in another process may hold the lock, or may have removed the file, before we
    // locked it. On file systems without locks it is never removed.
    if (lock_temporary(descriptor, file_system) == LockOutcome::kHeldElsewhere) continue;
    struct stat info {};
    if (file_system.fstat(descriptor, &info) != 0) return file_error("create", path, errno);
    if (info.st_nlink > 0) return file;
  }
  return file_error("create a temporary file for", path, EEXIST);
}

Status AtomicFile::append(std::span<const std::byte> bytes) {
  assert(descriptor_ >= 0 && "append after commit");
  while (!bytes.empty()) {
    const ssize_t count = file_system_->write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    // No file system reports success without progress; treating that as an error ends the loop.
    if (count <= 0) return file_error("write", path_, count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<size_t>(count));
    size_ += static_cast<uint64_t>(count);
  }
  return Status::ok_status();
}

Status AtomicFile::align_to(uint64_t alignment) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  const std::optional<uint64_t> end = checked_align_up(size_, alignment);
  if (!end) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("cannot align {} to {}; give a power of two", quote(path_.native()), alignment));
  }
  while (size_ < *end) {
    const size_t count = std::min<uint64_t>(*end - size_, kZeros.size());
    EPHOST_RETURN_IF_ERROR(append(std::span(kZeros).first(count)));
  }
  return Status::ok_status();
}

Status AtomicFile::commit() {
  assert(descriptor_ >= 0 && "commit is called at most once");
  if (sync_descriptor(descriptor_, *file_system_) != 0) return file_error("sync", path_, errno);
  // The file is still open, so that it stays locked as long as it has its temporary name.
  if (file_system_->rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return file_error("rename the finished temporary file to", path_, errno);
  }
  temporary_path_.clear();
  // The data is on disk; closing adds nothing.
  file_system_->close(std::exchange(descriptor_, -1));
  return sync_directory(directory_of(path_), *file_system_);
}

Status write_file_atomically(const fs::path& path, std::span<const std::byte> bytes,
                             const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path, file_system));
  EPHOST_RETURN_IF_ERROR(file.append(bytes));
  return file.commit();
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  name.remove_suffix(kTemporarySuffix.size());
  return name.find_first_not_of("0123456789-") == std::string_view::npos;
}

namespace {

// Calls `visit` with each abandoned file while it is locked.
template <class Visit>
void for_each_abandoned(const fs::path& directory, const FileSystem& file_system, Visit visit) {
  std::error_code ignored;
  for (const std::string& name : list_directory(directory, ignored)) {
    if (!is_temporary_name(name)) continue;
    const fs::path path = directory / name;
    const int descriptor =
        file_system.open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (descriptor < 0) continue;
    if (lock_temporary(descriptor, file_system) == LockOutcome::kTaken) visit(path);
    file_system.close(descriptor);
  }
}

}  // namespace

std::vector<fs::path> find_abandoned_temporaries(const fs::path& directory,
                                                 const FileSystem& file_system) {
  std::vector<fs::path> found;
  for_each_abandoned(directory, file_system, [&](const fs::path& path) { found.push_back(path); });
  return found;
}

void remove_abandoned_temporaries(const fs::path& directory, const FileSystem& file_system) {
  for_each_abandoned(directory, file_system,
                     [&](const fs::path& path) { file_system.unlink(path.c_str()); });
}

}  // namespace ephost
