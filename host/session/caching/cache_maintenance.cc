#include "host/session/caching/cache_maintenance.h"

#include <algorithm>

#include "host/base/log.h"
#include "host/context/store/cache_upkeep.h"
#include "host/session/environment/exception_barrier.h"

namespace ephost::session {
namespace {

context::CacheStoreOptions store_in(const std::filesystem::path& folder,
                                    const CacheLimits& limits = {}) {
  context::CacheStoreOptions options;
  options.folder = folder;
  options.limits = {.max_bytes = limits.max_bytes, .max_age_days = limits.max_age_days};
  options.lock_wait.report = [](const std::string& message) { log_warning(message); };
  return options;
}

CacheItem public_item(const context::CacheItem& item) {
  return {.folder = item.folder,
          .state = static_cast<CacheItem::State>(item.state),
          .key = item.id,
          .bytes = item.bytes,
          .last_used = item.last_used};
}

// The most recently used first.
Result<std::vector<context::CacheItem>> scan(const std::filesystem::path& folder) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<context::CacheItem> items,
                          context::list_items(store_in(folder)));
  std::ranges::reverse(items);
  return items;
}

CacheItemDescription describe(const context::CacheItem& item) {
  CacheItemDescription description{.item = public_item(item)};
  const FileSystem& file_system = posix_file_system();
  const Result<context::CacheEntry> entry = context::read_entry(item.folder, file_system);
  if (entry.ok()) {
    description.made_of = context::parse_lines(entry->key_text);
    description.model_name = entry->model_name;
    description.partitions = entry->partitions.size();
    for (const auto& [name, value] : description.made_of) {
      if (name == "provider") description.providers.push_back(value);
    }
  }
  if (item.state == context::CacheItem::State::kQuarantined) {
    description.problem = context::read_reason(item.folder, file_system);
  } else if (item.state == context::CacheItem::State::kEntry && !entry.ok()) {
    description.problem = entry.status().message();
  }
  return description;
}

CacheRemoval public_removal(const context::CacheRemoval& removal) {
  CacheRemoval result;
  for (const auto& item : removal.removed) result.removed.push_back(public_item(item));
  for (const auto& item : removal.in_use) result.in_use.push_back(public_item(item));
  return result;
}

}  // namespace

Result<std::vector<CacheItemDescription>> list_cache(const std::filesystem::path& folder) {
  using Items = Result<std::vector<CacheItemDescription>>;
  return without_exceptions("listing a cache store", [&]() -> Items {
    EPHOST_ASSIGN_OR_RETURN(const auto items, scan(folder));
    std::vector<CacheItemDescription> descriptions;
    for (const context::CacheItem& item : items) descriptions.push_back(describe(item));
    return descriptions;
  });
}

Result<std::vector<CacheItemCheck>> verify_cache(const std::filesystem::path& folder) {
  using Checks = Result<std::vector<CacheItemCheck>>;
  return without_exceptions("verifying a cache store", [&]() -> Checks {
    EPHOST_ASSIGN_OR_RETURN(const auto items, scan(folder));
    EPHOST_RETURN_IF_ERROR(context::check_store_writers(store_in(folder).store()));
    std::vector<CacheItemCheck> checks;
    for (const context::CacheItem& item : items) {
      if (item.state != context::CacheItem::State::kEntry) continue;
      checks.push_back({public_item(item), context::verify_entry(item, posix_file_system())});
    }
    return checks;
  });
}

Result<CacheRemoval> prune_cache(const std::filesystem::path& folder, const CacheLimits& limits) {
  return without_exceptions("pruning a cache store", [&]() -> Result<CacheRemoval> {
    EPHOST_ASSIGN_OR_RETURN(const auto removal, context::prune(store_in(folder, limits)));
    return public_removal(removal);
  });
}

Result<CacheRemoval> clear_cache(const std::filesystem::path& folder) {
  return without_exceptions("clearing a cache store", [&]() -> Result<CacheRemoval> {
    EPHOST_ASSIGN_OR_RETURN(const auto removal, context::clear(store_in(folder)));
    return public_removal(removal);
  });
}

}  // namespace ephost::session
