/* Options of sessions: the table ephost_session_options_api. */
#ifndef EPHOST_C_SESSION_OPTIONS_H_
#define EPHOST_C_SESSION_OPTIONS_H_

#include <ephost/c/base.h>
#include <ephost/c/environment.h>
#include <ephost/c/status.h>
#include <ephost/c/value.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SessionOptions. A session copies what it needs. */
typedef struct ephost_session_options ephost_session_options;

/* EpDevicePolicy (<ephost/types/ep_device.h>). Always carried as int32_t. */
enum {
  EPHOST_POLICY_DEFAULT = 0, /* the same as PREFER_CPU */
  EPHOST_POLICY_PREFER_CPU = 1,
  EPHOST_POLICY_PREFER_NPU = 2,
  EPHOST_POLICY_PREFER_GPU = 3,
  EPHOST_POLICY_MAX_PERFORMANCE = 4,  /* the same as PREFER_GPU */
  EPHOST_POLICY_MAX_EFFICIENCY = 5,   /* the same as PREFER_NPU */
  EPHOST_POLICY_MIN_OVERALL_POWER = 6 /* the same as PREFER_NPU */
};

/* GraphOptimizationLevel (<ephost/types/session_options.h>). */
enum {
  EPHOST_OPTIMIZE_DISABLE_ALL = 0,
  EPHOST_OPTIMIZE_BASIC = 1,
  EPHOST_OPTIMIZE_EXTENDED = 2,
  EPHOST_OPTIMIZE_ALL = 3
};

/* ExecutionMode (<ephost/types/session_options.h>). */
enum { EPHOST_SEQUENTIAL = 0, EPHOST_PARALLEL = 1 };

/* ProviderRequest (<ephost/types/session_options.h>). */
typedef struct ephost_provider_request {
  uint64_t struct_size;
  const char* name;
  const char* version_range; /* e.g. ">=1.2, <2"; null: any */
  const ephost_key_value* options;
  uint64_t option_count;
  const char* const* devices;
  uint64_t device_count;
} ephost_provider_request;

/* EpContextData (<ephost/types/session_options.h>). With `release`, which is called with `owner`,
 * the bytes last until then; without it, until the function returns another time or ends the
 * creation. */
typedef struct ephost_context_data {
  uint64_t struct_size;
  const void* data;
  uint64_t size;
  void (*release)(void* owner);
  void* owner;
} ephost_context_data;

/* EpContextDataReadFunction (<ephost/types/session_options.h>), which fills in `out_data`. */
typedef ephost_status* (*ephost_read_context_data)(void* context, const char* file_name,
                                                   ephost_context_data* out_data);

/* ProgressFunction (<ephost/types/session_options.h>). */
typedef void (*ephost_progress)(void* context, const char* provider, double fraction,
                                const char* message);

/* Report: what session options contain so far. */
typedef struct ephost_session_options_info {
  uint64_t struct_size;
  const ephost_key_value* config_entries;
  uint64_t config_entry_count;
  const ephost_provider_request* const* providers;
  uint64_t provider_count;
} ephost_session_options_info;

/* ConfigScope (<ephost/types/config_entry.h>). */
enum { EPHOST_CONFIG_SESSION = 0, EPHOST_CONFIG_RUN = 1, EPHOST_CONFIG_PROCESS = 2 };

/* ConfigEntryDescription (<ephost/types/config_entry.h>). */
typedef struct ephost_config_entry {
  uint64_t struct_size;
  const char* key;
  const char* subject;
  const char* values;
  const char* default_value;
  const char* meaning;
  int32_t scope; /* EPHOST_CONFIG_* */
  int32_t is_own;
} ephost_config_entry;

/* Report: the entries by subject. */
typedef struct ephost_config_entry_list {
  uint64_t struct_size;
  const ephost_config_entry* const* entries;
  uint64_t entry_count;
} ephost_config_entry_list;

