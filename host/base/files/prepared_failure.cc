#include "host/base/files/prepared_failure.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "host/base/files/file_descriptor.h"

namespace ephost {
namespace {

constexpr int kLockAttempts = 50;
constexpr long kLockPause = 2'000'000;  // nanoseconds

FileDescriptor open_private(const std::string& path, int flags) {
  return FileDescriptor(
      ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
}

// The lock ends when the descriptor is closed.
bool lock(int descriptor) {
  for (int i = 0; i < kLockAttempts; ++i) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    const timespec pause = {0, kLockPause};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

PreparedFailure::PreparedFailure(const FailureRecords& records, const FailureRecord& record)
    : file_(records.file()), lock_file_(records.lock_file()) {
  for (std::filesystem::path folder = records.file().parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    folders_.insert(folders_.begin(), folder.string());
  }
  const std::string line = FailureRecords::line_of({.name = record.name,
                                                    .manifest = record.manifest,
                                                    .files = record.files,
                                                    .program = record.program});
  fields_ = line.substr(1, line.size() - 2);  // without "0" and the line feed
}

void PreparedFailure::append(std::string_view what) const noexcept {
  if (file_.empty()) return;
  for (const std::string& folder : folders_) ::mkdir(folder.c_str(), 0700);
  const FileDescriptor guard = open_private(lock_file_, O_RDWR);
  if (!guard.is_open() || !lock(guard.get())) return;
  const FileDescriptor file = open_private(file_, O_WRONLY | O_APPEND);
  struct stat state = {};
  if (!file.is_open() || ::fstat(file.get(), &state) != 0) return;
  if (!S_ISREG(state.st_mode) || state.st_uid != ::geteuid()) return;

  std::array<char, 24> time{};
  const auto [time_end, error] =
      std::to_chars(time.data(), time.data() + time.size(), int64_t{::time(nullptr)});
  std::array<char, FailureRecords::kMostText> text{};
  const size_t size = std::min(what.size(), text.size());
  std::transform(what.begin(), what.begin() + size, text.begin(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == '%' ? '?' : c;
  });
  const bool is_new = state.st_size == 0;
  const std::array parts = {part(is_new ? FailureRecords::kFirstLine : ""),
                            part(is_new ? "\n" : ""),
                            part({time.data(), static_cast<size_t>(time_end - time.data())}),
                            part(fields_),
                            part({text.data(), size}),
                            part("\n")};
  size_t added = 0;
  for (const iovec& one : parts) added += one.iov_len;
  if (static_cast<size_t>(state.st_size) + added > FailureRecords::kMostBytes) return;
  (void)!::writev(file.get(), parts.data(), static_cast<int>(parts.size()));
}

}  // namespace ephost
