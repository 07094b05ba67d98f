// A folder by its descriptor, which stays the same folder whatever happens to its path. Links in it
// are never followed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "host/base/files/file_system.h"

namespace ephost {

class OpenFolder {
 public:
  // Not open if nothing, a link or something other than a folder is there.
  OpenFolder(const std::filesystem::path& path, const FileSystem& file_system);
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder();

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // The first bytes of a file, `most` at most; nothing if it cannot be read.
  [[nodiscard]] std::optional<std::string> read_start(const std::string& name, size_t most) const;
  void remove_file(const std::string& name) const;
  // Removes what is in it, apart from `spared`, as far as possible: only in this file system, and
  // not below eight folders. Returns whether nothing else is left.
  bool remove_content(const std::string& spared) const;

 private:
  OpenFolder(const OpenFolder& outer, const std::string& name);
  bool remove_content(dev_t device, const std::string& spared, int depth) const;

  int descriptor_;
  const FileSystem& file_system_;
};

}  // namespace ephost
