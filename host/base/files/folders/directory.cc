#include "host/base/files/folders/directory.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "host/base/files/file_descriptor.h"

namespace ephost {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Leaves in errno why not all names were read, or 0; unchanged for null.
std::vector<std::string> read_names(DIR* directory) {
  std::vector<std::string> names;
  while (directory != nullptr) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> list_directory(const std::filesystem::path& folder,
                                        std::error_code& error) {
  error.clear();
  errno = 0;
  const Directory directory(::opendir(folder.c_str()));
  std::vector<std::string> names = read_names(directory.get());
  if (errno != 0) error.assign(errno, std::generic_category());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> list_directory(int folder) {
  FileDescriptor copy(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  const Directory directory(copy.is_open() ? ::fdopendir(copy.get()) : nullptr);
  if (!directory) return {};
  static_cast<void>(copy.release());
  ::rewinddir(directory.get());  // it shares its position with `folder`
  std::vector<std::string> names = read_names(directory.get());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ephost
