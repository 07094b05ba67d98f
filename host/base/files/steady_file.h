// Whether a file's time of last change tells of every change to it. The kernel moves that time when
// a page of a shared mapping is written to for the first time, and not again until it has written
// the page back: whoever has the file mapped for writing already changes it unnoticed.
#pragma once

#include <sys/stat.h>

#include "host/base/files/file_system.h"

namespace ephost {

// True if nobody has the open file open or mapped for writing, so that whoever changes it from now
// on moves its time of last change. `info` is what `fstat` says of it.
//
// The kernel is asked by a read lease, which it grants only then, and which is given back at once.
// A lease may be had on one's own files; of another user's file it is true only if it belongs to
// root and only root can write to it: files of installed packages, which are replaced and not
// changed in place. It is false on every file system but ext2 to ext4, XFS, Btrfs and F2FS: tmpfs
// does not move the time of a file that is changed by way of a mapping, overlayfs grants leases in
// spite of mappings, and network file systems do not know what other machines do.
[[nodiscard]] bool is_steady(int descriptor, const struct stat& info,
                             const FileSystem& file_system);

}  // namespace ephost
