/*
 * thread_pool.h: the optional interface "ephost.thread_pool/1", which the host offers to providers.
 *
 * The threads are the host's and shared by all providers and sessions, so that these do not ask the
 * machine for more threads than it has. A provider splits its loops with `parallel_for`. One that
 * uses a library with threads of its own cannot be kept from it; it lets the library have
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

/* Works on the items `begin` up to, not including, `end`. Called by several threads at once on
 * ranges that do not overlap. Nothing may be thrown out of it: it fails the call of the loop. */
typedef void (*eph_range_function)(void* context, uint64_t begin, uint64_t end);

typedef struct eph_thread_pool_api {
  uint64_t struct_size;

  /* Calls `function` on ranges that make up [0, total), on the calling thread and at most
   * get_thread_count - 1 others, and returns when all is done. A range has `grain` items or more,
   * but for the last one: choose it so that it is worth some 10 microseconds. Which ranges there
   * are and which thread gets which differs from call to call, so the result must not depend on it.
   * May be called within `function`; runs on the calling thread where no other one is free.
   * [required] [any] */
  void (*parallel_for)(const eph_host* host, uint64_t total, uint64_t grain,
                       eph_range_function function, void* context) EPH_NOEXCEPT;

  /* The most threads that one parallel_for uses, the calling one included; at least 1. The same for
   * as long as the host handle lives. [required] [any] */
  uint32_t (*get_thread_count)(const eph_host* host) EPH_NOEXCEPT;

  /* How many threads, the calling one included, a library may start for itself in one call of
   * `compute`; at least 1. It is less than get_thread_count where the host runs several
   * computations at the same time. The same for as long as the host handle lives: results that
   * depend on the number stay the same. [required] [any] */
  uint32_t (*get_library_thread_count)(const eph_host* host) EPH_NOEXCEPT;
} eph_thread_pool_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_THREAD_POOL_H_ */
