// Who may change what lies at a path. Code and keys are used only from places that nobody but root
// and this user can change.
#pragma once

#include <ephost/status.h>

#include <filesystem>

namespace ephost {

// Follows `path` from / through every folder and symbolic link. Fails with INVALID_ARGUMENT, naming
// the first of them, or the file itself, that belongs to somebody other than root and the effective
// user, or that others may write to; the message has owner, mode and path, and the caller says what
// to do. What does not exist is not refused: opening it fails.
//
// Others are everybody (o+w) and every group (g+w) but the one that has the number of the owner,
// which is the owner's own on Debian. Where there is an access control list, the group's bits are
// its mask, so that an entry that gives write access counts as such. A folder with the sticky bit,
// such as /tmp, is accepted on the way, because others cannot replace there what is not theirs; but
// not as the folder that contains the file.
[[nodiscard]] Status check_ownership(const std::filesystem::path& path);

}  // namespace ephost
