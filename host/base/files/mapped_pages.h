// The files that are mapped now: which file some bytes belong to, and giving back the memory of
// those that can be read from the disk again. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ephost {

// Only of files that have so many bytes a checksum is worth remembering.
inline constexpr uint64_t kLargeFile = uint64_t{1} << 20;

// A file as it was when it was opened. Times are nanoseconds of the system's clock.
struct FileVersion {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified = 0;  // st_mtim
  int64_t changed = 0;   // st_ctim
  int64_t opened = 0;
  bool is_steady = false;  // see host/base/files/steady_file.h; false for files that are not large

  // `info` was asked for just now.
  [[nodiscard]] static FileVersion of(const struct stat& info);
};

struct MappedRange {
  FileVersion file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Where the bytes lie if they belong to one MappedFile.
[[nodiscard]] std::optional<MappedRange> find_mapped_range(std::span<const std::byte> bytes);

// Tells the system that it may take back the memory of those whole pages of `bytes` that belong to
// a MappedFile. The content stays readable, and is read from the file again where it must be. Bytes
// from elsewhere are left alone.
void release_pages(std::span<const std::byte> bytes);

// For MappedFile: what is mapped.
void add_mapping(std::span<const std::byte> bytes, const FileVersion& file);
void remove_mapping(std::span<const std::byte> bytes) noexcept;

}  // namespace ephost
