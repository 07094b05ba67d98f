// Files as the host reads and writes them: mapped for reading, read whole, written atomically. The
// only place that touches files of the context cache, models and manifests. It knows no format.
//
// A missing file is NO_SUCHFILE, a directory, device or pipe INVALID_ARGUMENT, anything else FAIL;
// each message names the file. A FileSystem passed in outlives what was made with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/base/files/file_system.h"
#include "host/base/files/mapped_pages.h"

namespace ephost {

// A regular file read front to back, for content that is looked at once.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path,
                                const FileSystem& file_system = posix_file_system());

  // How to open a file for `adopt`. Opening a pipe does not wait for its writer then.
  static const int kOpenFlags;
  // Takes over `descriptor` whatever comes of it; `path` is for messages.
  static Result<InputFile> adopt(std::filesystem::path path, int descriptor,
                                 const FileSystem& file_system);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Fills the front of `buffer`, which is not empty; the number of bytes read, 0 only at the end.
  [[nodiscard]] Result<size_t> read(std::span<std::byte> buffer);

  // The size when the file was opened.
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
// stay valid, and at the same address, until the object is destroyed; moving it moves the ownership
// only. Truncating the file meanwhile is undefined (writers of the host replace files, they never
// change one in place). Reading is safe from any thread.
class MappedFile {
 public:
  // An empty file maps to an empty span.
  static Result<MappedFile> open(const std::filesystem::path& path,
                                 const FileSystem& file_system = posix_file_system());

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // The file that `file` has open, whatever its name leads to by now.
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

// The whole content of a regular file; INVALID_ARGUMENT when it has more than `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            uint64_t max_bytes = kNoSizeLimit,
                                            const FileSystem& file_system = posix_file_system());

// A file that appears under its name complete or not at all: the bytes go to a temporary file with
// a unique name in the same directory, which `commit` renames. Two writers of one name do not mix;
// the last commit stands. Without a successful commit the target is untouched and the destructor
// removes the temporary file. A symbolic link at the target is replaced, not followed.
class AtomicFile {
 public:
  // INVALID_ARGUMENT when `path` has no file name or names something that exists and is no regular
  // file; NO_SUCHFILE when its directory does not exist.
  static Result<AtomicFile> create(const std::filesystem::path& path,
                                   const FileSystem& file_system = posix_file_system());

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  // Appends all of `bytes`. After a failure only destruction is meaningful.
  [[nodiscard]] Status append(std::span<const std::byte> bytes);

  // Appends zeros up to the next multiple of `alignment`, a power of two.
  [[nodiscard]] Status align_to(uint64_t alignment);

  // Syncs the data, renames the file to its target and syncs the directory. Call it at most once.
  // After a failure the target is complete all the same: old, or new if only the last step failed.
  [[nodiscard]] Status commit();

  // The number of bytes appended so far.
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Where the bytes lie before commit; it may be mapped to check what was written.
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

// Creates, appends and commits in one call.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::span<const std::byte> bytes,
                                           const FileSystem& file_system = posix_file_system());

// The bytes of a text, for the functions above.
[[nodiscard]] inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace ephost
