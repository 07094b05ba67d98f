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

/* Environment. Any number of threads may use it. */
typedef struct ephost_environment ephost_environment;

/* LoggingLevel (<ephost/types/logging.h>). Always carried as int32_t. */
enum {
  EPHOST_LOG_VERBOSE = 0,
  EPHOST_LOG_INFO = 1,
  EPHOST_LOG_WARNING = 2,
  EPHOST_LOG_ERROR = 3,
  EPHOST_LOG_FATAL = 4
};

/* LogMessage (<ephost/types/logging.h>). Everything lasts for the call only. */
typedef struct ephost_log_message {
  uint64_t struct_size;
  int32_t severity;
  int32_t reserved;
  const char* category;
  const char* log_id;
  const char* code_location;
  const char* message;
} ephost_log_message;

/* LoggingFunction (<ephost/types/logging.h>). */
typedef void (*ephost_logging_function)(void* context, const ephost_log_message* message);

/* SignaturePolicy (<ephost/types/environment.h>). */
#define EPHOST_SIGNATURES_OFF 0
#define EPHOST_SIGNATURES_WARN 1
#define EPHOST_SIGNATURES_REQUIRE 2

/* Isolation (<ephost/types/environment.h>). */
#define EPHOST_ISOLATION_NONE 0
#define EPHOST_ISOLATION_WORKER 1
#define EPHOST_ISOLATION_SANDBOX 2

/* EnvironmentOptions (<ephost/types/environment.h>), where `threading` has the threads. */
typedef struct ephost_environment_options {
  uint64_t struct_size;
  const char* const* plugin_directories;
  uint64_t plugin_directory_count;
  int32_t skip_default_directories; /* 1: `search_default_directories` is false */
  int32_t no_crash_handler;         /* 1: `crash_handler` is false */
  uint64_t call_warning_ms;         /* 0: 10 seconds; EPHOST_UNKNOWN: never */

  ephost_logging_function logging_function; /* null: standard error */
  void* logging_context;
  int32_t log_severity_level; /* 1 more than one of EPHOST_LOG_*; 0: not set */
  int32_t no_spinning;        /* 1: `allow_spinning` is false */
  const char* log_id;         /* may be null */
  uint32_t intra_op_num_threads;
  uint32_t inter_op_num_threads;
  const char* intra_op_thread_affinities; /* may be null */
  int32_t metrics;
  int32_t signatures; /* EPHOST_SIGNATURES_* */
  int32_t isolation;  /* EPHOST_ISOLATION_* */
  int32_t reserved;
} ephost_environment_options;

/* DeviceKind (<ephost/types/environment.h>). */
typedef struct ephost_device_kind {
  uint64_t struct_size;
  const char* type;
  const char* vendor;
  const char* id;
} ephost_device_kind;

/* AbiVersions (<ephost/types/environment.h>). Frozen. */
typedef struct ephost_abi_versions {
  uint32_t major;
  uint32_t minor_min;
  uint32_t minor_max;
  uint32_t reserved;
} ephost_abi_versions;

/* InstalledPlugin (<ephost/types/environment.h>). */
typedef struct ephost_plugin {
  uint64_t struct_size;
  const char* provider;
  const char* name;
  const char* vendor;
  const char* version;
  const char* manifest;
  const char* library;
  ephost_abi_versions abi;
  const ephost_device_kind* const* devices;
  uint64_t device_count;
  const char* const* context_sources;
  uint64_t context_source_count;
} ephost_plugin;

/* SkippedPlugin (<ephost/types/environment.h>). */
typedef struct ephost_skipped_plugin {
  uint64_t struct_size;
  const char* manifest;
  ephost_failure reason;
} ephost_skipped_plugin;

/* SearchedDirectory (<ephost/types/environment.h>). */
typedef struct ephost_searched_directory {
  uint64_t struct_size;
  const char* path;
  const char* origin;
} ephost_searched_directory;

/* Report: what an environment knows without loading anything. */
typedef struct ephost_plugin_list {
  uint64_t struct_size;
  const ephost_plugin* const* plugins;
  uint64_t plugin_count;
  const ephost_skipped_plugin* const* skipped;
  uint64_t skipped_count;
  const ephost_searched_directory* const* directories;
  uint64_t directory_count;
} ephost_plugin_list;

/* EpDevice (<ephost/types/ep_device.h>). */
typedef struct ephost_device {
  uint64_t struct_size;
  const char* provider;
  const char* provider_name;
  const char* provider_vendor;
  const char* id;
  const char* type;
  const char* name;
  const char* vendor;
  uint32_t vendor_id;
  uint32_t device_id;
  const char* architecture;
  const char* driver_version;
  uint64_t memory_bytes; /* 0: not known */
  int32_t is_virtual;
  int32_t reserved;
  const ephost_key_value* metadata;
  uint64_t metadata_count;
} ephost_device;

