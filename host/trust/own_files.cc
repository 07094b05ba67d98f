#include "host/trust/own_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/ownership.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::trust {
namespace {

namespace fs = std::filesystem;

Status check_owner(const fs::path& path, const struct stat& info, Owner owner) {
  const bool is_ours = owner == Owner::kRootOrUser && info.st_uid == ::geteuid();
  if ((info.st_uid == 0 || is_ours) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return Status(
      StatusCode::kFail,
      formatted("{} decides whom to trust, but others may write it (owner {}, mode {:o}); make it "
                "belong to {} and run \"chmod go-w\" on it",
                quote(path.native()), info.st_uid, info.st_mode & 07777,
                owner == Owner::kRoot ? "root" : "you or root"));
}

// The folders and links on the way to it. No variable of the environment allows others here.
Status check_way(const fs::path& path, Owner owner) {
  const Status status = check_ownership(
      path, FilesBeside::kAreNotUsed,
      owner == Owner::kRoot ? TrustedOwners::kRootAlone : TrustedOwners::kRootAndThisUser);
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return Status(StatusCode::kFail,
                formatted("{} decides whom to trust, but {}; take write access from others (chown, "
                          "chmod go-w)",
                          quote(path.native()), status.message()));
}

Status write_all(int descriptor, std::string_view content, const fs::path& file) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error("write", file, errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? Status() : file_error("write", file, errno);
}

}  // namespace

Status check_own_folder(const fs::path& folder, Owner owner) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return file_error("look at", folder, errno);
  EPHOST_RETURN_IF_ERROR(check_owner(folder, info, owner));
  return check_way(folder, owner);
}

Result<std::string> read_own_file(const fs::path& file, Owner owner, size_t max_bytes) {
  const FileSystem& file_system = posix_file_system();
  const int descriptor = file_system.open(file.c_str(), InputFile::kOpenFlags, 0);
  if (descriptor < 0) return file_error("open", file, errno);
  struct stat info {};
  const int looked = file_system.fstat(descriptor, &info);
  EPHOST_ASSIGN_OR_RETURN(InputFile input, InputFile::adopt(file, descriptor, file_system));
  if (looked != 0) return file_error("look at", file, errno);
  EPHOST_RETURN_IF_ERROR(check_owner(file, info, owner));
  EPHOST_RETURN_IF_ERROR(check_way(file, owner));
  std::string content(max_bytes + 1, '\0');
  size_t size = 0;
  while (size < content.size()) {
    EPHOST_ASSIGN_OR_RETURN(const size_t read,
                            input.read(std::as_writable_bytes(std::span(content).subspan(size))));
    if (read == 0) break;
    size += read;
  }
  if (size > max_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has more than {} bytes", quote(file.native()), max_bytes));
  }
  content.resize(size);
  return content;
}

Status write_own_file(const fs::path& file, std::string_view content, mode_t mode) {
  EPHOST_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::create(file, private_file_system()));
  EPHOST_RETURN_IF_ERROR(output.append(as_bytes(content)));
  if (::chmod(output.temporary_path().c_str(), mode) != 0) {
    return file_error("set the mode of", output.temporary_path(), errno);
  }
  return output.commit();
}

Status create_own_file(const fs::path& file, std::string_view content, mode_t mode) {
  EPHOST_RETURN_IF_ERROR(check_file_path(file));
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (descriptor < 0 && errno == EEXIST) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} exists, and is not overwritten; choose another name or move it away",
                  quote(file.native())));
  }
  if (descriptor < 0) return file_error("create", file, errno);
  Status written = write_all(descriptor, content, file);
  if (::close(descriptor) != 0 && written.ok()) written = file_error("write", file, errno);
  if (!written.ok()) ::unlink(file.c_str());
  return written;
}

}  // namespace ephost::trust
