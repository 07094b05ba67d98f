#include "host/base/files/steady_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace ephost {
namespace {

bool updates_change_time(int descriptor, const FileSystem& file_system) {
  constexpr std::array<uint32_t, 4> kKinds = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                              F2FS_SUPER_MAGIC};
  struct statfs info {};
  return file_system.fstatfs(descriptor, &info) == 0 &&
         std::ranges::find(kKinds, static_cast<uint32_t>(info.f_type)) != kKinds.end();
}

}  // namespace

bool is_steady(int descriptor, const struct stat& info, const FileSystem& file_system) {
  if (!updates_change_time(descriptor, file_system)) return false;
  // If another process opens the file for writing before the lease is returned, the kernel sends
  // SIGIO, which ends a process that has no handler for it. SIGURG is ignored by default.
  if (file_system.fcntl(descriptor, F_SETSIG, SIGURG) != 0) return false;
  if (file_system.fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
    return file_system.fcntl(descriptor, F_SETLEASE, F_UNLCK) == 0;
  }
  const bool is_anothers = errno == EACCES || errno == EPERM;
  return is_anothers && info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace ephost
