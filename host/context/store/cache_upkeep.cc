#include "host/context/store/cache_upkeep.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/write/publication.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

using State = CacheItem::State;
using std::chrono::hours;
using std::chrono::system_clock;

constexpr uint64_t kMaxTextBytes = uint64_t{16} << 20;  // of a description

system_clock::duration age_of(const CacheItem& item) {
  return system_clock::now() - item.last_used;
}

bool is_too_old(const CacheItem& item, uint64_t max_age_days) {
  // A number of days beyond the range of the clock means no limit, too.
  const uint64_t max_days = static_cast<uint64_t>(system_clock::duration::max() / hours(24));
  if (max_age_days == 0 || max_age_days >= max_days) return false;
  return age_of(item) > hours(24) * static_cast<int64_t>(max_age_days);
}

Status check_store(const CacheStoreOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(const bool exists, is_store(options.store(), *options.file_system));
  if (exists) return {};
  return Status(StatusCode::kNoSuchFile, "there is no context cache in " +
                                             quote(options.folder.native()) +
                                             "; give the folder that sessions use as ep.cache_dir");
}

// Whether to remove an item, given the total size of the remaining ones.
using Wanted = std::function<bool(const CacheItem&, uint64_t bytes_left)>;

class Removal {
 public:
  Removal(const CacheStoreOptions& options, Wanted wanted)
      : options_(options), wanted_(std::move(wanted)) {}

  Result<CacheRemoval> run() && {
    {
      EPHOST_RETURN_IF_ERROR(check_store(options_));
      EPHOST_ASSIGN_OR_RETURN(
          const FolderLock lock,
          FolderLock::acquire(options_.store(), options_.lock_wait, *options_.file_system));
      EPHOST_ASSIGN_OR_RETURN(std::vector<CacheItem> items,
                              scan_store(options_.store(), *options_.file_system));
      std::stable_partition(items.begin(), items.end(),
                            [](const CacheItem& item) { return item.state != State::kEntry; });
      for (const CacheItem& item : items) {
        if (item.state != State::kTemporary) bytes_left_ += item.bytes;
      }
      for (CacheItem& item : items) EPHOST_RETURN_IF_ERROR(consider(std::move(item)));
      remove_unmarked();
    }
    taken_.clear();  // removes the folders after the lock is released
    return std::move(result_);
  }

 private:
  Status consider(CacheItem item) {
    if (item.state == State::kTemporary) {
      if (std::optional<TemporaryFolder> dead =
              take_abandoned(item.folder, *options_.file_system)) {
        taken_.push_back(std::move(*dead));
        result_.removed.push_back(std::move(item));
      }
      return {};
    }
    if (!wanted_(item, bytes_left_)) return {};
    Result<std::optional<TemporaryFolder>> taken =
        TemporaryFolder::take(item.folder, *options_.file_system);
    if (taken.status().code() == StatusCode::kNoSuchFile) return {};
    if (!taken.ok()) return taken.status();
    if (!*taken) {
      result_.in_use.push_back(std::move(item));
      return {};
    }
    bytes_left_ -= item.bytes;
    taken_.push_back(std::move(**taken));
    result_.removed.push_back(std::move(item));
    return {};
  }

  // Removes folders whose process died before it could mark them.
  void remove_unmarked() const {
    for (const fs::path& folder : temporary_folders(options_.store())) {
      if (is_marked(folder, *options_.file_system)) continue;
      static_cast<void>(take_abandoned(folder, *options_.file_system));
    }
  }

  const CacheStoreOptions& options_;
  Wanted wanted_;
  uint64_t bytes_left_ = 0;
  std::vector<TemporaryFolder> taken_;
  CacheRemoval result_;
};

bool exceeds(const CacheLimits& limits, const CacheItem& item, uint64_t bytes_left) {
  return is_too_old(item, limits.max_age_days) ||
         (limits.max_bytes != 0 && bytes_left > limits.max_bytes);
}

}  // namespace

Result<CacheEntry> read_entry(const fs::path& folder, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text,
                          read_file(folder / kEntryFileName, kMaxTextBytes, file_system));
  return parse_cache_entry(text);
}

std::string read_reason(const fs::path& folder, const FileSystem& file_system) {
  Result<std::string> text = read_file(folder / kReasonFileName, kMaxTextBytes, file_system);
  return text.ok() ? std::move(*text) : std::string();
}

std::vector<std::string> verify_entry(const CacheItem& item, const FileSystem& file_system) {
  const Result<CacheEntry> entry = read_entry(item.folder, file_system);
  if (!entry.ok()) return {entry.status().message()};
  std::vector<std::string> problems;
  if (cache_key_id(entry->key_text) != item.id) {
    problems.push_back("the description is that of another key, " + cache_key_id(entry->key_text));
  }
  for (const auto& [name, stated] : entry->files) {
    const Result<InputFile> file =
        open_contained(item.folder, name, StatusCode::kInvalidGraph, file_system);
    const Result<ContentChecksum> found =
        file.ok() ? checksum_of_file(*file) : Result<ContentChecksum>(file.status());
    if (!found.ok()) {
      problems.push_back(found.status().message());
    } else if (*found != stated) {
      problems.push_back(formatted("file {} has the checksum {}, but was published with {}",
                                   quote(name), to_string(*found), to_string(stated)));
    }
  }
  return problems;
}

Result<std::vector<CacheItem>> list_items(const CacheStoreOptions& options) {
  EPHOST_RETURN_IF_ERROR(check_store(options));
  return scan_store(options.store(), *options.file_system);
}

void remove_abandoned(const CacheStoreOptions& options) {
  const std::vector<fs::path> folders = temporary_folders(options.store());
  if (folders.empty()) return;
  std::vector<TemporaryFolder> dead;  // removed after the lock is released
  const Result<std::optional<FolderLock>> lock =
      FolderLock::try_acquire(options.store(), LockMode::kExclusive, *options.file_system);
  if (!lock.ok() || !*lock) return;
  for (const fs::path& folder : folders) {
    if (auto taken = take_abandoned(folder, *options.file_system))
      dead.push_back(std::move(*taken));
  }
}

Result<CacheRemoval> evict(const CacheStoreOptions& options) {
  return Removal(options,
                 [&](const CacheItem& item, uint64_t bytes_left) {
                   return exceeds(options.limits, item, bytes_left);
                 })
      .run();
}

Result<CacheRemoval> prune(const CacheStoreOptions& options) {
  return Removal(options,
                 [&](const CacheItem& item, uint64_t bytes_left) {
                   return item.state == State::kQuarantined ||
                          exceeds(options.limits, item, bytes_left);
                 })
      .run();
}

Result<CacheRemoval> clear(const CacheStoreOptions& options) {
  return Removal(options, [](const CacheItem&, uint64_t) { return true; }).run();
}

}  // namespace ephost::context
