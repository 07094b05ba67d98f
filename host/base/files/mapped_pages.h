// The files that are currently mapped: which file given bytes belong to, and releasing the memory
// of pages that can be read from disk again. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "host/base/shared_memory.h"

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

  // The version that `info`, which must have been queried just now, describes.
  [[nodiscard]] static FileVersion of(const struct stat& info);
};

struct MappedRange {
  FileVersion file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Returns where the bytes lie in a MappedFile, if they lie in one.
[[nodiscard]] std::optional<MappedRange> find_mapped_range(std::span<const std::byte> bytes);

// Makes the MappedFile in which the bytes lie a region that other processes can read. Nothing, if
// they lie in none, or if its path leads to another file, or another version of it, by now.
[[nodiscard]] std::optional<SharedPlace> share_mapped_file(std::span<const std::byte> bytes);

// Allows the system to reclaim the memory of those whole pages of `bytes` that belong to a
// MappedFile. The content stays readable, and is read from the file again when needed. Other bytes
// are left alone.
void release_pages(std::span<const std::byte> bytes);

// For MappedFile: registers and unregisters its mapping.
void add_mapping(std::span<const std::byte> bytes, const FileVersion& file,
                 const std::filesystem::path& path);
void remove_mapping(std::span<const std::byte> bytes) noexcept;

}  // namespace ephost
