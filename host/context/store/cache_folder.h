// The folders of a cache store: `ephost-entry-<key>`, `ephost-quarantined-<key>` and
// `ephost-tmp-...`, made, locked, scanned and removed here (../SPECIFICATION.md). A temporary
// folder stays locked by the process that fills or removes it, so that those of dead processes can
// be told apart. Each folder contains a marker (owned_folder.h); nothing without one is ever
// touched. Used by the store and its upkeep only.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/files/file_system.h"
#include "host/context/folder_lock.h"

namespace ephost::context {

inline constexpr std::string_view kEntryPrefix = "ephost-entry-";
inline constexpr std::string_view kQuarantinePrefix = "ephost-quarantined-";
inline constexpr std::string_view kTemporaryPrefix = "ephost-tmp-";

// The folder of the entry of a key.
[[nodiscard]] std::filesystem::path entry_path(const std::filesystem::path& store,
                                               std::string_view key_id);

// A new path of a temporary folder, unique among all processes.
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& store);

// A locked and marked folder with a temporary name, which is removed with its content by the
// destructor. Created while the store is locked.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const std::filesystem::path& store,
                                        const FileSystem& file_system);
  // Moves a folder of the store out of the way, to be removed. nullopt if another holder has it
  // locked, if the file system has no locks and `needs_lock` is set, or if the folder is not
  // marked. An unmarked folder is removed only if it is empty, as a process leaves it that dies
  // before it marks the folder.
  static Result<std::optional<TemporaryFolder>> take(const std::filesystem::path& folder,
                                                     const FileSystem& file_system,
                                                     bool needs_lock = false);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryFolder(std::filesystem::path path, FolderLock lock, const FileSystem& file_system);

  std::filesystem::path path_;  // empty: moved from
  FolderLock lock_;
  const FileSystem* file_system_;
};

struct CacheItem {
  enum class State { kEntry, kQuarantined, kTemporary };

  std::filesystem::path folder;
  State state = State::kEntry;
  std::string id;      // key id; empty for a temporary folder
  uint64_t bytes = 0;  // of all its files
  std::chrono::system_clock::time_point last_used;
};

// The folders that belong to the store, least recently used first. Skips those that vanish
// meanwhile.
[[nodiscard]] Result<std::vector<CacheItem>> scan_store(const std::filesystem::path& store,
                                                        const FileSystem& file_system);

// The temporary folders of the store, of live and of dead processes. Cheap: looks only at names.
[[nodiscard]] std::vector<std::filesystem::path> temporary_folders(
    const std::filesystem::path& store);

// Moves a temporary folder out of the way, to be removed, if the process that made it is dead.
[[nodiscard]] std::optional<TemporaryFolder> take_abandoned(const std::filesystem::path& folder,
                                                            const FileSystem& file_system);

// Records that an entry is used now. Best effort, as the store may be read-only.
void touch(const std::filesystem::path& folder, const FileSystem& file_system);

}  // namespace ephost::context