typedef struct ephost_session_options_api {
  uint64_t struct_size;
  /* Options with all defaults. */
  ephost_status* (*create)(ephost_session_options** out_options);
  /* An independent copy. */
  ephost_status* (*clone)(const ephost_session_options* options,
                          ephost_session_options** out_options);
  void (*release)(ephost_session_options* options);

  /* SessionOptions::add_config_entry; known_config_entries lists the keys. */
  ephost_status* (*add_config_entry)(ephost_session_options* options, const char* key,
                                     const char* value);
  /* SessionOptions::config_entries and providers. */
  ephost_status* (*info)(const ephost_session_options* options,
                         const ephost_session_options_info** out_report);
  /* SessionOptions::config_entry: null if it is not set. Valid until the options change. */
  const char* (*get_config_entry)(const ephost_session_options* options, const char* key);

  /* SessionOptions::append_execution_provider. */
  ephost_status* (*append_execution_provider)(ephost_session_options* options,
                                              const ephost_provider_request* request);
  /* SessionOptions::append_execution_provider_v2. Only `provider` and `id` of a device are read.
   */
  ephost_status* (*append_execution_provider_v2)(ephost_session_options* options,
                                                 const ephost_device* const* devices,
                                                 uint64_t device_count,
                                                 const ephost_key_value* provider_options,
                                                 uint64_t provider_option_count);
  /* SessionOptions::set_ep_selection_policy, with one of EPHOST_POLICY_*. */
  ephost_status* (*set_ep_selection_policy)(ephost_session_options* options, int32_t policy);
  /* SessionOptions::load_selection. */
  ephost_status* (*load_selection)(ephost_session_options* options, const char* file);

  /* SessionOptions::set_graph_optimization_level, with one of EPHOST_OPTIMIZE_*. */
  ephost_status* (*set_graph_optimization_level)(ephost_session_options* options, int32_t level);
  /* SessionOptions::enable_mem_pattern and enable_mem_reuse. */
  ephost_status* (*enable_mem_pattern)(ephost_session_options* options, int32_t enable);
  ephost_status* (*enable_mem_reuse)(ephost_session_options* options, int32_t enable);
  /* SessionOptions::set_execution_mode: EPHOST_SEQUENTIAL or EPHOST_PARALLEL. */
  ephost_status* (*set_execution_mode)(ephost_session_options* options, int32_t mode);
  /* SessionOptions::set_inter_op_num_threads and set_intra_op_num_threads. */
  ephost_status* (*set_inter_op_num_threads)(ephost_session_options* options, uint32_t threads);
  ephost_status* (*set_intra_op_num_threads)(ephost_session_options* options, uint32_t threads);
  /* SessionOptions::enable_profiling. Null: records nothing. */
  ephost_status* (*enable_profiling)(ephost_session_options* options, const char* file);

  /* SessionOptions::set_ep_context_data_read_func. `read` is called with `context`, which must last
   * as long as options that it is set in; null: no function. */
  ephost_status* (*set_ep_context_data_read_func)(ephost_session_options* options,
                                                  ephost_read_context_data read, void* context);
  /* SessionOptions::set_progress_func; as above. */
  ephost_status* (*set_progress_func)(ephost_session_options* options, ephost_progress progress,
                                      void* context);
  /* SessionOptions::set_load_cancellation_flag. `flag` is a byte that is set to 1; it has to be a
   * lock-free atomic (atomic_bool in C, std::atomic<bool> in C++). */
  ephost_status* (*set_load_cancellation_flag)(ephost_session_options* options, const void* flag);

  /* SessionOptions::add_free_dimension_override_by_name and ..._by_denotation. */
  ephost_status* (*add_free_dimension_override_by_name)(ephost_session_options* options,
                                                        const char* name, int64_t size);
  ephost_status* (*add_free_dimension_override_by_denotation)(ephost_session_options* options,
                                                              const char* denotation, int64_t size);

  /* SessionOptions::add_initializer, which keeps a reference to the value. */
  ephost_status* (*add_initializer)(ephost_session_options* options, const char* name,
                                    const ephost_value* value);
  /* SessionOptions::add_external_initializers. `names` and `values` have `count` elements each. */
  ephost_status* (*add_external_initializers)(ephost_session_options* options,
                                              const char* const* names,
                                              const ephost_value* const* values, uint64_t count);
  /* SessionOptions::add_external_initializers_from_files_in_memory. The three arrays have `count`
   * elements each. */
  ephost_status* (*add_external_initializers_from_files_in_memory)(ephost_session_options* options,
                                                                   const char* const* names,
                                                                   const void* const* buffers,
                                                                   const uint64_t* sizes,
                                                                   uint64_t count);
  /* SessionOptions::set_optimized_model_file_path. Null: saves nothing. */
  ephost_status* (*set_optimized_model_file_path)(ephost_session_options* options,
                                                  const char* file);

  /* SessionOptions::set_log_id. Null: none. */
  ephost_status* (*set_log_id)(ephost_session_options* options, const char* id);
  /* SessionOptions::set_log_severity_level, with one of EPHOST_LOG_*. */
  ephost_status* (*set_log_severity_level)(ephost_session_options* options, int32_t severity);

  /* SessionOptions::add_input_file and add_output_file. */
  ephost_status* (*add_input_file)(ephost_session_options* options, const char* file);
  ephost_status* (*add_output_file)(ephost_session_options* options, const char* file);

  /* Every configuration entry that this library knows. */
  ephost_status* (*known_config_entries)(const ephost_config_entry_list** out_list);
} ephost_session_options_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_SESSION_OPTIONS_H_ */
