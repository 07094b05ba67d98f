/* The cache store: the table ephost_cache_api. */
#ifndef EPHOST_C_CACHE_H_
#define EPHOST_C_CACHE_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  EPHOST_CACHE_ENTRY = 0,
  EPHOST_CACHE_QUARANTINED = 1, /* an entry that was found to be damaged */
  EPHOST_CACHE_TEMPORARY = 2    /* being written or removed, or left by a dead process */
};

/* An item of a cache store. Which of the fields are filled in depends on the function. */
typedef struct ephost_cache_item {
  uint64_t struct_size;
  const char* folder;
  int32_t state;
  int32_t in_use;       /* by a session: not removed although it would have been (prune, clear) */
  const char* key;      /* empty for a temporary one */
  uint64_t bytes;       /* of its files */
  int64_t last_used_ns; /* nanoseconds since 1970-01-01 00:00 UTC */
  /* What its files say (list). What cannot be read is left empty. */
  const ephost_key_value* made_of; /* what the key is computed from */
  uint64_t made_of_count;
  const char* model_name; /* empty for a model from memory */
  const char* const* providers;
  uint64_t provider_count;
  uint64_t partitions;
  /* Why it is quarantined, or cannot be described (list), or what is wrong with it (verify), one
   * sentence each. */
  const char* const* problems;
  uint64_t problem_count;
} ephost_cache_item;

/* Report. */
typedef struct ephost_cache_list {
  uint64_t struct_size;
  const ephost_cache_item* const* items;
  uint64_t item_count;
} ephost_cache_list;

/* What a store may hold. */
typedef struct ephost_cache_limits {
  uint64_t struct_size;
  uint64_t max_bytes;    /* 0: 10 GiB; EPHOST_UNKNOWN: no limit */
  uint64_t max_age_days; /* since the last use; 0: 90; EPHOST_UNKNOWN: no limit */
} ephost_cache_limits;

/*
 * Maintenance of the store that sessions use with the entry ep.cache_dir; `folder` is the value of
 * that entry. Sessions of any process may use the store meanwhile. NO_SUCHFILE where there is no
 * store, FAIL where something else is in its place or it cannot be read. What removes also fails
 * while another process keeps the store locked for more than ten seconds.
 */
typedef struct ephost_cache_api {
  uint64_t struct_size;
  /* All items, the most recently used first. */
  ephost_status* (*list)(const char* folder, const ephost_cache_list** out_list);
  /* The same, comparing the checksums of every entry. */
  ephost_status* (*verify)(const char* folder, const ephost_cache_list** out_list);
  /* Removes quarantined entries, what exceeds the limits, least recently used first, and what dead
   * processes left; nothing that is in use. The list has what was removed and what is in use.
   * `limits` may be null. */
  ephost_status* (*prune)(const char* folder, const ephost_cache_limits* limits,
                          const ephost_cache_list** out_list);
  /* Removes everything that is not in use. */
  ephost_status* (*clear)(const char* folder, const ephost_cache_list** out_list);
} ephost_cache_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_CACHE_H_ */
