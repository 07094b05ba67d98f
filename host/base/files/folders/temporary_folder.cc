#include "host/base/files/folders/temporary_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/folders/directory.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;

// std::filesystem::remove_all would end the process where memory runs out
// (host/base/files/folders/directory.h). Follows no links.
void remove_with_content(const fs::path& path) {
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::directory) {
    for (const std::string& name : list_directory(path, ignored)) remove_with_content(path / name);
  }
  fs::remove(path, ignored);
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string pattern = (parent / "ephost-bench-XXXXXX").string();
  if (failure || ::mkdtemp(pattern.data()) == nullptr) {
    return Status(StatusCode::kFail,
                  formatted("cannot make a folder in {}; set TMPDIR to a folder that is writable",
                            parent.string()));
  }
  return TemporaryFolder(pattern);
}

Result<TemporaryFolder> TemporaryFolder::create_beside(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string pattern = (parent / ".ephost-XXXXXX").string();
  if (::mkdtemp(pattern.data()) != nullptr) return TemporaryFolder(pattern);
  const std::error_code reason(errno, std::generic_category());
  return Status(StatusCode::kFail, formatted("cannot make a folder in {}: {}; name another place",
                                             quote(parent.native()), reason.message()));
}

Status TemporaryFolder::keep_as(const fs::path& path) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool is_done =
      ::chmod(path_.c_str(), 0777 & ~mask) == 0 &&
      ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0;
  const int reason = errno;
  if (is_done) {
    path_.clear();
    return Status::ok_status();
  }
  if (reason == EEXIST || reason == ENOTEMPTY) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} exists already and is left as it is; name another folder",
                            quote(path.native())));
  }
  return Status(StatusCode::kFail,
                formatted("cannot make the folder {}: {}", quote(path.native()),
                          std::error_code(reason, std::generic_category()).message()));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  try {
    remove_with_content(path_);
  } catch (const std::exception&) {
    // Memory ran out; the rest stays.
  }
}

}  // namespace ephost
