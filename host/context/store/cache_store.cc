#include "host/context/store/cache_store.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/store/cache_entry.h"
#include "host/context/store/cache_upkeep.h"
#include "host/context/store/key_comparison.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

Status damaged(const fs::path& file, std::string_view reason) {
  return Status(StatusCode::kInvalidGraph, formatted("{} {}", quote(file.native()), reason));
}

const ContentChecksum* find_checksum(const CacheEntry& entry, std::string_view name) {
  for (const auto& [file, checksum] : entry.files) {
    if (file == name) return &checksum;
  }
  return nullptr;
}

// No other user can have put anything into a store that has passed check_store_writers; but an
// entry may have been made such that others can change it later.
Status check_entry_writers(const fs::path& folder) {
  EPHOST_RETURN_IF_ERROR(check_writers(folder, FilesBeside::kAreUsed));
  std::error_code error;
  for (const std::string& name : list_directory(folder, error)) {
    EPHOST_RETURN_IF_ERROR(check_writers(folder / name, FilesBeside::kAreUsed));
  }
  return error ? file_error("list the folder", folder, error.value()) : Status();
}

// Whatever the umask is: an entry that others may write to is not used.
Status take_write_access(const fs::path& folder) {
  constexpr fs::perms kOthers = fs::perms::group_write | fs::perms::others_write;
  std::error_code error;
  for (const std::string& name : list_directory(folder, error)) {
    fs::permissions(folder / name, kOthers, fs::perm_options::remove, error);
    if (error) return file_error("set the mode of", folder / name, error.value());
  }
  return error ? file_error("list the folder", folder, error.value()) : Status();
}

}  // namespace

Status check_store_writers(const fs::path& store) {
  return check_writers(store, FilesBeside::kAreNotUsed);
}

bool is_damage(const Status& status) {
  return status.code() == StatusCode::kInvalidGraph ||
         status.code() == StatusCode::kInvalidProtobuf ||
         status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNoSuchFile;
}

std::string FoundEntry::id() const {
  return folder.filename().native().substr(kEntryPrefix.size());
}

fs::path StagedEntry::model_path() const { return entry_folder() / kEntryModelName; }

Status CacheStore::check(FoundEntry& entry, const CacheKey& key) const {
  EPHOST_RETURN_IF_ERROR(check_entry_writers(entry.folder));
  EPHOST_ASSIGN_OR_RETURN(entry.stated, read_entry(entry.folder, *options_.file_system));
  if (entry.stated.key_text != key.text) {
    return damaged(entry.folder / kEntryFileName, "describes another key");
  }
  return open_model(entry);
}

Status CacheStore::open_model(FoundEntry& entry) const {
  const ContentChecksum* checksum = find_checksum(entry.stated, kEntryModelName);
  if (checksum == nullptr) return damaged(entry.folder / kEntryFileName, "does not list the model");
  EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                          open_contained(entry.folder, kEntryModelName, StatusCode::kInvalidGraph,
                                         *options_.file_system));
  EPHOST_ASSIGN_OR_RETURN(MappedFile model, MappedFile::map(file));
  if (content_checksum(model.bytes()) != checksum->hash || model.bytes().size() != checksum->size) {
    return damaged(model.path(), "is not what was published");
  }
  entry.model = std::make_shared<const MappedFile>(std::move(model));
  return {};
}

Result<std::optional<FoundEntry>> CacheStore::lease(fs::path folder) const {
  Result<std::optional<FolderLock>> lock =
      FolderLock::try_acquire(folder, LockMode::kShared, *options_.file_system);
  if (lock.status().code() == StatusCode::kNoSuchFile) return std::optional<FoundEntry>();
  if (!lock.ok()) return lock.status();
  // Another process is removing it.
  if (!*lock || !(*lock)->is_at(folder)) return std::optional<FoundEntry>();
  return std::optional(
      FoundEntry{.folder = std::move(folder), .lease = std::move(**lock), .stated = {}});
}

Result<CacheLookup> CacheStore::find(const CacheKey& key) const {
  const fs::path folder = entry_path(options_.store(), key.id);
  EPHOST_RETURN_IF_ERROR(check_store_writers(options_.store()));
  EPHOST_ASSIGN_OR_RETURN(const bool exists, is_store(options_.store(), *options_.file_system));
  if (!exists) return CacheLookup();
  EPHOST_ASSIGN_OR_RETURN(std::optional<FoundEntry> leased, lease(folder));
  if (!leased) return CacheLookup();

  // From here on it is not removed, but another process may quarantine it, which moves it away.
  FoundEntry entry = std::move(*leased);
  if (!is_marked(folder, *options_.file_system)) {
    if (!entry.lease.is_at(folder)) return CacheLookup();
    return Status(
        StatusCode::kFail,
        formatted("the folder {} has the name of a cache entry, but no marker of one; move it away",
                  quote(folder.native())));
  }
  Status status = check(entry, key);
  if (!status.ok() && !entry.lease.is_at(folder)) return CacheLookup();
  if (status.ok()) {
    touch(folder, *options_.file_system);
    remove_abandoned(options_);
    return CacheLookup{.found = std::move(entry)};
  }
  if (!is_damage(status)) return status;
  EPHOST_RETURN_IF_ERROR(quarantine(entry, status));
  return CacheLookup{.damage = std::move(status)};
}

