/* Reports on plugins and selections: the table ephost_plugin_api. */
#ifndef EPHOST_C_PLUGIN_H_
#define EPHOST_C_PLUGIN_H_

#include <ephost/c/base.h>
#include <ephost/c/environment.h>
#include <ephost/c/session_options.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ends of a range, both included; both null if there is none. Frozen. */
typedef struct ephost_range {
  const char* minimum;
  const char* maximum;
} ephost_range;

/* OptionDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_option_description {
  uint64_t struct_size;
  const char* name;
  const char* type;
  const char* scope;
  const char* default_value;
  ephost_range range;
  const char* const* choices;
  uint64_t choice_count;
  const char* help;
} ephost_option_description;

/* KernelTypeRule (<ephost/types/plugin_description.h>). */
typedef struct ephost_kernel_type_rule {
  uint64_t struct_size;
  int32_t is_output;
  uint32_t slot;
  int32_t is_variadic;
  int32_t reserved;
  const char* const* kinds;
  uint64_t kind_count;
  const int32_t* element_types;
  uint64_t element_type_count;
} ephost_kernel_type_rule;

/* KernelDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_kernel_description {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;
  int32_t since_version;
  int32_t until_version; /* included; 0: all later ones */
  const ephost_kernel_type_rule* const* types;
  uint64_t type_count;
} ephost_kernel_description;

/* ParameterDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_parameter_description {
  uint64_t struct_size;
  const char* name;
  const char* description;
  const char* type_name;
  const int32_t* element_types;
  uint64_t element_type_count;
  int32_t is_optional;
  int32_t is_variadic;
} ephost_parameter_description;

/* AttributeDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_attribute_description {
  uint64_t struct_size;
  const char* name;
  const char* description;
  const char* type;
  const char* default_value; /* as text; null: none */
  int32_t is_required;
  int32_t reserved;
} ephost_attribute_description;

/* OperatorDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_operator_description {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;
  const char* description;
  int32_t since_version;
  int32_t is_deprecated;
  int32_t infers_types;
  int32_t reserved;
  const ephost_parameter_description* const* inputs;
  uint64_t input_count;
  const ephost_parameter_description* const* outputs;
  uint64_t output_count;
  const ephost_attribute_description* const* attributes;
  uint64_t attribute_count;
} ephost_operator_description;

/* Report: PluginDescription (<ephost/types/plugin_description.h>). */
typedef struct ephost_plugin_description {
  uint64_t struct_size;
  const ephost_plugin* plugin;
  uint32_t abi_minor;
  int32_t options_open;
  const ephost_option_description* const* options;
  uint64_t option_count;
  ephost_failure device_status;
  const ephost_device* const* devices;
  uint64_t device_count;
  ephost_failure operators_status;
  const ephost_operator_description* const* operators;
  uint64_t operator_count;
  ephost_failure provider_status;
  int32_t compiles;
  int32_t writes_context;
  const ephost_kernel_description* const* kernels;
  uint64_t kernel_count;
  const char* const* extensions;
  uint64_t extension_count;
  const char* isolation;
  const char* const* sandbox_gaps;
  uint64_t sandbox_gap_count;
  /* When a description that was not made by this call was made, in seconds since 1970; 0: now. */
  int64_t recorded_time;
} ephost_plugin_description;

/* InspectOptions (<ephost/types/plugin_description.h>). */
typedef struct ephost_inspect_options {
  uint64_t struct_size;
  const char* isolation;  /* null: "worker" */
  uint64_t call_limit_ns; /* 0: the default */
  int32_t refresh;
  int32_t reserved;
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
} ephost_inspect_options;

/* SelectionCheck (<ephost/types/selection_report.h>). */
enum { EPHOST_SELECTION_FIND = 0, EPHOST_SELECTION_LOAD = 1 };

/* SelectionFinding (<ephost/types/selection_report.h>). */
typedef struct ephost_selection_finding {
  uint64_t struct_size;
  uint32_t line;
  uint32_t column;
  const char* message;
} ephost_selection_finding;

/* SelectedProvider (<ephost/types/selection_report.h>). */
typedef struct ephost_selected_provider {
  uint64_t struct_size;
  const char* name;
  const char* version_range;
  const ephost_key_value* options;
  uint64_t option_count;
  const char* const* devices;
  uint64_t device_count;
  int32_t is_appended;
  int32_t reserved;
  const char* provider;
  const char* version;
  const char* manifest;
  const char* library;
} ephost_selected_provider;

/* SelectionVerdict (<ephost/types/selection_report.h>). */
typedef struct ephost_selection_verdict {
  uint64_t struct_size;
  const char* manifest;
  uint32_t position;
  uint32_t reserved;
  const char* reason;
} ephost_selection_verdict;

/* Report: SelectionReport (<ephost/types/selection_report.h>). */
typedef struct ephost_selection_report {
  uint64_t struct_size;
  const ephost_selected_provider* const* providers;
  uint64_t provider_count;
  const ephost_selection_verdict* const* plugins;
  uint64_t plugin_count;
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
  const ephost_selection_finding* const* findings;
  uint64_t finding_count;
} ephost_selection_report;

typedef struct ephost_plugin_api {
  uint64_t struct_size;
  /* inspect_plugin, of a name or a manifest, in this process. */
  ephost_status* (*inspect)(const ephost_environment* environment, const char* plugin,
                            const ephost_plugin_description** out_report);
  /* guard_against_plugin_exit. */
  void (*guard_against_exit)(int32_t failure_status);
  /* end_process. */
  void (*end_process)(const char* function, int32_t status);
  /* inspect_plugin, of a request, in this process. */
  ephost_status* (*inspect_request)(const ephost_environment* environment,
                                    const ephost_provider_request* request,
                                    const ephost_plugin_description** out_report);
  /* check_selection, with one of EPHOST_SELECTION_*. */
  ephost_status* (*check_selection)(const ephost_environment* environment, const char* file,
                                    int32_t depth, const ephost_selection_report** out_report);
  /* inspect_plugin with InspectOptions, of either `plugin` or `request`; the other one is null.
   * `options` may be null. */
  ephost_status* (*inspect_with_options)(const ephost_environment* environment, const char* plugin,
                                         const ephost_provider_request* request,
                                         const ephost_inspect_options* options,
                                         const ephost_plugin_description** out_report);
} ephost_plugin_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_PLUGIN_H_ */
