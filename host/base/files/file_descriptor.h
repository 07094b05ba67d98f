// The owner of a file descriptor, and what is read and written through one.
#pragma once

#include <ephost/status.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace ephost {

// Closes the descriptor when it is destroyed; holds -1 where there is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~FileDescriptor() { reset(); }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }
  void reset(int descriptor = -1) {
    const int previous = std::exchange(descriptor_, descriptor);
    if (previous >= 0) ::close(previous);
  }

 private:
  int descriptor_ = -1;
};

inline constexpr int kStandardOutput = 1;
inline constexpr int kStandardError = 2;

// Opens a file that is written at its end, and made if it is missing. Not open, with errno set, if
// that fails.
[[nodiscard]] FileDescriptor open_for_appending(const std::filesystem::path& file);

// A second descriptor of the same file, closed on exec. FAIL if the process has none left.
[[nodiscard]] Result<FileDescriptor> duplicate(const FileDescriptor& descriptor);

// Whether all of `bytes` could be written; errno says why not. Signal handlers may call it.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes) noexcept;

// Reads what there is into the front of `buffer`, which is not empty. The number of bytes; 0 at the
// end; -1 after a failure, with errno set.
[[nodiscard]] ptrdiff_t read_some(int descriptor, std::span<char> buffer) noexcept;

}  // namespace ephost
