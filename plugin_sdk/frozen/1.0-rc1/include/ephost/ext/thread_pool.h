/*
 * thread_pool.h: the optional interface "ephost.thread_pool/1", which the host offers to providers.
 *
 * The threads belong to the host and are shared by all providers and sessions, so that these do not
 * start more threads than the machine has processors. A provider splits its loops with
 * `parallel_for`. A provider that uses a library with threads of its own limits that library to
 * `get_library_thread_count` threads in each call. The provider fetches the table once, in
 * `create`:
 *
 *   const eph_thread_pool_api* pool = host->api->get_extension(host, id);   id: EPH_EXT_THREAD_POOL
 *
 * and works on the calling thread alone if that is null. The table and the host handle live until
 * the provider is destroyed.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_THREAD_POOL_H_
#define EPHOST_EXT_THREAD_POOL_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_THREAD_POOL "ephost.thread_pool/1"

/* Processes the items in [begin, end). Called by several threads at once on ranges that do not
 * overlap. It must not throw: an exception fails the call that runs the loop. */
typedef void (*eph_range_function)(void* context, uint64_t begin, uint64_t end);

typedef struct eph_thread_pool_api {
  uint64_t struct_size;

  /* Calls `function` on ranges that together make up [0, total), on the calling thread and at most
   * get_thread_count - 1 others, and returns when all are done. Every range but the last has at
   * least `grain` items: choose it so that a range takes some 10 microseconds. The ranges and their
   * threads differ from call to call, so the result must not depend on them. May be called within
   * `function`; runs on the calling thread if no other one is free. The call that runs the loop
   * fails if `function` is null.
   * [required] [any] */
  void (*parallel_for)(const eph_host* host, uint64_t total, uint64_t grain,
                       eph_range_function function, void* context) EPH_NOEXCEPT;

  /* The maximum number of threads that one parallel_for uses, including the calling one; at least
   * 1. Constant while the host handle lives. [required] [any] */
  uint32_t (*get_thread_count)(const eph_host* host) EPH_NOEXCEPT;

  /* The number of threads, including the calling one, that a library may use for itself in one call
   * of `compute`; at least 1. It is less than get_thread_count if the host runs several
   * computations at the same time. Constant while the host handle lives, so that results that
   * depend on it stay the same. [required] [any] */
  uint32_t (*get_library_thread_count)(const eph_host* host) EPH_NOEXCEPT;
} eph_thread_pool_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_THREAD_POOL_H_ */
