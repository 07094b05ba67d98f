// A test of whether a file's ctime reliably changes with its content. The kernel advances the ctime
// when a page of a shared mapping is first written to, and not again until the page is written
// back: a process that already has the file mapped for writing can change it unnoticed.
#pragma once

#include <sys/stat.h>

#include "host/base/files/file_system.h"

namespace ephost {

// Returns true if no process has the open file open or mapped for writing, so that every change
// from now on advances its ctime. `info` is the result of `fstat` for it.
//
// The function requests a read lease, which the kernel grants only in that case, and returns it at
// once. A process can take leases only on its own user's files. For another user's file the
// function returns true only if it belongs to root and only root can write to it: these are files
// of installed packages, which are replaced and not changed in place. It returns false on every
// file system except ext2 to ext4, XFS, Btrfs and F2FS: tmpfs does not advance the ctime when a
// file is changed through a mapping, overlayfs grants leases in spite of mappings, and network file
// systems do not see what other machines do.
[[nodiscard]] bool is_steady(int descriptor, const struct stat& info,
                             const FileSystem& file_system);

}  // namespace ephost
