#include "host/base/files/private_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "host/base/files/file_error.h"

namespace ephost {

int PrivateFileSystem::open(const char* path, int flags, mode_t mode) const {
  return PosixFileSystem::open(path, flags, mode & S_IRWXU);
}

const FileSystem& private_file_system() {
  static const PrivateFileSystem file_system;
  return file_system;
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
