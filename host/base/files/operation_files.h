// The files that one operation reads and writes. No file that is written may be one that is read,
// whatever path, symbolic link or hard link leads to it, and no two outputs may have one name.
// Every operation that writes files states them here before it writes the first one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ephost/status.h"

namespace ephost {

// A value. Each function returns INVALID_ARGUMENT, naming both files and their roles, for a file
// that conflicts with one that was added before; it is not added then. `role` is how messages speak
// of the file, e.g. "the model".
class OperationFiles {
 public:
  // A file that is missing conflicts with an output of the same name.
  [[nodiscard]] Status add_input(const std::filesystem::path& path, std::string role);

  // The same for content that was mapped from `path` (host/base/files/file.h), which may have been
  // replaced since. Content that lies elsewhere counts for nothing.
  [[nodiscard]] Status add_input(const std::filesystem::path& path,
                                 std::span<const std::byte> content, std::string role);

  // The file need not exist.
  [[nodiscard]] Status add_output(const std::filesystem::path& path, std::string role);

  // Adds what `other` holds; an output that both have, with the same path and role, is one.
  [[nodiscard]] Status add_all(const OperationFiles& other);

 private:
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    bool operator==(const Identity&) const = default;
  };
  struct File {
    std::filesystem::path path;
    std::string role;
    std::optional<Identity> content;  // of a regular file; links are followed
    std::optional<Identity> folder;   // that the name belongs to
  };

  static std::optional<Identity> identity_of(const std::filesystem::path& path, bool is_folder);
  static File examine(const std::filesystem::path& path, std::string role);
  static bool have_one_name(const File& a, const File& b);
  bool has_output(const File& output) const;

  Status add_input(File input);
  Status add_output(File output);

  std::vector<File> inputs_;
  std::vector<File> outputs_;
};

}  // namespace ephost
