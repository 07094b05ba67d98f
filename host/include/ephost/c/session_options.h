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

/* Which providers a session asks, in which order, and how it works. What is wrong with an option is
 * said when a session is created with it. A session copies what it needs. */
typedef struct ephost_session_options ephost_session_options;

/* How a session chooses providers and devices by itself, numbered as ONNX Runtime's
 * OrtExecutionProviderDevicePolicy. Each takes the best device of the type that it prefers, if
 * there is one, and then the best CPU device; the CPU provider is always last. Always carried as
 * int32_t. */
enum {
  EPHOST_POLICY_DEFAULT = 0, /* the same as PREFER_CPU */
  EPHOST_POLICY_PREFER_CPU = 1,
  EPHOST_POLICY_PREFER_NPU = 2,
  EPHOST_POLICY_PREFER_GPU = 3,
  EPHOST_POLICY_MAX_PERFORMANCE = 4,  /* the same as PREFER_GPU */
  EPHOST_POLICY_MAX_EFFICIENCY = 5,   /* the same as PREFER_NPU */
  EPHOST_POLICY_MIN_OVERALL_POWER = 6 /* the same as PREFER_NPU */
};

/* Which passes change the graph. Those that there are belong to BASIC. */
enum {
  EPHOST_OPTIMIZE_DISABLE_ALL = 0,
  EPHOST_OPTIMIZE_BASIC = 1,
  EPHOST_OPTIMIZE_EXTENDED = 2,
  EPHOST_OPTIMIZE_ALL = 3
};

/* How steps run that do not wait for each other; the results are the same. */
enum { EPHOST_SEQUENTIAL = 0, EPHOST_PARALLEL = 1 };

/* A provider that a session is to ask. */
typedef struct ephost_provider_request {
  uint64_t struct_size;
  const char* name;          /* type name or short name */
  const char* version_range; /* e.g. ">=1.2, <2"; null: any */
  const ephost_key_value* options;
  uint64_t option_count;
  /* The devices that it is to use, in this order: each is the id of a device, or a type ("npu": all
   * of them), or a type and a number from 0 ("gpu:1"). Virtual devices are found by their id only.
   * Creating a session fails with ENGINE_ERROR if one is not there. None: all devices that are not
   * virtual. */
  const char* const* devices;
  uint64_t device_count;
} ephost_provider_request;

/* The content of a binary of the context cache. With `release`, the bytes stay valid until it is
 * called with `owner`, and are used where they lie if they begin at a multiple of 64; without it,
 * they need only last until the function returns another time or ends the creation. */
typedef struct ephost_context_data {
  uint64_t struct_size;
  const void* data;
  uint64_t size;
  void (*release)(void* owner);
  void* owner;
} ephost_context_data;

/* Gives the binary of that name, by filling in `out_data`. */
typedef ephost_status* (*ephost_read_context_data)(void* context, const char* file_name,
                                                   ephost_context_data* out_data);

/* Told how far a provider has come with what it is doing: `fraction` of 0 to 1. The provider
 * "ephost" is the host itself: it names each phase that it begins, with a fraction of 0. */
typedef void (*ephost_progress)(void* context, const char* provider, double fraction,
                                const char* message);

/* Report: what session options contain so far. */
typedef struct ephost_session_options_info {
  uint64_t struct_size;
  const ephost_key_value* config_entries; /* in the order in which they were set first */
  uint64_t config_entry_count;
  const ephost_provider_request* const* providers; /* in their order */
  uint64_t provider_count;
} ephost_session_options_info;

/* The part of the host that reads an entry. */
enum {
  EPHOST_CONFIG_SESSION = 0, /* add_config_entry of session options */
  EPHOST_CONFIG_RUN = 1,     /* ephost_run_options.config_entries */
  EPHOST_CONFIG_PROCESS = 2  /* the environment variable of that name */
};

