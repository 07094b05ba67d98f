#include "host/base/files/containment/hub_cache.h"

#include <sys/stat.h>

#include <optional>
#include <system_error>

namespace ephost {
namespace {

namespace fs = std::filesystem;

// The owner of a folder; nothing for a link or anything else.
std::optional<uid_t> owner_of(const fs::path& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return info.st_uid;
}

}  // namespace

std::vector<fs::path> hub_folders_of(const fs::path& folder) {
  std::error_code error;
  const fs::path revision = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error) return {};
  for (fs::path snapshots = revision.parent_path(); snapshots.has_relative_path();
       snapshots = snapshots.parent_path()) {
    if (snapshots.filename() != "snapshots") continue;
    const fs::path blobs = snapshots.parent_path() / "blobs";
    const std::optional<uid_t> owner = owner_of(blobs);
    const bool is_one_cache = owner && owner == owner_of(snapshots.parent_path()) &&
                              owner == owner_of(snapshots) && owner == owner_of(revision);
    return is_one_cache ? std::vector{blobs} : std::vector<fs::path>();
  }
  return {};
}

std::vector<fs::path> linked_folders_of(const fs::path& file, const FileVersion& opened) {
  std::vector<fs::path> folders = hub_folders_of(file.parent_path());
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  struct stat info {};
  if (error || ::lstat(real.c_str(), &info) != 0) return folders;
  if (info.st_dev != opened.device || info.st_ino != opened.inode) return folders;
  folders.push_back(real.parent_path());
  return folders;
}

}  // namespace ephost
