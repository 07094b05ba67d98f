/* The environment with its plugins, devices, logs and metrics: the table
 * ephost_environment_api. */
#ifndef EPHOST_C_ENVIRONMENT_H_
#define EPHOST_C_ENVIRONMENT_H_

#include <ephost/c/base.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the sessions of a process share: it knows which plugins are installed and keeps those that
 * are loaded. Any number of threads may use it. Sessions keep it alive. */
typedef struct ephost_environment ephost_environment;

/* Severities of messages, numbered as ONNX Runtime's. Always carried as int32_t. */
enum {
  EPHOST_LOG_VERBOSE = 0,
  EPHOST_LOG_INFO = 1,
  EPHOST_LOG_WARNING = 2,
  EPHOST_LOG_ERROR = 3,
  EPHOST_LOG_FATAL = 4
};

/* A message. Everything lasts for the call only. */
typedef struct ephost_log_message {
  uint64_t struct_size;
  int32_t severity;
  int32_t reserved;
  const char* category; /* where the message comes from: "ephost", or the type name of a provider */
  /* The log id of the session or the environment, followed in a run with a tag by a colon and the
   * tag; may be empty. */
  const char* log_id;
  const char* code_location; /* e.g. "host/runtime/program.cc:120"; empty for those of plugins */
  const char* message;       /* without control characters, whatever a model put into it */
} ephost_log_message;

/* Called by the thread that has something to say, which may be any, and by several at a time. It
 * may call the library, but a message that this leads to calls it again. */
typedef void (*ephost_logging_function)(void* context, const ephost_log_message* message);

/* What becomes of plugins and context models without a valid signature of somebody whom the user or
 * the machine trusts: nothing is looked at, they are used with a warning, or they are refused. */
#define EPHOST_SIGNATURES_OFF 0
#define EPHOST_SIGNATURES_WARN 1
#define EPHOST_SIGNATURES_REQUIRE 2

/* Where plugins run: in the process of the host, in processes of their own, or in such that may use
 * nothing but what the plugin needs. */
#define EPHOST_ISOLATION_NONE 0
#define EPHOST_ISOLATION_WORKER 1
#define EPHOST_ISOLATION_SANDBOX 2

/* Options of an environment. */
typedef struct ephost_environment_options {
  uint64_t struct_size;
  /* Searched first for plugins, in this order. */
  const char* const* plugin_directories;
  uint64_t plugin_directory_count;
  /* Not to search EPHOST_PLUGIN_PATH and the data directories of the user and the system as well.
   * The process's environment is ignored in a privileged process whatever this says. */
  int32_t skip_default_directories;
  /* Not to say on standard error, when the process crashes, which plugin was being called for which
   * node, nor to count it towards its quarantine. For that the process has handlers of SIGSEGV,
   * SIGBUS, SIGILL, SIGFPE and SIGABRT while the environment or a session of it lives. They pass
   * each signal on to those that were there before, which are put back unless others came since. */
  int32_t no_crash_handler;
  /* A call of a plugin that takes longer is named in the log while it lasts, at this time, at
   * twice this time, and so on. 0: after 10 seconds; EPHOST_UNKNOWN: never. Of several environments
   * in the process, the shortest time counts for all. */
  uint64_t call_warning_ms;

  /* Receives the messages of the environment, its sessions and their plugins, in place of standard
   * error; null: standard error, where equal warnings and errors of a session are counted and
   * summed up, and the environment variable EPHOST_LOG_FORMAT chooses text or JSON. Not called any
   * more once the environment and its sessions are gone. What belongs to no environment, such as a
   * thread of a plugin's own that outlives its session's providers, goes to standard error, as do
   * crashes. */
  ephost_logging_function logging_function;
  void* logging_context;
  /* 1 more than the severity (EPHOST_LOG_*) below which messages are dropped; 0: what the
   * environment variable EPHOST_LOG_LEVEL says, or else warnings and errors are not dropped. */
  int32_t log_severity_level;
  int32_t
      no_spinning;    /* idle threads sleep at once, instead of waiting actively for microseconds */
  const char* log_id; /* names the environment in its messages; may be null */
  /* The threads of sessions that do not set it; 0: one for each processor. */
  uint32_t intra_op_num_threads;
  uint32_t inter_op_num_threads;
  /* Which logical processors each thread but the calling one runs on; see
   * session.intra_op_thread_affinities. Null: any. */
  const char* intra_op_thread_affinities;
  /* Counts sessions, compilations, runs and more, for `metrics`. A run then reads the clock twice,
   * which takes longer than everything else that is counted. */
  int32_t metrics;
  /* EPHOST_SIGNATURES_*. What the environment variable EPHOST_SIGNATURES, the machine's policy
   * (/etc/ephost/policy.yaml) or a session (session.signatures) says can only be stricter: the
   * strictest of them counts. */
  int32_t signatures;
  /* EPHOST_ISOLATION_*. What the environment variable EPHOST_ISOLATION, the machine's policy, a
   * session (session.isolation) or a plugin's manifest says can only be stricter: the strictest of
   * them counts. */
  int32_t isolation;
  int32_t reserved;
} ephost_environment_options;

