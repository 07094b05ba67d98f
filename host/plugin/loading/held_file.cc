#include "host/plugin/loading/held_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plugin {
namespace {

using std::chrono::milliseconds;

// On other file systems, a lease may be refused although nobody writes.
bool has_leases(int descriptor) {
  constexpr std::array<uint32_t, 6> kKinds = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                              BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                              TMPFS_MAGIC,       OVERLAYFS_SUPER_MAGIC};
  struct statfs info {};
  return ::fstatfs(descriptor, &info) == 0 &&
         std::ranges::find(kKinds, static_cast<uint32_t>(info.f_type)) != kKinds.end();
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
  ::fcntl(descriptor, F_SETOWN, 0);  // writers wait; nobody need know
  return {};
}

// The same file, opened a second time: whoever examines the first opening for a lease of its own
// would end this one.
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
  Result<MappedFile> file = map_held(path, lease);
  if (file.ok()) return HeldFile(std::move(*file), lease);
  ::close(lease);
  return std::move(file).status();
}

HeldFile::HeldFile(HeldFile&& other) noexcept
    : file_(std::move(other.file_)), lease_(std::exchange(other.lease_, -1)) {}

HeldFile::~HeldFile() { release(); }

void HeldFile::release() {
  if (lease_ >= 0) ::close(lease_);
  lease_ = -1;
}

}  // namespace ephost::plugin
