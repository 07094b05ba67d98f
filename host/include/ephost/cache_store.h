// Maintenance of a cache store: what it holds, whether that is undamaged, and what is removed. The
// store is the one that sessions use with the configuration entry `ep.cache_dir`; `folder` is the
// value of that entry. Sessions of any process may use the store meanwhile.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/records/session.h>
#include <ephost/status.h>
#include <ephost/types/cache_items.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace ephost {
namespace detail {

inline CacheItem read_item(const ephost_cache_item& record) {
  using Clock = std::chrono::system_clock;
  CacheItem item;
  item.folder = record.folder;
  item.state = static_cast<CacheItem::State>(record.state);
  item.key = record.key;
  item.bytes = record.bytes;
  item.last_used = Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(record.last_used_ns)));
  return item;
}

EPHOST_ON_DEMAND
inline std::vector<std::string> read_problems(const ephost_cache_item& record) {
  return {record.problems, record.problems + record.problem_count};
}

// What `read(record)` gives of each item of the list that `function(&list)` gives.
template <class Function, class Read>
auto take_cache_list(const Function& function, const Read& read)
    -> Result<std::vector<decltype(read(std::declval<const ephost_cache_item&>()))>> {
  const ephost_cache_list* list = nullptr;
  EPHOST_RETURN_IF_ERROR(take_status(function(&list)));
  const Report<ephost_cache_list> report(list);
  std::vector<decltype(read(std::declval<const ephost_cache_item&>()))> items;
  for (uint64_t i = 0; i < list->item_count; ++i) items.push_back(read(*list->items[i]));
  return items;
}

template <class Function>
Result<CacheRemoval> take_removal(const Function& function) {
  CacheRemoval removal;
  const auto listed = take_cache_list(function, [&](const ephost_cache_item& record) {
    (record.in_use != 0 ? removal.in_use : removal.removed).push_back(read_item(record));
    return 0;
  });
  if (!listed.ok()) return listed.status();
  return removal;
}

}  // namespace detail

inline namespace v1 {

// Errors of all functions: NO_SUCHFILE for a folder without a store, FAIL where something else is
// in its place or it cannot be read. The functions that remove also fail while another process
// keeps the store locked for more than ten seconds; after the first second the log names that
// process. All functions may be called from any thread.

// All items, the most recently used first.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<std::vector<CacheItemDescription>> list_cache(
    const std::string& folder) {
  return detail::take_cache_list(
      [&](const ephost_cache_list** list) {
        return detail::api().cache->list(folder.c_str(), list);
      },
      [](const ephost_cache_item& record) {
        CacheItemDescription description;
        description.item = detail::read_item(record);
        for (const ephost_key_value& part : std::span(record.made_of, record.made_of_count)) {
          description.made_of.emplace_back(part.key, part.value);
        }
        description.model_name = record.model_name;
        description.providers.assign(record.providers, record.providers + record.provider_count);
        description.partitions = record.partitions;
        if (record.problem_count > 0) description.problem = record.problems[0];
        return description;
      });
}

// Compares the checksums of every entry, the most recently used first.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<std::vector<CacheItemCheck>> verify_cache(const std::string& folder) {
  return detail::take_cache_list(
      [&](const ephost_cache_list** list) {
        return detail::api().cache->verify(folder.c_str(), list);
      },
      [](const ephost_cache_item& record) {
        return CacheItemCheck{detail::read_item(record), detail::read_problems(record)};
      });
}

// Removes quarantined entries, what exceeds the limits, least recently used first, and what dead
// processes left; nothing that is in use.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<CacheRemoval> prune_cache(const std::string& folder,
                                                      const CacheLimits& limits = {}) {
  auto given = detail::sized<ephost_cache_limits>();
  given.max_bytes = limits.max_bytes == 0 ? EPHOST_UNKNOWN : limits.max_bytes;
  given.max_age_days = limits.max_age_days == 0 ? EPHOST_UNKNOWN : limits.max_age_days;
  return detail::take_removal([&](const ephost_cache_list** list) {
    return detail::api().cache->prune(folder.c_str(), &given, list);
  });
}

// Removes everything that is not in use.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<CacheRemoval> clear_cache(const std::string& folder) {
  return detail::take_removal([&](const ephost_cache_list** list) {
    return detail::api().cache->clear(folder.c_str(), list);
  });
}

}  // namespace v1
}  // namespace ephost
