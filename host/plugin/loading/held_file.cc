#include "host/plugin/loading/held_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plugin {
namespace {

using std::chrono::milliseconds;

uint32_t file_system_of(int descriptor) {
  struct statfs info {};
  return ::fstatfs(descriptor, &info) == 0 ? static_cast<uint32_t>(info.f_type) : 0;
}

// Where a lease is granted only if no process has the file open or mapped for writing.
bool has_strict_leases(int descriptor) {
  constexpr std::array<uint32_t, 5> kKinds = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                              F2FS_SUPER_MAGIC, TMPFS_MAGIC};
  return std::ranges::find(kKinds, file_system_of(descriptor)) != kKinds.end();
}

// On other file systems, a lease may be refused although no process writes. Overlayfs grants leases
// in spite of mappings.
bool has_leases(int descriptor) {
  return has_strict_leases(descriptor) || file_system_of(descriptor) == OVERLAYFS_SUPER_MAGIC;
}

// For how long the kernel makes a writer wait; nothing: until the lease is given up.
std::optional<std::chrono::seconds> break_time() {
  constexpr std::chrono::seconds kUnknown(0);
  const auto text = read_file("/proc/sys/fs/lease-break-time", 64);
  if (!text.ok()) return kUnknown;
  int seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || seconds < 0) return kUnknown;
  if (seconds == 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

Status take_lease(int descriptor, const std::filesystem::path& path) {
  constexpr milliseconds kPatience(2000);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  // SIGIO, which a writer would cause otherwise, ends a process that does not handle it. SIGURG is
  // ignored by default.
  if (::fcntl(descriptor, F_SETSIG, SIGURG) != 0) return {};
  while (::fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) {
    if (errno != EAGAIN || !has_leases(descriptor)) return {};
    if (std::chrono::steady_clock::now() > end) {
      return Status(StatusCode::kEpFail,
                    quote(path.native()) +
                        " is being written to by another process; try again when that is done");
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  ::fcntl(descriptor, F_SETOWN, 0);  // writers wait, and no signal is needed
  return {};
}

// The same file, opened a second time: a process that examined the first opening for a lease of its
// own would end this one.
Result<MappedFile> map_held(const std::filesystem::path& path, int lease) {
  EPHOST_RETURN_IF_ERROR(take_lease(lease, path));
  const std::string link = formatted("/proc/self/fd/{}", lease);
  const int descriptor = ::open(link.c_str(), InputFile::kOpenFlags);
  if (descriptor < 0) return file_error("open", path, errno);
  EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                          InputFile::adopt(path, descriptor, posix_file_system()));
  return MappedFile::map(file);
}

}  // namespace

Result<HeldFile> HeldFile::open(const std::filesystem::path& path) {
  EPHOST_RETURN_IF_ERROR(check_file_path(path));
  const int lease = ::open(path.c_str(), InputFile::kOpenFlags);
  if (lease < 0) return file_error("open", path, errno);
  const auto opened = std::chrono::steady_clock::now();
  Result<MappedFile> file = map_held(path, lease);
  if (file.ok()) return HeldFile(std::move(*file), lease, opened);
  ::close(lease);
  return std::move(file).status();
}

HeldFile::HeldFile(MappedFile file, int lease, std::chrono::steady_clock::time_point opened)
    : file_(std::move(file)),
      lease_(lease),
      opened_(opened),
      is_shared_(can_be_written_by_others(lease)),
      has_lease_(::fcntl(lease, F_GETLEASE) == F_RDLCK) {}

HeldFile::HeldFile(HeldFile&& other) noexcept
    : file_(std::move(other.file_)),
      lease_(std::exchange(other.lease_, -1)),
      opened_(other.opened_),
      is_shared_(other.is_shared_),
      has_lease_(other.has_lease_) {}

bool HeldFile::is_held() const {
  if (lease_ < 0 || !has_lease_ || !has_strict_leases(lease_)) return false;
  if (::fcntl(lease_, F_GETLEASE) == F_RDLCK) return true;
  // A writer waits, or waited.
  const std::optional<std::chrono::seconds> wait = break_time();
  return !wait || std::chrono::steady_clock::now() - opened_ < *wait;
}

HeldFile::~HeldFile() { release(); }

void HeldFile::release() {
  if (lease_ >= 0) ::close(lease_);
  lease_ = -1;
}

}  // namespace ephost::plugin