/* A kind of device that a plugin can drive, as its manifest declares it. */
typedef struct ephost_device_kind {
  uint64_t struct_size;
  const char* type; /* "cpu", "gpu", "npu" or "other" */
  const char* vendor;
  const char* id;
} ephost_device_kind;

/* Versions of the plugin ABI: one major, a closed range of minors. Frozen. */
typedef struct ephost_abi_versions {
  uint32_t major;
  uint32_t minor_min;
  uint32_t minor_max;
  uint32_t reserved;
} ephost_abi_versions;

/* A plugin as its manifest describes it; nothing of it need be loaded. */
typedef struct ephost_plugin {
  uint64_t struct_size;
  const char* provider; /* e.g. "CPUExecutionProvider"; empty if the plugin has a layer */
  const char* name;     /* e.g. "cpu"; the name of a layer */
  const char* vendor;
  const char* version;
  const char* manifest;    /* path */
  const char* library;     /* path */
  ephost_abi_versions abi; /* that it speaks */
  const ephost_device_kind* const* devices;
  uint64_t device_count;
  const char* const* context_sources; /* the values of EPContext's `source` that it accepts */
  uint64_t context_source_count;
} ephost_plugin;

/* A manifest that was found and cannot be used. */
typedef struct ephost_skipped_plugin {
  uint64_t struct_size;
  const char* manifest;
  ephost_failure reason;
} ephost_skipped_plugin;

/* A directory that was searched for plugins; it need not exist. */
typedef struct ephost_searched_directory {
  uint64_t struct_size;
  const char* path;
  const char* origin; /* "given", "EPHOST_PLUGIN_PATH", "user", "system", "installed with ephost" */
} ephost_searched_directory;

/* Report: what an environment knows without loading anything. */
typedef struct ephost_plugin_list {
  uint64_t struct_size;
  const ephost_plugin* const* plugins; /* by provider, highest version first; then layers */
  uint64_t plugin_count;
  const ephost_skipped_plugin* const* skipped;
  uint64_t skipped_count;
  const ephost_searched_directory* const* directories; /* in the order of the search */
  uint64_t directory_count;
} ephost_plugin_list;

/* A device that a provider can use, or compile for. */
typedef struct ephost_device {
  uint64_t struct_size;
  const char* provider;      /* type name of the provider, e.g. "CPUExecutionProvider" */
  const char* provider_name; /* its short name, e.g. "cpu" */
  const char* provider_vendor;
  const char* id;   /* among those of the provider; the same after a restart */
  const char* type; /* "cpu", "gpu", "npu" or "other" */
  const char* name;
  const char* vendor;
  uint32_t vendor_id; /* as assigned by the PCI-SIG; 0: none */
  uint32_t device_id;
  const char* architecture;
  const char* driver_version;
  uint64_t memory_bytes; /* 0: not known */
  int32_t is_virtual;    /* not in this machine, or simulated: used only where it is named */
  int32_t reserved;
  const ephost_key_value* metadata; /* keys are unique */
  uint64_t metadata_count;
} ephost_device;

/* A provider whose devices could not be listed, because its plugin could not be loaded or failed.
 */
typedef struct ephost_unlisted_provider {
  uint64_t struct_size;
  const char* provider;
  ephost_failure reason;
} ephost_unlisted_provider;

/* Report. */
typedef struct ephost_device_list {
  uint64_t struct_size;
  const ephost_device* const* devices; /* by provider, in the provider's own order */
  uint64_t device_count;
  const ephost_unlisted_provider* const* failed; /* they have no device in the list */
  uint64_t failed_count;
} ephost_device_list;

/* A group of sessions that share EP contexts (ep.share_ep_contexts), from the first one to the one
 * with ep.stop_share_ep_contexts. */
typedef struct ephost_session_group {
  uint64_t struct_size;
  const char* name;
  const char* const* waiting_partitions; /* of loaded binaries, that no session has taken yet */
  uint64_t waiting_partition_count;
  const char* const* unwritten_models; /* context models that the last session will write */
  uint64_t unwritten_model_count;
} ephost_session_group;

/* Report. */
typedef struct ephost_session_group_list {
  uint64_t struct_size;
  const ephost_session_group* const* groups;
  uint64_t group_count;
} ephost_session_group_list;

