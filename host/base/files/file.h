// Files as the host reads and writes them: mapped for reading, read whole, or written atomically.
// All access to files of the context cache, models and manifests goes through this unit, which
// knows nothing about their formats.
//
// Boost.Interprocess can map a file, but its errors are exceptions without the path, and no
// packaged library offers atomic replacement with sync, lock and injected failures, so both are our
// own.
//
// A missing file is NO_SUCHFILE; a directory, device or pipe is INVALID_ARGUMENT; every other
// failure is FAIL. Each message names the file. A FileSystem that is passed in must outlive the
// objects created with it.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "host/base/files/file_system.h"
#include "host/base/files/file_version.h"

namespace ephost {

// A regular file read from front to back, for content that is read once.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path,
                                const FileSystem& file_system = posix_file_system());

  // The flags with which to open a file for `adopt`. With them, opening a pipe does not wait for
  // its writer.
  static const int kOpenFlags;
  // Takes ownership of `descriptor` even on failure; `path` is only used in messages.
  static Result<InputFile> adopt(std::filesystem::path path, int descriptor,
                                 const FileSystem& file_system);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Reads into the front of `buffer`, which is not empty. Returns the number of bytes read; 0 only
  // at the end of the file.
  [[nodiscard]] Result<size_t> read(std::span<std::byte> buffer);

  // The size of the file when it was opened.
  [[nodiscard]] uint64_t size() const { return version_.size; }
  [[nodiscard]] const FileVersion& version() const { return version_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  friend class MappedFile;
  InputFile(std::filesystem::path path, int descriptor, const FileSystem& file_system);

  std::filesystem::path path_;
  int descriptor_ = -1;
  FileVersion version_;
  const FileSystem* file_system_;
};

// A regular file mapped read-only. Pages are shared with other mappings of the same file. The bytes
// stay valid, and at the same address, until the object is destroyed; moving it moves only the
// ownership. Truncating the file meanwhile is undefined behaviour (the host's own writers replace
// files and never change one in place). Reading is safe from any thread.
class MappedFile {
 public:
  // An empty file maps to an empty span.
  static Result<MappedFile> open(const std::filesystem::path& path,
                                 const FileSystem& file_system = posix_file_system());

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Maps the file that `file` has open, whatever its name refers to by now.
  static Result<MappedFile> map(const InputFile& file);

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes,
             const FileSystem& file_system);
  void unmap() noexcept;

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
  const FileSystem* file_system_;
};

inline constexpr uint64_t kNoSizeLimit = std::numeric_limits<uint64_t>::max();

// Returns the whole content of a regular file; INVALID_ARGUMENT when it has more than `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            uint64_t max_bytes = kNoSizeLimit,
                                            const FileSystem& file_system = posix_file_system());

// A file that appears under its name completely or not at all: the bytes are written to a temporary
// file with a unique name in the same directory, which `commit` renames. Concurrent writers of one
// name do not mix; the last commit wins. Without a successful commit the target is untouched, and
// the destructor removes the temporary file. A symbolic link at the target is replaced, not
// followed.
class AtomicFile {
 public:
  // Returns INVALID_ARGUMENT when `path` has no file name or names something other than a regular
  // file, and NO_SUCHFILE when its directory does not exist.
  static Result<AtomicFile> create(const std::filesystem::path& path,
                                   const FileSystem& file_system = posix_file_system());

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  // Appends all of `bytes`. After a failure the object may only be destroyed.
  [[nodiscard]] Status append(std::span<const std::byte> bytes);

  // Appends zeros up to the next multiple of `alignment`, which is a power of two.
  [[nodiscard]] Status align_to(uint64_t alignment);

  // Syncs the data, renames the file to its target and syncs the directory. May be called at most
  // once. Even after a failure the target is complete: the old file, or the new one if only the
  // last step failed.
  [[nodiscard]] Status commit();

  // The number of bytes appended so far.
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The path of the file before commit; it may be mapped to verify what was written.
  [[nodiscard]] const std::filesystem::path& temporary_path() const { return temporary_path_; }

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary_path, int descriptor,
             const FileSystem& file_system);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path temporary_path_;  // empty: nothing to remove
  int descriptor_ = -1;
  uint64_t size_ = 0;
  const FileSystem* file_system_;
};

// Creates the file, appends `bytes` and commits, in one call.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::span<const std::byte> bytes,
                                           const FileSystem& file_system = posix_file_system());

// The bytes of a string, for the functions above.
[[nodiscard]] inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace ephost
