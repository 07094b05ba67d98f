/* The cache store: the table ephost_cache_api. */
#ifndef EPHOST_C_CACHE_H_
#define EPHOST_C_CACHE_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CacheItem::State (<ephost/types/cache_items.h>). */
enum { EPHOST_CACHE_ENTRY = 0, EPHOST_CACHE_QUARANTINED = 1, EPHOST_CACHE_TEMPORARY = 2 };

/* CacheItem, with what CacheItemDescription, CacheItemCheck and CacheRemoval say of it
 * (<ephost/types/cache_items.h>); which of the fields are filled in depends on the function. */
typedef struct ephost_cache_item {
  uint64_t struct_size;
  const char* folder;
  int32_t state;
  int32_t in_use; /* it is one of CacheRemoval::in_use (prune, clear) */
  const char* key;
  uint64_t bytes;
  int64_t last_used_ns;            /* since 1970-01-01 00:00 UTC */
  const ephost_key_value* made_of; /* from here to `partitions`: list */
  uint64_t made_of_count;
  const char* model_name;
  const char* const* providers;
  uint64_t provider_count;
  uint64_t partitions;
  const char* const* problems; /* list: at most one; verify */
  uint64_t problem_count;
} ephost_cache_item;

/* Report. */
typedef struct ephost_cache_list {
  uint64_t struct_size;
  const ephost_cache_item* const* items;
  uint64_t item_count;
} ephost_cache_list;

/* CacheLimits (<ephost/types/cache_items.h>). */
typedef struct ephost_cache_limits {
  uint64_t struct_size;
  uint64_t max_bytes;    /* 0: 10 GiB; EPHOST_UNKNOWN: no limit */
  uint64_t max_age_days; /* likewise, and 0: 90 */
} ephost_cache_limits;

/* The functions of <ephost/cache_store.h>. */
typedef struct ephost_cache_api {
  uint64_t struct_size;
  /* list_cache. */
  ephost_status* (*list)(const char* folder, const ephost_cache_list** out_list);
  /* verify_cache. */
  ephost_status* (*verify)(const char* folder, const ephost_cache_list** out_list);
  /* prune_cache. The list has what was removed and what is in use. `limits` may be null. */
  ephost_status* (*prune)(const char* folder, const ephost_cache_limits* limits,
                          const ephost_cache_list** out_list);
  /* clear_cache; likewise. */
  ephost_status* (*clear)(const char* folder, const ephost_cache_list** out_list);
} ephost_cache_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_CACHE_H_ */
