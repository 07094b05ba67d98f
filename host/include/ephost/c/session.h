/* Sessions, runs and bindings: the table ephost_session_api. */
#ifndef EPHOST_C_SESSION_H_
#define EPHOST_C_SESSION_H_

#include <ephost/c/base.h>
#include <ephost/c/environment.h>
#include <ephost/c/session_options.h>
#include <ephost/c/status.h>
#include <ephost/c/value.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Session. Any number of threads may use it at once; it is released when none does. */
typedef struct ephost_session ephost_session;

/* IoBinding. One thread at a time. It keeps its session alive. */
typedef struct ephost_binding ephost_binding;

/* ValueDescription (<ephost/types/session.h>). */
typedef struct ephost_value_description {
  uint64_t struct_size;
  const char* name;
  const char* type;
  int32_t kind;
  int32_t element_type;
  int32_t is_optional;
  int32_t has_default;
  int32_t has_shape;
  int32_t reserved;
  const int64_t* shape;
  uint64_t rank;
  const char* const* dim_names;
} ephost_value_description;

/* Phase (<ephost/types/session.h>). */
typedef struct ephost_phase {
  uint64_t struct_size;
  const char* name;
  double seconds;
} ephost_phase;

/* Fallback (<ephost/types/fallback.h>). */
typedef struct ephost_fallback {
  uint64_t struct_size;
  const char* provider;
  const char* partition;
  uint64_t nodes;
  ephost_failure reason;
} ephost_fallback;

/* CacheUse::Outcome. */
enum {
  EPHOST_CACHE_OFF = 0,
  EPHOST_CACHE_HIT = 1,
  EPHOST_CACHE_MISS = 2,
  EPHOST_CACHE_UNCACHED = 3
};

/* CacheUse (<ephost/types/cache_use.h>). */
typedef struct ephost_cache_use {
  uint64_t struct_size;
  int32_t outcome;
  int32_t reserved;
  const char* key;
  uint64_t reused_contexts;
  const char* reason;
} ephost_cache_use;

/* SessionProvider (<ephost/types/session_provider.h>). */
typedef struct ephost_session_provider {
  uint64_t struct_size;
  const char* name;
  const char* library;
  uint64_t node_count;
  uint64_t wished_node_count;
} ephost_session_provider;

/* PlannedMemory (<ephost/types/session.h>). */
typedef struct ephost_planned_memory {
  uint64_t struct_size;
  uint32_t location;
  uint32_t reserved;
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes;
} ephost_planned_memory;

/* ModelMetadata (<ephost/types/model_metadata.h>). */
typedef struct ephost_model_metadata {
  uint64_t struct_size;
  const char* producer_name;
  const char* graph_name;
  const char* domain;
  const char* description;
  const char* graph_description;
  int64_t version; /* 0 where the model has none */
  const ephost_key_value* custom_metadata_map;
  uint64_t custom_metadata_count;
} ephost_model_metadata;

/* What the functions of Session of these names return. It lives as long as the session. */
typedef struct ephost_session_info {
  uint64_t struct_size;
  const ephost_value_description* const* inputs;
  uint64_t input_count;
  const ephost_value_description* const* outputs;
  uint64_t output_count;
  const ephost_phase* const* phases;
  uint64_t phase_count;
  const ephost_fallback* const* fallbacks;
  uint64_t fallback_count;
  const ephost_cache_use* cache_use;
  const ephost_session_provider* const* providers;
  uint64_t provider_count;
  const ephost_planned_memory* const* planned_memory;
  uint64_t planned_memory_count;
  const ephost_value_description* const* overridable_initializers;
  uint64_t overridable_initializer_count;
  const ephost_model_metadata* model_metadata;
  const ephost_memory_info* const* input_memory;
  const ephost_memory_info* const* output_memory;
  uint64_t host_node_count;
} ephost_session_info;

/* SpecializationState (<ephost/types/specialization.h>). */
enum {
  EPHOST_SPECIALIZATION_READY = 0,
  EPHOST_SPECIALIZATION_MAKING = 1,
  EPHOST_SPECIALIZATION_FAILED = 2
};

/* FixedExtent (<ephost/types/specialization.h>). */
typedef struct ephost_fixed_extent {
  uint64_t struct_size;
  const char* name;
  int64_t extent;
} ephost_fixed_extent;

/* Specialization (<ephost/types/specialization.h>). */
typedef struct ephost_specialization {
  uint64_t struct_size;
  const ephost_fixed_extent* const* extents;
  uint64_t extent_count;
  int32_t state; /* EPHOST_SPECIALIZATION_* */
  uint32_t reserved;
  uint64_t runs;
  double seconds;
  const char* reason;
  const ephost_session_provider* const* providers;
  uint64_t provider_count;
} ephost_specialization;

