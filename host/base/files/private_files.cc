#include "host/base/files/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "host/base/files/file_descriptor.h"
#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {

int PrivateFileSystem::open(const char* path, int flags, mode_t mode) const {
  return PosixFileSystem::open(path, flags, mode & S_IRWXU);
}

const FileSystem& private_file_system() {
  static const PrivateFileSystem file_system;
  return file_system;
}

Status create_file(const std::filesystem::path& file, std::string_view content, mode_t mode) {
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
  Status written;
  if (!write_all(descriptor, content) || ::fsync(descriptor) != 0) {
    written = file_error("write", file, errno);
  }
  if (::close(descriptor) != 0 && written.ok()) written = file_error("write", file, errno);
  if (!written.ok()) ::unlink(file.c_str());
  return written;
}

Status make_private_folders(const std::filesystem::path& folder, mode_t mode) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  if (folder.parent_path() != folder) {
    EPHOST_RETURN_IF_ERROR(make_private_folders(folder.parent_path(), mode));
  }
  // A path that ends in a slash has itself as its parent path, which exists by now.
  if (::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return {};
  return file_error("make the folder", folder, errno);
}

}  // namespace ephost
