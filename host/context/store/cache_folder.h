// What the cache store does to folders: makes, locks, scans and removes them. Beside its entries,
// which have the key's id for a name, a store's folder holds
//
//   quarantined-<id>   an entry that was found to be bad
//   tmp-...            an entry that is being written or removed; locked by whoever does it, so
//   that
//                      those of dead processes can be told
//
// and nothing else of it is ever touched. Used by the store and its upkeep only.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/file_system.h"
#include "host/context/folder_lock.h"

namespace ephost::context {

inline constexpr std::string_view kQuarantinePrefix = "quarantined-";
inline constexpr std::string_view kTemporaryPrefix = "tmp-";

// A name for such a folder that nobody else has.
[[nodiscard]] std::filesystem::path temporary_path(const std::filesystem::path& store);

// Makes a folder and those above it where they are missing.
[[nodiscard]] Status make_folders(const std::filesystem::path& folder,
                                  const FileSystem& file_system);

// Removes what can be removed; follows no links.
void remove_tree(const std::filesystem::path& path, const FileSystem& file_system) noexcept;

// The lock under which names in the store's folder change. FAIL if another process keeps it longer
// than `patience`.
[[nodiscard]] Result<FolderLock> lock_store(const std::filesystem::path& store,
                                            std::chrono::milliseconds patience,
                                            const FileSystem& file_system);

// A locked folder under a temporary name, removed with its content when the object goes. Made under
// the lock of the store.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const std::filesystem::path& store,
                                        const FileSystem& file_system);
  // Moves a folder of the store out of the way, to be removed; nothing if somebody has it locked,
  // or if that cannot be told for want of locks and `needs_lock` is set.
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

// What a store's folder holds of the store, least recently used first. NO_SUCHFILE if there is no
// such folder. What vanishes meanwhile is left out.
[[nodiscard]] Result<std::vector<CacheItem>> scan_store(const std::filesystem::path& store,
                                                        const FileSystem& file_system);

// Notes that an entry was used now; best effort, as a store may be read-only.
void touch(const std::filesystem::path& folder, const FileSystem& file_system);

}  // namespace ephost::context