/* What there is to say about a configuration entry. */
typedef struct ephost_config_entry {
  uint64_t struct_size;
  /* Capitals after the last point stand for a name, e.g. of a dimension:
   * "session.free_dimension_override_by_name.NAME". */
  const char* key;
  const char* subject; /* what it belongs to, e.g. "Threads and time" */
  const char* values;  /* what it may be, e.g. "0 or 1", "path" */
  /* What holds without the entry: a value, or "none", "empty" or another phrase where no value says
   * the same. */
  const char* default_value;
  const char* meaning; /* one line of text */
  int32_t scope;       /* EPHOST_CONFIG_* */
  int32_t is_own;      /* ONNX Runtime does not have it, or has a function in its place */
} ephost_config_entry;

/* Report: the entries by subject. */
typedef struct ephost_config_entry_list {
  uint64_t struct_size;
  const ephost_config_entry* const* entries;
  uint64_t entry_count;
} ephost_config_entry_list;

typedef struct ephost_session_options_api {
  uint64_t struct_size;
  ephost_status* (*create)(ephost_session_options** out_options);
  ephost_status* (*clone)(const ephost_session_options* options,
                          ephost_session_options** out_options);
  void (*release)(ephost_session_options* options);

  /* Sets a configuration entry; the last one of a key stands, or the strictest one of a policy
   * (session.isolation, session.isolation.PROVIDER, session.signatures, session.quarantine). The
   * keys are ONNX Runtime's; known_config_entries lists them. An unknown key has no effect but a
   * warning in the log. */
  ephost_status* (*add_config_entry)(ephost_session_options* options, const char* key,
                                     const char* value);
  ephost_status* (*info)(const ephost_session_options* options,
                         const ephost_session_options_info** out_report);
  /* The value of an entry; null if it is not set. Valid until the options change. */
  const char* (*get_config_entry)(const ephost_session_options* options, const char* key);

  /* Asks a further provider, after those that were appended before. The CPU provider is appended by
   * the session if it is missing. */
  ephost_status* (*append_execution_provider)(ephost_session_options* options,
                                              const ephost_provider_request* request);
  /* Asks the provider that these devices belong to, and lets it use them, in this order.
   * INVALID_ARGUMENT if there are none, or if they belong to several providers. */
  ephost_status* (*append_execution_provider_v2)(ephost_session_options* options,
                                                 const ephost_device* const* devices,
                                                 uint64_t device_count,
                                                 const ephost_key_value* provider_options,
                                                 uint64_t provider_option_count);
  /* Lets the session choose providers and devices among those of the machine. Creating it fails
   * with INVALID_ARGUMENT if providers were appended as well. */
  ephost_status* (*set_ep_selection_policy)(ephost_session_options* options, int32_t policy);
  /* Appends what a selection file says (manifests/SCHEMA.md). It counts as an input file. */
  ephost_status* (*load_selection)(ephost_session_options* options, const char* file);

  /* Default: EPHOST_OPTIMIZE_ALL. */
  ephost_status* (*set_graph_optimization_level)(ephost_session_options* options, int32_t level);
  /* Places values by a plan made beforehand (default), or allocates each when it is made. */
  ephost_status* (*enable_mem_pattern)(ephost_session_options* options, int32_t enable);
  /* Lets values take over the memory of others (default). */
  ephost_status* (*enable_mem_reuse)(ephost_session_options* options, int32_t enable);
  /* Default: EPHOST_SEQUENTIAL. */
  ephost_status* (*set_execution_mode)(ephost_session_options* options, int32_t mode);
  /* The most threads that run steps of one run at the same time, the calling one included; 0
   * (default): one for each processor. No effect in sequential mode. */
  ephost_status* (*set_inter_op_num_threads)(ephost_session_options* options, uint32_t threads);
  /* The most threads that one step uses for itself, the calling one included; 0 (default): one for
   * each processor. A provider's own option goes before it. */
  ephost_status* (*set_intra_op_num_threads)(ephost_session_options* options, uint32_t threads);
  /* Records the phases of creation and each step of each run, until end_profiling writes them to
   * the file; compilation writes it in the end. Null: records nothing (default). */
  ephost_status* (*enable_profiling)(ephost_session_options* options, const char* file);

  /* Gives the binaries of a context model by the names that its nodes state, instead of the file
   * system. They are compared with the checksums that the model gives, as always. Called by the
   * thread that creates a session, once for each name, and again where the model has to be read
   * again. A failure makes creation fail with INVALID_GRAPH. */
  ephost_status* (*set_ep_context_data_read_func)(ephost_session_options* options,
                                                  ephost_read_context_data read, void* context);
  /* Called by the thread that creates a session or compiles a model. Should be quick. */
  ephost_status* (*set_progress_func)(ephost_session_options* options, ephost_progress progress,
                                      void* context);
  /* A byte that another thread, or a signal handler, sets to 1 to end creation or compilation with
   * CANCELLED; nothing half-written stays. It has to be a lock-free atomic (atomic_bool in C,
   * std::atomic<bool> in C++). Borrowed until they have ended; null (default): none. The entry
   * session.load_timeout_seconds ends them in the same way after some time, with
   * DEADLINE_EXCEEDED. */
  ephost_status* (*set_load_cancellation_flag)(ephost_session_options* options, const void* flag);

  /* Fixes the size of dimensions that the model leaves open, so that everything is compiled and
   * planned for this size: those that the model calls by this name, in all its graphs, or those of
   * its inputs that have this denotation, e.g. "DATA_BATCH", in any case. Sizes are at least 0; the
   * last one of a name stands. An override without effect is a warning in the log. */
  ephost_status* (*add_free_dimension_override_by_name)(ephost_session_options* options,
                                                        const char* name, int64_t size);
  ephost_status* (*add_free_dimension_override_by_denotation)(ephost_session_options* options,
                                                              const char* denotation, int64_t size);

  /* Takes the value instead of the model's initializer of that name, in the model's main graph; it
   * must be a tensor of the same type and shape. Its memory is not copied, unless the elements are
   * not aligned, and must not change: sessions that are given the same value share it. A name that
   * the model does not have is a warning in the log. */
  ephost_status* (*add_initializer)(ephost_session_options* options, const char* name,
                                    const ephost_value* value);
  /* The same for initializers whose data is outside of the model: files that nothing else refers to
   * are not opened. Creating a session fails with INVALID_ARGUMENT for a name that the model does
   * not have or whose data is inside the model. */
  ephost_status* (*add_external_initializers)(ephost_session_options* options,
                                              const char* const* names,
                                              const ephost_value* const* values, uint64_t count);
  /* Takes the bytes for the model's files of external data with these names, whether or not such
   * files exist. They are borrowed: the application keeps them unchanged as long as sessions live.
   * A name that is not in the model is a warning in the log. */
  ephost_status* (*add_external_initializers_from_files_in_memory)(ephost_session_options* options,
                                                                   const char* const* names,
                                                                   const void* const* buffers,
                                                                   const uint64_t* sizes,
                                                                   uint64_t count);
  /* Saves the model after its graph optimizations, before providers compile anything, as an ONNX
   * file that gives the same results, whenever a session is created. An existing file is replaced
   * unless it is read. Creation fails with INVALID_GRAPH for a context model, and with FAIL if the
   * model exceeds 2 GiB: the entry session.optimized_model_external_initializers_file_name puts the
   * initializers into a file beside it. Null: saves nothing (default). */
  ephost_status* (*set_optimized_model_file_path)(ephost_session_options* options,
                                                  const char* file);

  /* Names the session in its messages, in place of the environment. */
  ephost_status* (*set_log_id)(ephost_session_options* options, const char* id);
  /* Drops messages of the session below this severity (EPHOST_LOG_*); without it, those that the
   * environment drops. */
  ephost_status* (*set_log_severity_level)(ephost_session_options* options, int32_t severity);

  /* States a file that the application itself reads, or one that it is going to write. Creating a
   * session and compiling a model fail with INVALID_ARGUMENT, before anything is written, where a
   * file that is to be written is one that is read, whatever path or link leads to it, or where two
   * outputs have one name. */
  ephost_status* (*add_input_file)(ephost_session_options* options, const char* file);
  ephost_status* (*add_output_file)(ephost_session_options* options, const char* file);

  /* Every configuration entry that this library knows. */
  ephost_status* (*known_config_entries)(const ephost_config_entry_list** out_list);
} ephost_session_options_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_SESSION_OPTIONS_H_ */
