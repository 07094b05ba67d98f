// The identity of the version of a file that was opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

struct stat;

namespace ephost {

// Only files of at least this size are worth a recorded checksum.
inline constexpr uint64_t kLargeFile = uint64_t{1} << 20;

// A file as it was when it was opened. Times are in nanoseconds of the system clock.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified = 0;  // st_mtim
  int64_t changed = 0;   // st_ctim
  int64_t opened = 0;
  bool is_steady = false;  // see host/base/files/steady_file.h; false for small files

  // Whether both are the same version of the same file.
  [[nodiscard]] bool is_same(const FileVersion& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modified == other.modified && changed == other.changed;
  }
  // The version that `info`, which must have been queried just now, describes.
  [[nodiscard]] static FileVersion of(const struct ::stat& info);
  // That of the file that the path leads to now; nothing if it leads to none.
  [[nodiscard]] static std::optional<FileVersion> at(const std::filesystem::path& path);
};

}  // namespace ephost
