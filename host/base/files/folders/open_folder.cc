#include "host/base/files/folders/open_folder.h"

#include <fcntl.h>

#include "host/base/files/folders/directory.h"

namespace ephost {
namespace {

constexpr int kInnerFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kMostDepth = 8;

}  // namespace

OpenFolder::OpenFolder(const std::filesystem::path& path, const FileSystem& file_system)
    : descriptor_(file_system.open(path.c_str(), kInnerFlags, 0)), file_system_(file_system) {}

OpenFolder::OpenFolder(const OpenFolder& outer, const std::string& name)
    : descriptor_(outer.file_system_.openat(outer.descriptor_, name.c_str(), kInnerFlags)),
      file_system_(outer.file_system_) {}

OpenFolder::~OpenFolder() {
  if (descriptor_ >= 0) file_system_.close(descriptor_);
}

std::optional<std::string> OpenFolder::read_start(const std::string& name, size_t most) const {
  std::string text(most, '\0');
  const int file = file_system_.openat(descriptor_, name.c_str(),
                                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t count = file_system_.read(file, text.data(), text.size());
  file_system_.close(file);
  if (count < 0) return std::nullopt;
  text.resize(static_cast<size_t>(count));
  return text;
}

void OpenFolder::remove_file(const std::string& name) const {
  file_system_.unlinkat(descriptor_, name.c_str(), 0);
}

bool OpenFolder::remove_content(const std::string& spared) const {
  struct stat info {};
  return file_system_.fstat(descriptor_, &info) == 0 && remove_content(info.st_dev, spared, 0);
}

bool OpenFolder::remove_content(dev_t device, const std::string& spared, int depth) const {
  bool is_all = true;
  for (const std::string& name : list_directory(descriptor_)) {
    if (name == spared || file_system_.unlinkat(descriptor_, name.c_str(), 0) == 0) continue;
    const OpenFolder inner(*this, name);
    struct stat info {};
    const bool may_go = inner.is_open() && depth < kMostDepth &&
                        file_system_.fstat(inner.descriptor_, &info) == 0 &&
                        info.st_dev == device && inner.remove_content(device, {}, depth + 1);
    if (!may_go || file_system_.unlinkat(descriptor_, name.c_str(), AT_REMOVEDIR) != 0) {
      is_all = false;
    }
  }
  return is_all;
}

}  // namespace ephost
