/*
 * profiling.h: the optional interface "ephost.profiling/1", which a provider offers to the host
 * through its get_provider_extension. With it, what the provider and its device do appears in the
 * session's trace, beside the steps that the host measures.
 *
 * A provider that is to be profiled is created with EPH_PURPOSE_PROFILING. The host calls `start`
 * before the first run that is profiled and `stop` after the last; in between, the provider records
 * events, and `stop` hands them over. This happens any number of times.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [owner] and `struct_size`.
 */
#ifndef EPHOST_EXT_PROFILING_H_
#define EPHOST_EXT_PROFILING_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_PROFILING "ephost.profiling/1"

/* Clocks of events. Always carried as int32_t. */
enum {
  EPH_CLOCK_HOST = 0,  /* the system's monotonic clock (CLOCK_MONOTONIC) */
  EPH_CLOCK_DEVICE = 1 /* the device's own; its distance to the host's is in `host_offset_ns` */
};

/* Something that took place, e.g. a kernel on the device, or a transfer. Passed for the call. */
typedef struct eph_event {
  uint64_t struct_size;
  eph_string name;
  eph_string category; /* e.g. "kernel", "transfer", "api" */
  eph_string track;    /* the row of the trace that the event belongs to, e.g. "queue 0" */
  uint64_t begin_ns;   /* of `clock` */
  uint64_t duration_ns;
  /* What has to be added to a time of the device's clock to get the host's; with EPH_CLOCK_HOST,
   * zero. */
  int64_t host_offset_ns;
  int32_t clock;
  uint32_t reserved; /* zero */
  uint64_t run_id;   /* of the run that it belongs to; 0: none */
  const eph_key_value* arguments;
  uint64_t argument_count;
} eph_event;

typedef struct eph_event_list eph_event_list;

typedef struct eph_event_list_api {
  uint64_t struct_size;
  /* Adds a copy of *event. The order does not matter. [required] [owner] */
  int32_t (*add)(eph_event_list* list, const eph_event* event, eph_error* error) EPH_NOEXCEPT;
} eph_event_list_api;

struct eph_event_list {
  const eph_event_list_api* api;
};

typedef struct eph_profiling_api {
  uint64_t struct_size;

  /* Begins to record. [required] [owner] */
  int32_t (*start)(eph_provider* provider, eph_error* error) EPH_NOEXCEPT;

  /* Ends recording, and hands over and forgets the events since `start`. The host asks when no run
   * is under way. [required] [owner] */
  int32_t (*stop)(eph_provider* provider, eph_event_list* list, eph_error* error) EPH_NOEXCEPT;
} eph_profiling_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_PROFILING_H_ */
