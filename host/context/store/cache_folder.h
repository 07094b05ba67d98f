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

// The folder of the key's entry.
[[nodiscard]] std::filesystem::path entry_path(const std::filesystem::path& store,
                                               std::string_view key_id);

// A name for such a folder that nobody else has.
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& store);

// A locked and marked folder under a temporary name, removed with its content when the object goes.
// Made under the lock of the store.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const std::filesystem::path& store,
                                        const FileSystem& file_system);
  // Moves a folder of the store out of the way, to be removed; nothing if somebody has it locked,
  // if that cannot be told for want of locks and `needs_lock` is set, or if it is not marked: then
  // at most an empty folder goes, which a process leaves that dies before it can mark it.
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
  std::string id;      // of the key; empty for a temporary folder
  uint64_t bytes = 0;  // of its files
  std::chrono::system_clock::time_point last_used;
};

// What a store's folder holds of the store, least recently used first. What vanishes meanwhile is
// left out.
[[nodiscard]] Result<std::vector<CacheItem>> scan_store(const std::filesystem::path& store,
                                                        const FileSystem& file_system);

// The store's temporary folders, of the living and of the dead. Costs a look at the names.
[[nodiscard]] std::vector<std::filesystem::path> temporary_folders(
    const std::filesystem::path& store);

// Moves a temporary folder out of the way, to be removed, if its process is dead.
[[nodiscard]] std::optional<TemporaryFolder> take_abandoned(const std::filesystem::path& folder,
                                                            const FileSystem& file_system);

// Notes that an entry was used now; best effort, as a store may be read-only.
void touch(const std::filesystem::path& folder, const FileSystem& file_system);

}  // namespace ephost::context
