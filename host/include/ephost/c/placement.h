/* Placing buffers in memory: the table ephost_placement_api. */
#ifndef EPHOST_C_PLACEMENT_H_
#define EPHOST_C_PLACEMENT_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* BufferRequest (<ephost/types/placement.h>). */
typedef struct ephost_buffer_request {
  uint64_t struct_size;
  const char* id; /* for the CSV form only; may be null */
  uint32_t lower;
  uint32_t upper;
  uint64_t size;
} ephost_buffer_request;

/* Report. */
typedef struct ephost_buffer_list {
  uint64_t struct_size;
  const ephost_buffer_request* const* requests;
  uint64_t request_count;
} ephost_buffer_list;

/* BufferPlacementOptions (<ephost/types/placement.h>). */
typedef struct ephost_placement_options {
  uint64_t struct_size;
  uint64_t alignment; /* 0: 1 */
  uint64_t capacity;  /* 0: the default */
} ephost_placement_options;

/* Report: BufferPlacement (<ephost/types/placement.h>). */
typedef struct ephost_placement {
  uint64_t struct_size;
  const uint64_t* offsets;
  uint64_t offset_count;
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes;
  uint64_t proved_bound_bytes;
  int32_t proved_optimal;
  int32_t reserved;
} ephost_placement;

typedef struct ephost_placement_api {
  uint64_t struct_size;
  /* place_buffers. `options` may be null. */
  ephost_status* (*place)(const ephost_buffer_request* const* requests, uint64_t request_count,
                          const ephost_placement_options* options,
                          const ephost_placement** out_placement);
  /* parse_buffer_requests. `name` may be null. */
  ephost_status* (*read_csv)(ephost_string csv, const char* name,
                             const ephost_buffer_list** out_list);
  /* to_csv. `offsets` are beside the requests. Released with release_text. */
  ephost_status* (*write_csv)(const ephost_buffer_request* const* requests, uint64_t request_count,
                              const uint64_t* offsets, char** out_csv);
} ephost_placement_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_PLACEMENT_H_ */