/* Report. */
typedef struct ephost_specialization_list {
  uint64_t struct_size;
  const ephost_specialization* const* specializations;
  uint64_t specialization_count;
} ephost_specialization_list;

/* RunOptions (<ephost/types/session.h>). */
typedef struct ephost_run_options {
  uint64_t struct_size;
  const void* cancelled; /* as the flag of set_load_cancellation_flag; null: none */
  uint64_t timeout_ns;   /* nanoseconds from the call on; 0: no deadline */
  const char* tag;       /* may be null */
  const ephost_key_value* config_entries;
  uint64_t config_entry_count;
  int32_t log_severity_level; /* 1 more than one of EPHOST_LOG_*; 0: as the session says */
  int32_t reserved;
} ephost_run_options;

/* RunAsyncCallback. `status` is null for success. The function releases it and the values. */
typedef void (*ephost_run_async_callback)(void* context, ephost_status* status,
                                          ephost_value* const* outputs, uint64_t output_count);

typedef struct ephost_session_api {
  uint64_t struct_size;
  /* Session::create, from a file. `options` may be null here and everywhere else. */
  ephost_status* (*create)(const ephost_environment* environment, const char* model_path,
                           const ephost_session_options* options, ephost_session** out_session);
  /* From a model in memory, which stays the application's and must outlive the session. */
  ephost_status* (*create_from_array)(const ephost_environment* environment, const void* model,
                                      uint64_t size, const ephost_session_options* options,
                                      ephost_session** out_session);
  /* Waits until the runs of run_async and their callbacks are over. A binding keeps its session. */
  void (*release)(ephost_session* session);

  /* The functions of Session without parameters, `specializations` excepted. */
  const ephost_session_info* (*info)(const ephost_session* session);

  /* Session::run, with values beside their names. `out_values` receives the outputs of
   * `output_names`, which the caller releases; if that is null, all outputs of the model in its
   * order, and `output_count` must be their number. */
  ephost_status* (*run)(ephost_session* session, const ephost_run_options* options,
                        const char* const* input_names, const ephost_value* const* inputs,
                        uint64_t input_count, const char* const* output_names,
                        uint64_t output_count, ephost_value** out_values);

  /* Session::run_async, except that without names all outputs are given, whatever `output_count`
   * says. `callback` is called exactly once if this succeeds. */
  ephost_status* (*run_async)(ephost_session* session, const ephost_run_options* options,
                              const char* const* input_names, const ephost_value* const* inputs,
                              uint64_t input_count, const char* const* output_names,
                              uint64_t output_count, ephost_run_async_callback callback,
                              void* context);

  /* Session::create_binding. */
  ephost_status* (*create_binding)(ephost_session* session, ephost_binding** out_binding);
  void (*release_binding)(ephost_binding* binding);
  /* IoBinding::bind_input. */
  ephost_status* (*bind_input)(ephost_binding* binding, const char* name,
                               const ephost_value* value);
  /* IoBinding::bind_output, of a value. */
  ephost_status* (*bind_output)(ephost_binding* binding, const char* name,
                                const ephost_value* value);
  /* IoBinding::bind_output, of a memory. */
  ephost_status* (*bind_output_to_memory)(ephost_binding* binding, const char* name,
                                          const ephost_memory_info* memory);
  /* IoBinding::clear_bound_inputs and clear_bound_outputs. What get_output gave stays valid. */
  void (*clear_bound_inputs)(ephost_binding* binding);
  void (*clear_bound_outputs)(ephost_binding* binding);
  /* Session::run, with a binding. */
  ephost_status* (*run_with_binding)(ephost_binding* binding, const ephost_run_options* options);
  /* IoBinding::outputs: one of them, by its index in the model; of kind NONE before the first run.
   */
  ephost_status* (*get_output)(const ephost_binding* binding, uint64_t index,
                               ephost_value** out_value);

  /* Session::set_ep_dynamic_options. */
  ephost_status* (*set_ep_dynamic_options)(ephost_session* session, const ephost_key_value* options,
                                           uint64_t option_count);

  /* Session::end_profiling. `out_file` receives the path, to be released with release_text. */
  ephost_status* (*end_profiling)(ephost_session* session, char** out_file);

  /* Session::check_output_file. */
  ephost_status* (*check_output_file)(const ephost_session* session, const char* file,
                                      const char* role);

  /* Session::specializations. Any thread, also during runs. */
  ephost_status* (*specializations)(const ephost_session* session,
                                    const ephost_specialization_list** out_list);

  /* Session::shrink. Any thread, also during runs. */
  ephost_status* (*shrink)(ephost_session* session);
} ephost_session_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_SESSION_H_ */