/* UnlistedProvider (<ephost/types/ep_device.h>). */
typedef struct ephost_unlisted_provider {
  uint64_t struct_size;
  const char* provider;
  ephost_failure reason;
} ephost_unlisted_provider;

/* Report: EpDeviceList (<ephost/types/ep_device.h>). */
typedef struct ephost_device_list {
  uint64_t struct_size;
  const ephost_device* const* devices;
  uint64_t device_count;
  const ephost_unlisted_provider* const* failed;
  uint64_t failed_count;
} ephost_device_list;

/* SessionGroupInfo (<ephost/types/environment.h>). */
typedef struct ephost_session_group {
  uint64_t struct_size;
  const char* name;
  const char* const* waiting_partitions;
  uint64_t waiting_partition_count;
  const char* const* unwritten_models;
  uint64_t unwritten_model_count;
} ephost_session_group;

/* Report. */
typedef struct ephost_session_group_list {
  uint64_t struct_size;
  const ephost_session_group* const* groups;
  uint64_t group_count;
} ephost_session_group_list;

/* MetricType (<ephost/types/metrics.h>). Always carried as int32_t. */
enum { EPHOST_METRIC_COUNTER = 0, EPHOST_METRIC_GAUGE = 1, EPHOST_METRIC_HISTOGRAM = 2 };

/* MetricSample (<ephost/types/metrics.h>). */
typedef struct ephost_metric_sample {
  uint64_t struct_size;
  const ephost_key_value* labels;
  uint64_t label_count;
  uint64_t value;
  double sum;
  const uint64_t* buckets;
  uint64_t bucket_count;
} ephost_metric_sample;

/* Metric (<ephost/types/metrics.h>). */
typedef struct ephost_metric {
  uint64_t struct_size;
  const char* name;
  const char* help;
  int32_t type; /* EPHOST_METRIC_* */
  int32_t reserved;
  const double* bounds;
  uint64_t bound_count;
  const ephost_metric_sample* const* samples;
  uint64_t sample_count;
} ephost_metric;

/* Report: MetricsReport (<ephost/types/metrics.h>). */
typedef struct ephost_metrics {
  uint64_t struct_size;
  const ephost_metric* const* metrics;
  uint64_t metric_count;
} ephost_metrics;

typedef struct ephost_environment_api {
  uint64_t struct_size;
  /* Environment::create. `options` may be null. */
  ephost_status* (*create)(const ephost_environment_options* options,
                           ephost_environment** out_environment);
  /* Ends this reference; sessions live on. */
  void (*release)(ephost_environment* environment);

  /* Environment::plugins, skipped_plugins and searched_directories. */
  ephost_status* (*plugins)(const ephost_environment* environment,
                            const ephost_plugin_list** out_list);
  /* Environment::check_loadable, of the plugin with this manifest. */
  ephost_status* (*check_loadable)(const ephost_environment* environment, const char* manifest);
  /* Environment::devices. */
  ephost_status* (*devices)(const ephost_environment* environment,
                            const ephost_device_list** out_list);
  /* Environment::targets. */
  ephost_status* (*targets)(const ephost_environment* environment,
                            const ephost_device_list** out_list);

  /* Environment::register_execution_provider_library. Without a name (null) it is the plugin's
   * short name. */
  ephost_status* (*register_execution_provider_library)(const ephost_environment* environment,
                                                        const char* registration_name,
                                                        const char* path);
  /* Environment::unregister_execution_provider_library. */
  ephost_status* (*unregister_execution_provider_library)(const ephost_environment* environment,
                                                          const char* registration_name);

  /* ep_device_policy_name; empty for a number that is not one of EPHOST_POLICY_*. */
  const char* (*policy_name)(int32_t policy);
  /* parse_ep_device_policy. */
  ephost_status* (*parse_policy)(const char* name, int32_t* out_policy);

  /* Environment::session_groups. */
  ephost_status* (*session_groups)(const ephost_environment* environment,
                                   const ephost_session_group_list** out_list);
  /* Environment::abandon_session_group. */
  ephost_status* (*abandon_session_group)(const ephost_environment* environment, const char* name);

  /* Environment::metrics. Any thread, also during runs. */
  ephost_status* (*metrics)(const ephost_environment* environment,
                            const ephost_metrics** out_report);
  /* Environment::prometheus_text; released with release_text. */
  ephost_status* (*prometheus_text)(const ephost_environment* environment, char** out_text);
} ephost_environment_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_ENVIRONMENT_H_ */
