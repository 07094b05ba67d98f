// The files that are currently mapped: which file given bytes belong to, and releasing the memory
// of pages that can be read from disk again. Safe from any thread.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "host/base/files/file_version.h"

namespace ephost {

struct SharedPlace;  // host/base/memory/shared_memory.h

struct MappedRange {
  FileVersion file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Returns where the bytes lie in a MappedFile, if they lie in one.
[[nodiscard]] std::optional<MappedRange> find_mapped_range(std::span<const std::byte> bytes);

// A file by its name and the version that was opened.
struct OpenedFile {
  std::filesystem::path path;
  FileVersion version;

  // Whether the name leads to that version by now.
  [[nodiscard]] bool is_there() const;
};

// The MappedFile in which the bytes lie; nothing if they lie in none.
[[nodiscard]] std::optional<OpenedFile> find_mapped_file(std::span<const std::byte> bytes);

// For bytes that are about to be read once more. FAIL if they lie in a MappedFile that was changed
// in place, or truncated, since it was opened; one that was replaced by another file is as it was.
[[nodiscard]] Status check_unchanged(std::span<const std::byte> bytes);

// FAIL, for a file that is not what it was when it was opened.
[[nodiscard]] Status changed_meanwhile(const std::filesystem::path& path);

// Makes the MappedFile in which the bytes lie a region that other processes can read. Nothing, if
// they lie in none, or if its path leads to another file, or another version of it, by now.
[[nodiscard]] std::optional<SharedPlace> share_mapped_file(std::span<const std::byte> bytes);

// A file that other processes map, too, and that is shorter by now than what is mapped: a thread
// that reads what is missing dies of SIGBUS. Nothing if there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_truncated_file();

// Allows the system to reclaim the memory of those whole pages of `bytes` that belong to a
// MappedFile. The content stays readable, and is read from the file again when needed. Other bytes
// are left alone.
void release_pages(std::span<const std::byte> bytes);

// For MappedFile: registers and unregisters its mapping.
void add_mapping(std::span<const std::byte> bytes, const FileVersion& file,
                 const std::filesystem::path& path);
void remove_mapping(std::span<const std::byte> bytes) noexcept;

}  // namespace ephost
