#include "host/base/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/files/file_error.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/files/steady_file.h"
#include "host/base/format.h"

namespace ephost {

namespace fs = std::filesystem;

InputFile::InputFile(fs::path path, int descriptor, const FileSystem& file_system)
    : path_(std::move(path)), descriptor_(descriptor), file_system_(&file_system) {}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      version_(other.version_),
      file_system_(other.file_system_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  // What this object held passes to `other`, whose destructor closes it.
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(version_, other.version_);
  std::swap(file_system_, other.file_system_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) file_system_->close(descriptor_);
}

const int InputFile::kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<InputFile> InputFile::open(const fs::path& path, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_file_path(path));
  int descriptor = -1;
  do {
    descriptor = file_system.open(path.c_str(), kOpenFlags, 0);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return file_error("open", path, errno);
  return adopt(path, descriptor, file_system);
}

Result<InputFile> InputFile::adopt(fs::path path, int descriptor, const FileSystem& file_system) {
  InputFile file(std::move(path), descriptor, file_system);
  struct stat info {};
  if (file_system.fstat(descriptor, &info) != 0) return file_error("examine", file.path_, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is {}; give a regular file", quote(file.path_.native()),
                            S_ISDIR(info.st_mode) ? "a directory" : "a device, pipe or socket"));
  }
  info.st_size = std::max<off_t>(info.st_size, 0);
  file.version_ = FileVersion::of(info);
  file.version_.is_steady = file.size() >= kLargeFile && is_steady(descriptor, info, file_system);
  return file;
}

Result<size_t> InputFile::read(std::span<std::byte> buffer) {
  ssize_t count = 0;
  do {
    count = file_system_->read(descriptor_, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return file_error("read", path_, errno);
  return static_cast<size_t>(count);
}

MappedFile::MappedFile(fs::path path, std::span<const std::byte> bytes,
                       const FileSystem& file_system)
    : path_(std::move(path)), bytes_(bytes), file_system_(&file_system) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      file_system_(other.file_system_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    path_ = std::move(other.path_);
    bytes_ = std::exchange(other.bytes_, {});
    file_system_ = other.file_system_;
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() noexcept {
  if (bytes_.empty()) return;
  remove_mapping(bytes_);
  file_system_->munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  bytes_ = {};
}

Result<MappedFile> MappedFile::open(const fs::path& path, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path, file_system));
  return map(file);
}

Result<MappedFile> MappedFile::map(const InputFile& file) {
  const std::optional<size_t> size = checked_cast<size_t>(file.size());
  if (!size) return file_error("map", file.path(), EFBIG);
  if (*size == 0) return MappedFile(file.path(), {}, *file.file_system_);

  void* address = file.file_system_->mmap(*size, file.descriptor_);
  if (address == MAP_FAILED) return file_error("map", file.path(), errno);
  const std::span bytes(static_cast<const std::byte*>(address), *size);
  add_mapping(bytes, file.version_, file.path());
  return MappedFile(file.path(), bytes, *file.file_system_);
}

namespace {

Status too_large(const fs::path& path, uint64_t max_bytes) {
  return Status(StatusCode::kInvalidArgument,
                formatted("{} has more than {} bytes, which is the size limit of such a file",
                          quote(path.native()), max_bytes));
}

}  // namespace

Result<std::string> read_file(const fs::path& path, uint64_t max_bytes,
                              const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path, file_system));
  if (file.size() > max_bytes) return too_large(path, max_bytes);

  // The size is only a hint: a file may grow while it is read, and files in /proc report 0.
  constexpr size_t kMargin = 4096;
  const std::optional<size_t> expected = checked_cast<size_t>(file.size());
  if (!expected || *expected > std::string().max_size() - kMargin) {
    return file_error("read", path, EFBIG);
  }
  std::string content(*expected + kMargin, '\0');
  size_t used = 0;
  while (true) {
    if (used == content.size()) content.resize(content.size() * 2);
    const std::span<char> rest = std::span(content).subspan(used);
    EPHOST_ASSIGN_OR_RETURN(const size_t count, file.read(std::as_writable_bytes(rest)));
    if (count == 0) break;
    used += count;
    if (used > max_bytes) return too_large(path, max_bytes);
  }
  content.resize(used);
  return content;
}

}  // namespace ephost
