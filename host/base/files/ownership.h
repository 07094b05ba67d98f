// Write access to what lies at a path. Code, keys and what decides about them are used only from
// places that nobody but root and this user can change.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost {

// Follows `path` from / through every folder and symbolic link. Fails with INVALID_ARGUMENT, naming
// the first of them, or the file itself, that belongs to somebody other than root and the effective
// user, or that others may write to; the message has owner, mode and path, and the caller says what
// to do. What does not exist is not refused: opening it fails.
//
// Others are everybody (o+w) and every group (g+w) but the one that has the number of the owner,
// which is the owner's own on Debian. Where there is an access control list, the group's bits are
// its mask; an entry that lets another user or group write counts as such even where the group is
// the owner's own. A folder with the sticky bit,
// such as /tmp, is accepted on the way, because others cannot replace there what is not theirs. As
// the folder that contains the file it is accepted only if what lies beside the file is never used
// with it.
enum class FilesBeside { kAreUsed, kAreNotUsed };
// Whom all of it may belong to.
enum class TrustedOwners { kRootAndThisUser, kRootAlone };
[[nodiscard]] Status check_ownership(const std::filesystem::path& path,
                                     FilesBeside beside = FilesBeside::kAreUsed,
                                     TrustedOwners owners = TrustedOwners::kRootAndThisUser);

// The same for an open file alone, whatever leads to it. True also where that cannot be found out.
[[nodiscard]] bool can_be_written_by_others(int descriptor);

// Owner and mode of a file or folder.
struct FileRights {
  uint32_t owner = 0;
  uint32_t mode = 0;  // without the kind of file

  [[nodiscard]] bool belongs_to(TrustedOwners owners) const;
  // Leaves access control lists out of account.
  [[nodiscard]] bool others_may_write() const { return (mode & 022) != 0; }
};
// Nothing, with errno set, if that cannot be found out.
[[nodiscard]] std::optional<FileRights> rights_of(const std::filesystem::path& path);
[[nodiscard]] std::optional<FileRights> rights_of(int descriptor);

// check_ownership with a message that also says what to do. The environment variable
// EPHOST_ALLOW_WRITABLE_PLUGINS, set to 1, allows everything; a privileged process ignores it.
[[nodiscard]] Status check_writers(const std::filesystem::path& path, FilesBeside beside);

}  // namespace ephost
