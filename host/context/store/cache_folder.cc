#include "host/context/store/cache_folder.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/format.h"
#include "host/base/processes/process.h"
#include "host/base/text.h"
#include "host/context/store/cache_key.h"
#include "host/context/store/owned_folder.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

// Without locks, a temporary folder of this age counts as left by a dead process.
constexpr std::chrono::hours kTemporaryAge(24);

std::chrono::system_clock::time_point modified(const struct stat& info) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(info.st_mtim.tv_sec) +
                                               std::chrono::nanoseconds(info.st_mtim.tv_nsec));
}

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const std::string& name : list_directory(folder, ignored)) {
    const fs::path path = folder / name;
    const fs::file_type type = fs::symlink_status(path, ignored).type();
    if (type == fs::file_type::directory) bytes += bytes_in(path);
    if (type != fs::file_type::regular) continue;
    const uintmax_t size = fs::file_size(path, ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

// The name without the prefix; nullopt if it does not start with it.
std::optional<std::string> name_behind(std::string_view prefix, const std::string& name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

// nullopt if the folder does not belong to the store.
std::optional<CacheItem> item_at(const fs::path& folder, const FileSystem& file_system) {
  CacheItem item{.folder = folder};
  const std::string name = folder.filename().native();
  if (name_behind(kTemporaryPrefix, name)) {
    if (!is_marked(folder, file_system)) return std::nullopt;
    item.state = CacheItem::State::kTemporary;
    return item;
  }
  std::optional<std::string> id = name_behind(kEntryPrefix, name);
  if (!id) {
    id = name_behind(kQuarantinePrefix, name);
    item.state = CacheItem::State::kQuarantined;
  }
  if (!id || !is_cache_key_id(*id) || !is_marked(folder, file_system)) return std::nullopt;
  item.id = std::move(*id);
  return item;
}

}  // namespace

fs::path entry_path(const fs::path& store, std::string_view key_id) {
  return store / (std::string(kEntryPrefix) + std::string(key_id));
}

fs::path temporary_path(const fs::path& store) {
  // Processes in different containers may have the same id, so the time is part of the name.
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return store /
         formatted("{}{}-{}-{}", kTemporaryPrefix, this_process(), counter.fetch_add(1), now);
}

TemporaryFolder::TemporaryFolder(fs::path path, FolderLock lock, const FileSystem& file_system)
    : path_(std::move(path)), lock_(std::move(lock)), file_system_(&file_system) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      file_system_(other.file_system_) {}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) remove_folder(path_, *file_system_);
}

Result<TemporaryFolder> TemporaryFolder::create(const fs::path& store,
                                                const FileSystem& file_system) {
  fs::path path = temporary_path(store);
  if (file_system.mkdir(path.c_str(), 0755) != 0) return file_error("make", path, errno);
  Result<FolderLock> lock = FolderLock::acquire(path, {}, file_system);
  if (!lock.ok()) {
    file_system.rmdir(path.c_str());
    return lock.status();
  }
  TemporaryFolder folder(std::move(path), std::move(*lock), file_system);
  EPHOST_RETURN_IF_ERROR(mark_folder(folder.path(), file_system));
  return folder;
}

Result<std::optional<TemporaryFolder>> TemporaryFolder::take(const fs::path& folder,
                                                             const FileSystem& file_system,
                                                             bool needs_lock) {
  EPHOST_ASSIGN_OR_RETURN(std::optional<FolderLock> lock,
                          FolderLock::try_acquire(folder, LockMode::kExclusive, file_system));
  if (!lock || (needs_lock && !lock->is_held())) return std::optional<TemporaryFolder>();
  if (!is_marked(folder, file_system)) {
    remove_folder(folder, file_system);
    return std::optional<TemporaryFolder>();
  }
  fs::path path = temporary_path(folder.parent_path());
  if (file_system.rename(folder.c_str(), path.c_str()) != 0) {
    return file_error("move out of the way", folder, errno);
  }
  return std::optional(TemporaryFolder(std::move(path), std::move(*lock), file_system));
}

Result<std::vector<CacheItem>> scan_store(const fs::path& store, const FileSystem& file_system) {
  std::vector<CacheItem> items;
  std::error_code error;
  for (const std::string& name : list_directory(store, error)) {
    std::optional<CacheItem> item = item_at(store / name, file_system);
    std::error_code ignored;
    struct stat info {};
    if (!item || fs::symlink_status(store / name, ignored).type() != fs::file_type::directory ||
        file_system.stat(item->folder.c_str(), &info) != 0) {
      continue;
    }
    item->bytes = bytes_in(item->folder);
    item->last_used = modified(info);
    items.push_back(std::move(*item));
  }
  if (error) return file_error("read the cache store", store, error.value());
  std::sort(items.begin(), items.end(), [](const CacheItem& a, const CacheItem& b) {
    return std::tie(a.last_used, a.folder) < std::tie(b.last_used, b.folder);
  });
  return items;
}

std::vector<fs::path> temporary_folders(const fs::path& store) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const std::string& name : list_directory(store, ignored)) {
    const bool is_folder =
        fs::symlink_status(store / name, ignored).type() == fs::file_type::directory;
    if (is_folder && name_behind(kTemporaryPrefix, name)) folders.push_back(store / name);
  }
  return folders;
}

std::optional<TemporaryFolder> take_abandoned(const fs::path& folder,
                                              const FileSystem& file_system) {
  struct stat info {};
  if (file_system.stat(folder.c_str(), &info) != 0) return std::nullopt;
  const bool is_old = std::chrono::system_clock::now() - modified(info) >= kTemporaryAge;
  Result<std::optional<TemporaryFolder>> taken =
      TemporaryFolder::take(folder, file_system, !is_old);
  return taken.ok() ? std::move(*taken) : std::nullopt;
}

void touch(const fs::path& folder, const FileSystem& file_system) {
  file_system.utimensat(folder.c_str(), nullptr);
}

}  // namespace ephost::context
