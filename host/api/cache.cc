#include <chrono>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/caching/cache_maintenance.h"

namespace ephost::api {
namespace {

void fill(Arena& arena, const CacheItem& item, ephost_cache_item& record) {
  record.folder = arena.text(item.folder);
  record.state = static_cast<int32_t>(item.state);
  record.key = arena.text(item.key);
  record.bytes = item.bytes;
  record.last_used_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(item.last_used.time_since_epoch())
          .count();
  record.model_name = "";
}

// A list of `items`, of each of which `describe(arena, item, record)` fills in the record.
template <class Item, class Describe>
const ephost_cache_list* new_list(const std::vector<Item>& items, const Describe& describe) {
  return new_report<ephost_cache_list>([&](Arena& arena, ephost_cache_list& list) {
    auto* const records = arena.array<const ephost_cache_item*>(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      auto* const record = arena.record<ephost_cache_item>();
      describe(arena, items[i], *record);
      records[i] = record;
    }
    list.items = records;
    list.item_count = items.size();
  });
}

ephost_status* list(const char* folder, const ephost_cache_list** out_list) {
  *out_list = nullptr;
  return guarded("listing a cache store", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto items, session::list_cache(folder));
    *out_list = new_list(items, [](Arena& arena, const CacheItemDescription& of, auto& record) {
      fill(arena, of.item, record);
      arena.list(of.made_of, record.made_of, record.made_of_count);
      record.model_name = arena.text(of.model_name);
      arena.list(of.providers, record.providers, record.provider_count);
      record.partitions = of.partitions;
      std::vector<std::string> problems;
      if (!of.problem.empty()) problems.push_back(of.problem);
      arena.list(problems, record.problems, record.problem_count);
    });
    return {};
  });
}

ephost_status* verify(const char* folder, const ephost_cache_list** out_list) {
  *out_list = nullptr;
  return guarded("verifying a cache store", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto items, session::verify_cache(folder));
    *out_list = new_list(items, [](Arena& arena, const CacheItemCheck& of, auto& record) {
      fill(arena, of.item, record);
      arena.list(of.problems, record.problems, record.problem_count);
    });
    return {};
  });
}

const ephost_cache_list* new_list_of(const CacheRemoval& removal) {
  std::vector<std::pair<const CacheItem*, bool>> items;  // and whether it is in use
  for (const CacheItem& item : removal.removed) items.emplace_back(&item, false);
  for (const CacheItem& item : removal.in_use) items.emplace_back(&item, true);
  return new_list(items, [](Arena& arena, const auto& item, ephost_cache_item& record) {
    fill(arena, *item.first, record);
    record.in_use = item.second ? 1 : 0;
  });
}

CacheLimits to_limits(const ephost_cache_limits* limits) {
  const ephost_cache_limits given = adopt_record(limits);
  CacheLimits adopted;
  const auto adopt = [](uint64_t number, uint64_t& to) {
    if (number != 0) to = number == EPHOST_UNKNOWN ? 0 : number;
  };
  adopt(given.max_bytes, adopted.max_bytes);
  adopt(given.max_age_days, adopted.max_age_days);
  return adopted;
}

ephost_status* prune(const char* folder, const ephost_cache_limits* limits,
                     const ephost_cache_list** out_list) {
  *out_list = nullptr;
  return guarded("pruning a cache store", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(limits, "ephost_cache_limits"));
    EPHOST_ASSIGN_OR_RETURN(const CacheRemoval removal,
                            session::prune_cache(folder, to_limits(limits)));
    *out_list = new_list_of(removal);
    return {};
  });
}

ephost_status* clear(const char* folder, const ephost_cache_list** out_list) {
  *out_list = nullptr;
  return guarded("clearing a cache store", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const CacheRemoval removal, session::clear_cache(folder));
    *out_list = new_list_of(removal);
    return {};
  });
}

}  // namespace

const ephost_cache_api kCacheApi = {sizeof(ephost_cache_api), list, verify, prune, clear};

}  // namespace ephost::api
