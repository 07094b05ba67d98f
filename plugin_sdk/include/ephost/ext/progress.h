/*
 * progress.h: the optional interface "ephost.progress/1", which the host offers to providers.
 *
 * A provider whose `compile`, `get_ep_context_nodes` or `create` takes seconds reports its progress
 * and asks whether the result is still wanted. It fetches the table once, in `create`:
 *
 *   const eph_progress_api* progress = host->api->get_extension(host, id);   id: EPH_EXT_PROGRESS
 *
 * and does without it if that is null. The table and the host handle live until the provider is
 * destroyed. Not for runs: those ask eph_run_api.is_cancelled.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_PROGRESS_H_
#define EPHOST_EXT_PROGRESS_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_PROGRESS "ephost.progress/1"

typedef struct eph_progress_api {
  uint64_t struct_size;

  /* Reports the progress of the provider's current call: `fraction` goes from 0 to 1 and never
   * decreases within one call; values outside are clamped, and NaN means "unknown". `message`
   * describes the current work in a few words and without the number, e.g. "tuning MatMul_12"; an
   * empty message keeps the last one. Cheap: the host drops reports that come faster than a user
   * can read. Outside of a call of the provider it does nothing. [required] [any] */
  void (*report)(const eph_host* host, double fraction, eph_string message) EPH_NOEXCEPT;

  /* 1 once the provider's current call should end, else 0. The call then frees what it made and
   * returns EPH_CANCELLED; the host leaves no partial context cache behind. A provider that never
   * asks cannot be interrupted. Once 1, the answer stays 1 until that call returns.
   * [required] [any] */
  int32_t (*is_cancelled)(const eph_host* host) EPH_NOEXCEPT;
} eph_progress_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_PROGRESS_H_ */
