/*
 * run.h: the optional interface "ephost.run/1", which a provider offers to the host through its
 * get_provider_extension. It is for providers that prepare something for each run of a session
 * (power states, command buffers, profiling zones), take options for a single run, or have options
 * that change while the session lives.
 *
 * A run is one call of the application's `run`. It makes any number of calls of `compute`, on
 * several threads where the host runs steps in parallel, each with the run's id in eph_run.run_id:
 *
 *   begin_run        before the first `compute` of the run, once for each provider object that has
 *                    computations in the session
 *   compute ...      including those in the bodies of If, Loop and Scan, however often they run
 *   end_run          after the last, also if the run failed or was cancelled
 *
 * Each of these calls may come on another thread than the others. Runs of sessions, and concurrent
 * runs of one session, overlap. Kernels that the host calls outside of a run, to fold constants,
 * see a run_id that was never begun.
 *
 * The manifest gives a `scope` for each option: `session` (the default; passed to `create`), `run`
 * (passed to begin_run), or `dynamic` (passed to `create`, and to set_options when it changes).
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [optional],
 * [owner], [any] and `struct_size`.
 */
#ifndef EPHOST_EXT_RUN_H_
#define EPHOST_EXT_RUN_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_RUN "ephost.run/1"

/* What the application says about a run. */
typedef struct eph_run_config {
  uint64_t struct_size;
  uint64_t run_id;
  eph_string tag; /* chosen by the application, for logs and traces; mostly empty */
  /* When the result becomes useless, in nanoseconds of the system's monotonic clock
   * (CLOCK_MONOTONIC); 0: never. The host cancels the run at that time. */
  uint64_t deadline_ns;
  /* Every option of the manifest with the scope `run`, once, with its default where the run does
   * not set it. */
  const eph_option* options;
  uint64_t option_count;
} eph_run_config;

typedef struct eph_run_provider_api {
  uint64_t struct_size;

  /* Prepares a run. If it fails, the run fails, without end_run. Null: nothing to prepare.
   * [optional] [any] */
  int32_t (*begin_run)(eph_provider* provider, const eph_run_config* config,
                       eph_error* error) EPH_NOEXCEPT;

  /* Ends a run that was begun; `code` says how it went, e.g. EPH_CANCELLED. A failure becomes that
   * of the run, if that was successful so far. Null: nothing to do. [optional] [any] */
  int32_t (*end_run)(eph_provider* provider, uint64_t run_id, int32_t code,
                     eph_error* error) EPH_NOEXCEPT;

  /* Changes options with the scope `dynamic`: those that are listed, the rest stays. Applies to
   * runs that begin afterwards. After a failure all are as before. Null: the provider has no such
   * options. [optional] [owner] */
  int32_t (*set_options)(eph_provider* provider, const eph_option* options, uint64_t count,
                         eph_error* error) EPH_NOEXCEPT;
} eph_run_provider_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_RUN_H_ */
