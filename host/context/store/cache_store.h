// The cache store: context models with their binaries, each in a folder named by its key, found
// without anybody naming files. Several processes and threads may use one store at once; names in
// its folder change under a lock only, an entry appears complete or not at all, and whoever reads
// one keeps it from being removed. Nothing here is needed for correctness: whatever fails, the
// caller goes on without the store.
//
// The store is as trusted as the user's own files, and its checksums find damage, not forgery:
// share one only with those who may decide what runs.
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

// What is beyond is removed when an entry is published. 0: no limit.
struct CacheLimits {
  uint64_t max_bytes = uint64_t{10} << 30;
  uint64_t max_age_days = 90;  // since an entry was last used
};

struct CacheStoreOptions {
  std::filesystem::path folder;  // the store is a folder in it, made when the first entry is staged
  CacheLimits limits;
  LockWait lock_wait;  // where another process holds the store's lock
  const FileSystem* file_system = &posix_file_system();  // outlives what the store makes

  [[nodiscard]] std::filesystem::path store() const { return folder / kStoreFolderName; }
};

// An entry that was found, kept from removal as long as the object lives.
struct FoundEntry {
  std::filesystem::path folder;
  FolderLock lease;
  CacheEntry stated;
  std::shared_ptr<const MappedFile> model;  // as its checksum was compared
};

struct CacheLookup {
  std::optional<FoundEntry> found;  // its description and its model are what was published
  Status damage;                    // if not OK: what was wrong with an entry that was set aside
};

// A folder for the files of an entry; removed with them unless it is published.
class StagedEntry {
 public:
  // Where the context model is to be written, its files beside it.
  [[nodiscard]] std::filesystem::path model_path() const;

 private:
  friend class CacheStore;
  explicit StagedEntry(TemporaryFolder folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path entry_folder() const { return folder_.path() / "entry"; }

  TemporaryFolder folder_;
};

class CacheStore {
 public:
  explicit CacheStore(CacheStoreOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const CacheStoreOptions& options() const { return options_; }

  // The entry of the key, if there is one. Its binaries are left to the loader, whose checksums the
  // model states. An entry that is damaged is quarantined and counts as missing. FAIL where the
  // store's folder is not a store, or the entry's folder none of it.
  [[nodiscard]] Result<CacheLookup> find(const CacheKey& key) const;

  // Sets an entry aside, with the reason, for a look at it; the next publication takes its place.
  // Does nothing if that has happened already.
  [[nodiscard]] Status quarantine(const FoundEntry& entry, const Status& reason) const;

  [[nodiscard]] Result<StagedEntry> stage() const;

  // Publishes what was written to `staged`, and removes what then exceeds the limits. `entry`
  // states it but for the key. If another process has published the key meanwhile, its entry stays.
  // FAIL for an entry larger than the limit.
  [[nodiscard]] Status publish(StagedEntry staged, const CacheKey& key, CacheEntry entry) const;

 private:
  Status check(FoundEntry& entry, const CacheKey& key) const;

  CacheStoreOptions options_;
};

}  // namespace ephost::context
