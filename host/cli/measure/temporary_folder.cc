#include "host/cli/measure/temporary_folder.h"

#include <stdlib.h>

#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/directory.h"
#include "host/base/format.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

// std::filesystem::remove_all would end the process where memory runs out
// (host/base/files/directory.h). Follows no links.
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

}  // namespace ephost::cli
