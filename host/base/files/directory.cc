#include "host/base/files/directory.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace ephost {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::vector<std::string> list_directory(const std::filesystem::path& folder,
                                        std::error_code& error) {
  std::vector<std::string> names;
  error.clear();
  errno = 0;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(folder.c_str()));
  while (directory) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) error.assign(errno, std::generic_category());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ephost
