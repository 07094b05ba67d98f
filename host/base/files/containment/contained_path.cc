#include "host/base/files/containment/contained_path.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {

namespace fs = std::filesystem;

namespace {

bool lies_below(const fs::path& base, const fs::path& path) {
  return std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first == base.end();
}

// A link with a missing target: the process that creates the target later decides where the link
// leads.
bool has_dangling_link(fs::path base, const fs::path& relative) {
  std::error_code error;
  for (const fs::path& part : relative) {
    base /= part;
    const fs::file_status entry = fs::symlink_status(base, error);
    if (fs::is_symlink(entry) && !fs::exists(base, error)) return true;
  }
  return false;
}

// Returns why the file that the path leads to cannot be accepted, or nothing.
std::string_view refusal_of_file(const fs::path& base, const fs::path& resolved,
                                 std::string_view relative_path, std::span<const fs::path> linked) {
  const auto has_resolved = [&](const fs::path& folder) { return lies_below(folder, resolved); };
  if (!has_resolved(base) && std::ranges::none_of(linked, has_resolved)) {
    return "a symbolic link leads out of the folder";
  }
  if (has_dangling_link(base, relative_path)) return "it is a symbolic link to a missing file";
  std::error_code error;
  const fs::file_status status = fs::status(resolved, error);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) return "it is not a regular file";
  return {};
}

// A folder below which files are opened.
class Folder {
 public:
  Folder(int descriptor, const FileSystem& file_system)
      : descriptor_(descriptor), file_system_(file_system) {}
  Folder(Folder&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), file_system_(other.file_system_) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (descriptor_ >= 0) file_system_.close(descriptor_);
  }

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Returns a descriptor of the file at `path`, which has no `..`, without following any symbolic
  // link. On failure returns -1 and sets errno to ELOOP or ENOTDIR where there is a link.
  [[nodiscard]] int open(const fs::path& path) const {
    struct open_how how {};
    how.flags = static_cast<uint64_t>(InputFile::kOpenFlags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const int file = file_system_.openat2(descriptor_, path.c_str(), &how);
    // Older kernels lack the system call, and seccomp filters reject calls that they do not know.
    const bool unavailable = file < 0 && (errno == ENOSYS || errno == EPERM);
    return unavailable ? walk_to(path) : file;
  }

 private:
  // Does the same, component by component.
  [[nodiscard]] int walk_to(const fs::path& path) const {
    constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    std::optional<Folder> folder;
    const auto current = [&] { return folder ? folder->descriptor_ : descriptor_; };
    for (const fs::path& part : path.parent_path()) {
      Folder next(file_system_.openat(current(), part.c_str(), kFolderFlags), file_system_);
      if (!next.is_open()) return -1;
      folder.emplace(std::move(next));
    }
    return file_system_.openat(current(), path.filename().c_str(),
                               InputFile::kOpenFlags | O_NOFOLLOW);
  }

  int descriptor_;
  const FileSystem& file_system_;
};

// As Folder::open, of an absolute path: no part of it is a link when the file is opened, so it lies
// where its path says.
int open_without_links(const fs::path& path, const FileSystem& file_system) {
  const Folder root(file_system.open("/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0), file_system);
  return root.is_open() ? root.open(path.relative_path()) : -1;
}

}  // namespace

std::string_view refusal_of_path(std::string_view relative_path) {
  if (relative_path.empty()) return "it is empty";
  if (relative_path.find('\0') != std::string_view::npos) return "it contains a NUL byte";
  const fs::path path(relative_path);
  if (path.is_absolute()) return "it is absolute";
  if (std::find(path.begin(), path.end(), fs::path("..")) != path.end()) {
    return "it has a \"..\" component";
  }
  return {};
}

Result<InputFile> open_contained(const fs::path& base_dir, std::string_view relative_path,
                                 StatusCode refusal, const FileSystem& file_system,
                                 std::span<const fs::path> linked) {
  const auto refuse = [&](std::string_view reason) {
    return Status(refusal, formatted("the path {} below {} is refused: {}; name a file inside that "
                                     "folder, relative to it",
                                     quote(relative_path),
                                     quote(base_dir.empty() ? "." : base_dir.native()), reason));
  };
  if (const std::string_view reason = refusal_of_path(relative_path); !reason.empty()) {
    return refuse(reason);
  }
  std::error_code error;
  const fs::path base = fs::canonical(base_dir.empty() ? fs::path(".") : base_dir, error);
  if (error) return file_error("resolve the folder", base_dir, error.value());
  const Folder folder(file_system.open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0),
                      file_system);
  if (!folder.is_open()) return file_error("open the folder", base, errno);

  // A path without links is opened without following any. If that fails with ELOOP or ENOTDIR, a
  // link has just replaced what was there, and the path is resolved again.
  constexpr int kMaxAttempts = 16;
  for (int attempt = 1;; ++attempt) {
    const fs::path resolved = fs::weakly_canonical(base / relative_path, error);
    if (error) return refuse(error.message());
    if (const std::string_view reason = refusal_of_file(base, resolved, relative_path, linked);
        !reason.empty()) {
      return refuse(reason);
    }
    const int descriptor = lies_below(base, resolved)
                               ? folder.open(resolved.lexically_relative(base))
                               : open_without_links(resolved, file_system);
    if (descriptor >= 0) return InputFile::adopt(resolved, descriptor, file_system);
    const bool may_pass = errno == ELOOP || errno == ENOTDIR || errno == EAGAIN || errno == EINTR;
    if (may_pass && attempt < kMaxAttempts) continue;
    if (errno == ELOOP) return refuse("it is being replaced while it is opened");
    return file_error("open", resolved, errno);
  }
}

}  // namespace ephost
