/* Placing buffers in memory: the table ephost_placement_api. */
#ifndef EPHOST_C_PLACEMENT_H_
#define EPHOST_C_PLACEMENT_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Needs `size` bytes from time `lower` up to, not including, `upper`. */
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

typedef struct ephost_placement_options {
  uint64_t struct_size;
  uint64_t alignment; /* of every offset: a power of two; 0: 1 */
  /* The search ends at a placement of at most so many bytes; 0: at the lowest one found. */
  uint64_t capacity;
} ephost_placement_options;

/* Report. Sizes count rounded up to the alignment. */
typedef struct ephost_placement {
  uint64_t struct_size;
  const uint64_t* offsets; /* beside the requests */
  uint64_t offset_count;
  uint64_t peak_bytes;         /* the largest end of a buffer; may exceed the capacity */
  uint64_t lower_bound_bytes;  /* the most that is alive at one time */
  uint64_t proved_bound_bytes; /* no placement is below */
  int32_t proved_optimal;      /* the peak meets that bound */
  int32_t reserved;
} ephost_placement;

typedef struct ephost_placement_api {
  uint64_t struct_size;
  /* Places buffers with known lifetimes in one block of memory, as the planner of a session does.
   * Deterministic; may search for seconds. INVALID_ARGUMENT for lower >= upper, an alignment that
   * is not a power of two, or sizes that add up to more than 64 bits hold. `options` may be null.
   */
  ephost_status* (*place)(const ephost_buffer_request* const* requests, uint64_t request_count,
                          const ephost_placement_options* options,
                          const ephost_placement** out_placement);
  /* Reads requests from CSV, as the MiniMalloc benchmark has them, with the columns id, lower,
   * upper and size in any order. INVALID_ARGUMENT with `name`, line and column of the first
   * mistake. */
  ephost_status* (*read_csv)(ephost_string csv, const char* name,
                             const ephost_buffer_list** out_list);
  /* CSV with the columns id, lower, upper, size and offset; `offsets` are beside the requests. */
  ephost_status* (*write_csv)(const ephost_buffer_request* const* requests, uint64_t request_count,
                              const uint64_t* offsets, char** out_csv);
} ephost_placement_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_PLACEMENT_H_ */
