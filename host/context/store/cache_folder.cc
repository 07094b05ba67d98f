#include "host/context/store/cache_folder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "host/base/file_error.h"
#include "host/base/text.h"
#include "host/context/store/cache_key.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) bytes += entry->file_size(ignored);
  }
  return bytes;
}

// Nothing for what is not the store's.
std::optional<CacheItem> item_at(const fs::path& folder) {
  CacheItem item{.folder = folder};
  const std::string name = folder.filename().native();
  if (name.starts_with(kTemporaryPrefix)) {
    item.state = CacheItem::State::kTemporary;
    return item;
  }
  item.id = name;
  if (name.starts_with(kQuarantinePrefix)) {
    item.state = CacheItem::State::kQuarantined;
    item.id = name.substr(kQuarantinePrefix.size());
  }
  if (!is_cache_key_id(item.id)) return std::nullopt;
  return item;
}

}  // namespace

fs::path temporary_path(const fs::path& store) {
  // The time keeps apart the processes of several containers, which may have equal ids.
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return store / (std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" +
                  std::to_string(counter.fetch_add(1)) + "-" + std::to_string(now));
}

Status make_folders(const fs::path& folder, const FileSystem& file_system) {
  EPHOST_RETURN_IF_ERROR(check_file_path(folder));
  struct stat info {};
  if (file_system.stat(folder.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return {};
    return file_error("use as a folder", folder, ENOTDIR);
  }
  if (errno != ENOENT) return file_error("look for", folder, errno);
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    EPHOST_RETURN_IF_ERROR(make_folders(folder.parent_path(), file_system));
  }
  // A path that ends in a slash names what its parent path names.
  if (file_system.mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST) return {};
  return file_error("make the folder", folder, errno);
}

void remove_tree(const fs::path& path, const FileSystem& file_system) noexcept {
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::directory) {
    file_system.unlink(path.c_str());
    return;
  }
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    remove_tree(entry->path(), file_system);
  }
  file_system.rmdir(path.c_str());
}

Result<FolderLock> lock_store(const fs::path& store, std::chrono::milliseconds patience,
                              const FileSystem& file_system) {
  constexpr std::chrono::milliseconds kPause(5);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    EPHOST_ASSIGN_OR_RETURN(
        std::optional<FolderLock> lock,
        FolderLock::try_acquire(store, FolderLock::Mode::kExclusive, file_system));
    if (lock) return std::move(*lock);
    if (std::chrono::steady_clock::now() >= deadline) {
      return Status(StatusCode::kFail, "the cache store " + quote(store.native()) +
                                           " is locked by another process for more than " +
                                           std::to_string(patience.count()) +
                                           " ms; see whether one hangs");
    }
    std::this_thread::sleep_for(kPause);
  }
}

TemporaryFolder::TemporaryFolder(fs::path path, FolderLock lock, const FileSystem& file_system)
    : path_(std::move(path)), lock_(std::move(lock)), file_system_(&file_system) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      file_system_(other.file_system_) {}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) remove_tree(path_, *file_system_);
}

Result<TemporaryFolder> TemporaryFolder::create(const fs::path& store,
                                                const FileSystem& file_system) {
  fs::path path = temporary_path(store);
  if (file_system.mkdir(path.c_str(), 0777) != 0) return file_error("make", path, errno);
  Result<FolderLock> lock = FolderLock::acquire(path, file_system);
  if (!lock.ok()) {
    file_system.rmdir(path.c_str());
    return lock.status();
  }
  return TemporaryFolder(std::move(path), std::move(*lock), file_system);
}

Result<std::optional<TemporaryFolder>> TemporaryFolder::take(const fs::path& folder,
                                                             const FileSystem& file_system,
                                                             bool needs_lock) {
  EPHOST_ASSIGN_OR_RETURN(
      std::optional<FolderLock> lock,
      FolderLock::try_acquire(folder, FolderLock::Mode::kExclusive, file_system));
  if (!lock || (needs_lock && !lock->is_held())) return std::optional<TemporaryFolder>();
  fs::path path = temporary_path(folder.parent_path());
  if (file_system.rename(folder.c_str(), path.c_str()) != 0) {
    return file_error("move out of the way", folder, errno);
  }
  return std::optional(TemporaryFolder(std::move(path), std::move(*lock), file_system));
}

Result<std::vector<CacheItem>> scan_store(const fs::path& store, const FileSystem& file_system) {
  std::vector<CacheItem> items;
  std::error_code error;
  fs::directory_iterator entry(store, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::optional<CacheItem> item = item_at(entry->path());
    struct stat info {};
    if (!item || file_system.stat(item->folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      continue;
    }
    item->bytes = bytes_in(item->folder);
    item->last_used = std::chrono::system_clock::time_point(
        std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec));
    items.push_back(std::move(*item));
  }
  if (error) return file_error("read the cache store", store, error.value());
  std::sort(items.begin(), items.end(), [](const CacheItem& a, const CacheItem& b) {
    return std::tie(a.last_used, a.folder) < std::tie(b.last_used, b.folder);
  });
  return items;
}

void touch(const fs::path& folder, const FileSystem& file_system) {
  file_system.utimensat(folder.c_str(), nullptr);
}

}  // namespace ephost::context
