// The files that one operation reads and writes. An output must not be an input, whatever path,
// symbolic link or hard link leads to it, and no two outputs may have the same name. Every
// operation that writes files adds them here before it writes the first one.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ephost {

// A value type. Each function returns INVALID_ARGUMENT, naming both files and their roles, for a
// file that conflicts with one that was added before; it is then not added. `role` is how messages
// refer to the file, e.g. "the model".
class OperationFiles {
 public:
  // An input that does not exist conflicts with an output of the same name.
  [[nodiscard]] Status add_input(const std::filesystem::path& path, std::string role);

  // The same for content that was mapped from `path` (host/base/files/file.h), which may have been
  // replaced since. Content that is not mapped is ignored.
  [[nodiscard]] Status add_input(const std::filesystem::path& path,
                                 std::span<const std::byte> content, std::string role);

  // The file need not exist.
  [[nodiscard]] Status add_output(const std::filesystem::path& path, std::string role);

  // Adds the files of `other`. An output with the same path and role in both counts once.
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
    std::optional<Identity> folder;   // of the directory that contains the name
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