/* Types of metrics, as Prometheus has them. Always carried as int32_t. */
enum {
  EPHOST_METRIC_COUNTER = 0,  /* only grows */
  EPHOST_METRIC_GAUGE = 1,    /* how much there is now */
  EPHOST_METRIC_HISTOGRAM = 2 /* how often what was observed was at most each of the bounds */
};

/* What was counted under one combination of labels. */
typedef struct ephost_metric_sample {
  uint64_t struct_size;
  const ephost_key_value* labels; /* names and values */
  uint64_t label_count;
  uint64_t value; /* of a histogram: the number of all observations */
  double sum;     /* of a histogram: of what was observed */
  /* For a histogram, beside `bounds`: the number of observations of at most that much. */
  const uint64_t* buckets;
  uint64_t bucket_count;
} ephost_metric_sample;

/* A metric; host/include/README.md lists them all. Durations are in seconds, sizes in bytes. */
typedef struct ephost_metric {
  uint64_t struct_size;
  const char* name; /* e.g. "ephost_runs_total" */
  const char* help; /* one sentence */
  int32_t type;     /* EPHOST_METRIC_* */
  int32_t reserved;
  const double* bounds; /* of a histogram, ascending; infinity is not among them */
  uint64_t bound_count;
  const ephost_metric_sample* const* samples; /* none where nothing was counted yet */
  uint64_t sample_count;
} ephost_metric;

/* Report: what an environment has counted since it was created. */
typedef struct ephost_metrics {
  uint64_t struct_size;
  const ephost_metric* const* metrics;
  uint64_t metric_count;
} ephost_metrics;

typedef struct ephost_environment_api {
  uint64_t struct_size;
  /* Reads the manifests; loads nothing. `options` may be null. */
  ephost_status* (*create)(const ephost_environment_options* options,
                           ephost_environment** out_environment);
  /* Ends this reference; sessions live on. */
  void (*release)(ephost_environment* environment);

  ephost_status* (*plugins)(const ephost_environment* environment,
                            const ephost_plugin_list** out_list);
  /* Whether the plugin with this manifest could be loaded, as far as that can be known without
   * running its code: its ABI versions, the extensions that it requires, its library and the
   * checksum of that. NOT_FOUND for a manifest that the environment does not know. */
  ephost_status* (*check_loadable)(const ephost_environment* environment, const char* manifest);
  /* The devices of this machine that the installed providers can use. Loads the plugin of each
   * provider, the highest version that works. */
  ephost_status* (*devices)(const ephost_environment* environment,
                            const ephost_device_list** out_list);
  /* The devices that they can compile for without having them (ephost_compilation's `target`). */
  ephost_status* (*targets)(const ephost_environment* environment,
                            const ephost_device_list** out_list);

  /* Adds one plugin to those of the environment, for sessions that are created afterwards, and
   * keeps it loaded until it is unregistered. `path` is its manifest, or its library with a single
   * manifest beside it. Without a name (null) it is registered under its short name. NO_SUCHFILE if
   * the file does not exist; INVALID_ARGUMENT if the name is taken, the environment has the plugin
   * already, or the file is neither; otherwise fails with what is wrong with the plugin. */
  ephost_status* (*register_execution_provider_library)(const ephost_environment* environment,
                                                        const char* registration_name,
                                                        const char* path);
  /* Removes such a plugin again. Sessions that use it live on, and its library is unloaded with the
   * last of them. NOT_FOUND if no plugin is registered under that name. */
  ephost_status* (*unregister_execution_provider_library)(const ephost_environment* environment,
                                                          const char* registration_name);

  /* "PREFER_NPU" etc., as ONNX Runtime calls the policies (EPHOST_POLICY_*); empty for a number
   * that is not a policy. */
  const char* (*policy_name)(int32_t policy);
  /* The reverse, in any case. INVALID_ARGUMENT for any other name. */
  ephost_status* (*parse_policy)(const char* name, int32_t* out_policy);

  ephost_status* (*session_groups)(const ephost_environment* environment,
                                   const ephost_session_group_list** out_list);
  /* Ends a group without its last session: nothing is written; its sessions live on. NOT_FOUND if
   * no group has the name. */
  ephost_status* (*abandon_session_group)(const ephost_environment* environment, const char* name);

  /* What was counted so far, of all sessions of the environment, those that ended included. Any
   * thread, also during runs. INVALID_ARGUMENT unless the environment was created with `metrics`.
   * */
  ephost_status* (*metrics)(const ephost_environment* environment,
                            const ephost_metrics** out_report);
  /* The same in Prometheus' text exposition format, version 0.0.4; released with release_text. */
  ephost_status* (*prometheus_text)(const ephost_environment* environment, char** out_text);
} ephost_environment_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_ENVIRONMENT_H_ */
