#include "host/base/files/file_descriptor.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "host/base/format.h"

namespace ephost {

FileDescriptor open_for_appending(const std::filesystem::path& file) {
  return FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
}

Result<FileDescriptor> duplicate(const FileDescriptor& descriptor) {
  FileDescriptor copy(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  if (copy.is_open()) return copy;
  return Status(StatusCode::kFail, formatted("cannot duplicate a descriptor: {}",
                                             std::generic_category().message(errno)));
}

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

ptrdiff_t read_some(int descriptor, std::span<char> buffer) noexcept {
  ssize_t count = 0;
  do {
    count = ::read(descriptor, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace ephost