Result<std::vector<FoundEntry>> CacheStore::find_related(const CacheKey& key) const {
  EPHOST_RETURN_IF_ERROR(check_store_writers(options_.store()));
  EPHOST_ASSIGN_OR_RETURN(const bool exists, is_store(options_.store(), *options_.file_system));
  if (!exists) return std::vector<FoundEntry>();
  EPHOST_ASSIGN_OR_RETURN(std::vector<CacheItem> items,
                          scan_store(options_.store(), *options_.file_system));
  std::reverse(items.begin(), items.end());
  std::vector<FoundEntry> related;
  for (CacheItem& item : items) {
    if (related.size() == kMaxRelatedEntries) break;
    if (item.state != CacheItem::State::kEntry || item.id == key.id) continue;
    Result<std::optional<FoundEntry>> leased = lease(std::move(item.folder));
    if (!leased.ok() || !*leased) continue;
    FoundEntry entry = std::move(**leased);
    if (!check_entry_writers(entry.folder).ok()) continue;
    Result<CacheEntry> stated = read_entry(entry.folder, *options_.file_system);
    const bool is_usable = stated.ok() && !stated->contexts.empty() &&
                           cache_key_id(stated->key_text) == item.id &&
                           are_of_same_model(stated->key_text, key.text);
    if (!is_usable) continue;
    entry.stated = std::move(*stated);
    related.push_back(std::move(entry));
  }
  return related;
}

Status CacheStore::quarantine(const FoundEntry& entry, const Status& reason) const {
  const FileSystem& file_system = *options_.file_system;
  const fs::path aside = options_.store() / (std::string(kQuarantinePrefix) + entry.id());
  EPHOST_ASSIGN_OR_RETURN(std::optional<FolderLock> lock,
                          FolderLock::acquire(options_.store(), options_.lock_wait, file_system));
  // By now another entry may have that name.
  if (!entry.lease.is_at(entry.folder)) return {};
  // An older quarantined entry of the key is replaced, even if another process has it open.
  const fs::path older = temporary_path(options_.store());
  if (is_marked(aside, file_system)) file_system.rename(aside.c_str(), older.c_str());
  if (file_system.rename(entry.folder.c_str(), aside.c_str()) != 0) {
    return file_error("quarantine the cache entry", entry.folder, errno);
  }
  lock.reset();
  remove_folder(older, file_system);
  // The entry is quarantined even if the reason cannot be written.
  static_cast<void>(
      write_file_atomically(aside / kReasonFileName, as_bytes(reason.to_string()), file_system));
  return {};
}

Result<StagedEntry> CacheStore::stage() const {
  const FileSystem& file_system = *options_.file_system;
  EPHOST_RETURN_IF_ERROR(make_store(options_.store(), file_system));
  EPHOST_RETURN_IF_ERROR(check_store_writers(options_.store()));
  EPHOST_ASSIGN_OR_RETURN(const FolderLock lock,
                          FolderLock::acquire(options_.store(), options_.lock_wait, file_system));
  EPHOST_ASSIGN_OR_RETURN(TemporaryFolder folder,
                          TemporaryFolder::create(options_.store(), file_system));
  StagedEntry staged(std::move(folder));
  EPHOST_RETURN_IF_ERROR(make_folders(staged.entry_folder(), file_system));
  EPHOST_RETURN_IF_ERROR(mark_folder(staged.entry_folder(), file_system));
  return staged;
}

Status CacheStore::publish(StagedEntry staged, const CacheKey& key, CacheEntry entry) const {
  const FileSystem& file_system = *options_.file_system;
  entry.key_text = key.text;
  uint64_t bytes = 0;
  for (const auto& [name, checksum] : entry.files) bytes += checksum.size;
  if (options_.limits.max_bytes != 0 && bytes > options_.limits.max_bytes) {
    return Status(StatusCode::kFail, formatted("the entry would have {} bytes, but the cache store "
                                               "may have at most {}; raise ep.cache_max_bytes",
                                               bytes, options_.limits.max_bytes));
  }
  EPHOST_RETURN_IF_ERROR(write_file_atomically(staged.entry_folder() / kEntryFileName,
                                               as_bytes(to_text(entry)), file_system));
  EPHOST_RETURN_IF_ERROR(take_write_access(staged.entry_folder()));
  {
    EPHOST_ASSIGN_OR_RETURN(const FolderLock lock,
                            FolderLock::acquire(options_.store(), options_.lock_wait, file_system));
    const fs::path target = entry_path(options_.store(), key.id);
    if (file_system.rename(staged.entry_folder().c_str(), target.c_str()) != 0 && errno != EEXIST &&
        errno != ENOTEMPTY) {
      return file_error("publish the cache entry", target, errno);
    }
  }
  // If eviction fails, the next publication tries again.
  static_cast<void>(evict(options_));
  return {};
}

}  // namespace ephost::context
