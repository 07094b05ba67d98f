// The cache store: context models with their binaries, each in a folder named by its key, so that
// users do not have to name files. Any number of processes and threads may use a store at once.
// Names in its folder change only under a lock, an entry appears complete or not at all, and a
// reader keeps its entry from being removed. The store is never needed for correctness: whatever
// fails, the caller continues without it.
//
// The store is as trusted as the user's own files. Checksums detect damage, not forgery, so that a
// store that others than root and this user may write to is not used (host/base/files/ownership.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/base/files/file.h"
#include "host/context/folder_lock.h"
#include "host/context/store/cache_entry.h"
#include "host/context/store/cache_folder.h"
#include "host/context/store/cache_key.h"
#include "host/context/store/owned_folder.h"
#include "host/context/write/writer.h"

namespace ephost::context {

// Older entries of a model beyond this number give no contexts to new ones.
inline constexpr size_t kMaxRelatedEntries = 16;

// Limits that publishing an entry enforces. 0: no limit.
struct CacheLimits {
  uint64_t max_bytes = uint64_t{10} << 30;
  uint64_t max_age_days = 90;  // since an entry was last used
};

struct CacheStoreOptions {
  // Contains the folder of the store, which is created with the first entry.
  std::filesystem::path folder;
  CacheLimits limits;
  LockWait lock_wait;  // while another process holds the lock of the store
  const FileSystem* file_system = &posix_file_system();  // outlives the store and its entries

  [[nodiscard]] std::filesystem::path store() const { return folder / kStoreFolderName; }
};

// An entry that was found. It is not removed while the object exists.
struct FoundEntry {
  std::filesystem::path folder;
  FolderLock lease;
  CacheEntry stated;
  // The mapping whose checksum was compared; null before CacheStore::open_model.
  std::shared_ptr<const MappedFile> model;

  // The id of its key.
  [[nodiscard]] std::string id() const;
};

struct CacheLookup {
  std::optional<FoundEntry> found;  // description and model are intact
  Status damage;                    // if not OK: why an entry was quarantined
};

// A folder for the files of a new entry; removed by the destructor unless it is published.
class StagedEntry {
 public:
  // Where to write the context model; its files go beside it.
  [[nodiscard]] std::filesystem::path model_path() const;

 private:
  friend class CacheStore;
  explicit StagedEntry(TemporaryFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path entry_folder() const { return folder_.path() / "entry"; }

  TemporaryFolder folder_;
};

// Whether a failure to read an entry is due to the entry, and not to the machine (no file
// descriptors, no permission).
[[nodiscard]] bool is_damage(const Status& status);

// INVALID_ARGUMENT if others than root and this user may change the store: its entries, which
// providers execute, could come from another user.
[[nodiscard]] Status check_store_writers(const std::filesystem::path& store);

class CacheStore {
 public:
  explicit CacheStore(CacheStoreOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const CacheStoreOptions& options() const { return options_; }

  // The entry of the key, if there is one. The loader checks its binaries, as the model has their
  // checksums. A damaged entry, or one that others may change, is quarantined and counts as
  // missing. FAIL if the folder is not a store, or the folder of the entry is not marked as
  // belonging to it; fails as check_store_writers.
  [[nodiscard]] Result<CacheLookup> find(const CacheKey& key) const;

  // Other entries of the same model whose contexts may be taken over, most recently used first and
  // at most kMaxRelatedEntries. Their models are not mapped yet. Skips what is damaged or being
  // removed; an entry that is only looked at does not count as used. Fails as `find` does.
  [[nodiscard]] Result<std::vector<FoundEntry>> find_related(const CacheKey& key) const;

  // Maps the model of an entry and compares its checksum: INVALID_GRAPH if it is damaged.
  [[nodiscard]] Status open_model(FoundEntry& entry) const;

  // Sets an entry aside, with the reason, so that it can be inspected and its key can be published
  // again. Does nothing if the entry has been set aside or replaced already.
  [[nodiscard]] Status quarantine(const FoundEntry& entry, const Status& reason) const;

  [[nodiscard]] Result<StagedEntry> stage() const;

  // Publishes what was written to `staged`, and removes what then exceeds the limits. `entry`
  // describes it; the key is filled in. If another process has published the same key meanwhile,
  // its entry stays. FAIL for an entry larger than the limit.
  [[nodiscard]] Status publish(StagedEntry staged, const CacheKey& key, CacheEntry entry) const;

 private:
  // nullopt if there is no such folder or it is being removed.
  Result<std::optional<FoundEntry>> lease(std::filesystem::path folder) const;
  Status check(FoundEntry& entry, const CacheKey& key) const;

  CacheStoreOptions options_;
};

}  // namespace ephost::context
