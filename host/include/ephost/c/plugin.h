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

/* A least and a greatest value, both included; both null if there are none. Frozen. */
typedef struct ephost_range {
  const char* minimum;
  const char* maximum;
} ephost_range;

/* An option that providers of a plugin take, as its manifest declares it. Values are text. */
typedef struct ephost_option_description {
  uint64_t struct_size;
  const char* name;
  const char* type;  /* "string", "int", "float", "bool" or "enum" */
  const char* scope; /* "session", "run" or "dynamic": when it takes effect */
  const char* default_value;
  ephost_range range;
  const char* const* choices; /* of an "enum" */
  uint64_t choice_count;
  const char* help;
} ephost_option_description;

/* What a kernel takes as one of its inputs, or gives as one of its outputs. */
typedef struct ephost_kernel_type_rule {
  uint64_t struct_size;
  int32_t is_output;
  uint32_t slot;       /* index of the input or output */
  int32_t is_variadic; /* it holds for all that follow too */
  int32_t reserved;
  const char* const* kinds; /* of "tensor", "sequence", "map" and "optional"; none: tensors only */
  uint64_t kind_count;
  const int32_t* element_types;
  uint64_t element_type_count;
} ephost_kernel_type_rule;

/* A kernel for single nodes of one operator. */
typedef struct ephost_kernel_description {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;    /* empty: ai.onnx */
  int32_t since_version; /* of the operator set */
  int32_t until_version; /* included; 0: all later ones */
  const ephost_kernel_type_rule* const* types;
  uint64_t type_count;
} ephost_kernel_description;

/* An input or output of an operator. */
typedef struct ephost_parameter_description {
  uint64_t struct_size;
  const char* name;
  const char* description;
  const char* type_name; /* parameters with one name have one type; may be empty */
  const int32_t* element_types;
  uint64_t element_type_count;
  int32_t is_optional;
  int32_t is_variadic;
} ephost_parameter_description;

typedef struct ephost_attribute_description {
  uint64_t struct_size;
  const char* name;
  const char* description;
  const char* type;          /* as ONNX calls it, e.g. "INTS" */
  const char* default_value; /* as text; null: none */
  int32_t is_required;
  int32_t reserved;
} ephost_attribute_description;

/* A version of an operator that a plugin defines. */
typedef struct ephost_operator_description {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;
  const char* description;
  int32_t since_version;
  int32_t is_deprecated;
  int32_t infers_types; /* it computes types and shapes of its outputs */
  int32_t reserved;
  const ephost_parameter_description* const* inputs;
  uint64_t input_count;
  const ephost_parameter_description* const* outputs;
  uint64_t output_count;
  const ephost_attribute_description* const* attributes;
  uint64_t attribute_count;
} ephost_operator_description;

/* Report: a plugin that was loaded. */
typedef struct ephost_plugin_description {
  uint64_t struct_size;
  const ephost_plugin* plugin;
  uint32_t abi_minor;   /* that host and plugin agreed on; the major is that of `plugin` */
  int32_t options_open; /* it takes undeclared options too, as text */
  const ephost_option_description* const* options;
  uint64_t option_count;
  ephost_failure device_status; /* whether the plugin could list its devices */
  const ephost_device* const* devices;
  uint64_t device_count;
  ephost_failure operators_status; /* whether it could list the operators that it defines */
  const ephost_operator_description* const* operators;
  uint64_t operator_count;
  /* Whether a provider could be created with default options. The rest is empty otherwise. */
  ephost_failure provider_status;
  int32_t compiles;       /* partitions of several nodes */
  int32_t writes_context; /* of what it compiled, for a context model */
  const ephost_kernel_description* const* kernels;
  uint64_t kernel_count;
  /* The optional interfaces of plugin and provider that the host knows, as "ephost.run/1". */
  const char* const* extensions;
  uint64_t extension_count;
  const char* isolation; /* where the plugin ran: "none", "worker" or "sandbox" */
  /* What the kernel could not enforce of a sandbox, one sentence each. */
  const char* const* sandbox_gaps;
  uint64_t sandbox_gap_count;
  /* When a description that was not made by this call was made, in seconds since 1970; 0: now. */
  int64_t recorded_time;
} ephost_plugin_description;

/* How a plugin is inspected. */
typedef struct ephost_inspect_options {
  uint64_t struct_size;
  /* Where the plugin runs: "none" (in this process), "worker" or "sandbox"; null: "worker". The
   * environment variable EPHOST_ISOLATION can only make it stricter. */
  const char* isolation;
  /* How long one call of a plugin in a process of its own may take; 0: 30 seconds. */
  uint64_t call_limit_ns;
  /* Run the plugin even if it is known from another time what it offers. */
  int32_t refresh;
  int32_t reserved;
  /* Configuration entries of a session, such as those of a selection, whose policies hold here too:
   * isolation with its limits for what a worker takes, signatures, quarantine. */
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
} ephost_inspect_options;

/* How far a selection is checked. */
enum {
  EPHOST_SELECTION_FIND = 0, /* by the file and the manifests; no plugin is loaded */
  EPHOST_SELECTION_LOAD = 1  /* also load the plugins, find the devices and create the providers */
};

/* Something that is wrong with a selection file, or has no effect. */
typedef struct ephost_selection_finding {
  uint64_t struct_size;
  uint32_t line; /* both from 1 */
  uint32_t column;
  const char* message; /* what is wrong, and what to do; without the place */
} ephost_selection_finding;

/* A provider of a selection, with the plugin that the selection chooses for it. */
typedef struct ephost_selected_provider {
  uint64_t struct_size;
  const char* name;          /* as given in the file */
  const char* version_range; /* as given in the file; empty: any */
  const ephost_key_value* options;
  uint64_t option_count;
  const char* const* devices;
  uint64_t device_count;
  int32_t is_appended; /* not in the file: the CPU provider, which every session has */
  int32_t reserved;
  const char* provider; /* type name; empty: no plugin is chosen, and so the rest */
  const char* version;
  const char* manifest; /* path */
  const char* library;  /* path */
} ephost_selected_provider;

/* What a selection makes of an installed plugin. */
typedef struct ephost_selection_verdict {
  uint64_t struct_size;
  const char* manifest; /* path */
  uint32_t position;    /* of its provider in the order of priority, from 1; 0: not chosen */
  uint32_t reserved;
  const char* reason; /* why it is chosen, or not */
} ephost_selection_verdict;

/* Report: what a selection file would choose, and what is wrong with it. */
typedef struct ephost_selection_report {
  uint64_t struct_size;
  const ephost_selected_provider* const* providers; /* in order of priority */
  uint64_t provider_count;
  const ephost_selection_verdict* const* plugins; /* in the order of ephost_plugin_list */
  uint64_t plugin_count;
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
  const ephost_selection_finding* const* findings; /* in the order of the places */
  uint64_t finding_count;
} ephost_selection_report;

typedef struct ephost_plugin_api {
  uint64_t struct_size;
  /* Loads a plugin and describes it: a provider's type name, its short name, or the path of a
   * manifest. Of several versions, the highest that works is loaded; a warning in the log names
   * those that do not. NOT_FOUND if no plugin is called so, INVALID_ARGUMENT for a file that is
   * not a usable manifest, EP_FAIL and the like for a library that cannot be loaded. */
  ephost_status* (*inspect)(const ephost_environment* environment, const char* plugin,
                            const ephost_plugin_description** out_report);
  /* From now on a call of exit, quick_exit or pthread_exit by a plugin ends this process with
   * `failure_status`, after a line on standard error that names plugin and call. Child processes
   * have to call this themselves. Cannot be undone. */
  void (*guard_against_exit)(int32_t failure_status);
  /* For programs that export _exit and _Exit, so that plugins call theirs instead of the C
   * library's: both call this. Ends the process at once, with the failure status if a plugin made
   * the call. `function` is the name of the function that was called. */
  void (*end_process)(const char* function, int32_t status);
  /* Describes the plugin that a session with this request would use; its provider is created with
   * the request's options and devices. The name is not a path. Errors are those of `inspect`, and
   * INVALID_ARGUMENT for options or devices that the provider does not have. */
  ephost_status* (*inspect_request)(const ephost_environment* environment,
                                    const ephost_provider_request* request,
                                    const ephost_plugin_description** out_report);
  /* Checks a selection file as far as it can be checked without a model: its format, versions,
   * plugins, options, configuration entries, and with EPHOST_SELECTION_LOAD devices and whether
   * each provider can be created. What is wrong with it is listed in the report and does not fail
   * the call; a file that cannot be read does. */
  ephost_status* (*check_selection)(const ephost_environment* environment, const char* file,
                                    int32_t depth, const ephost_selection_report** out_report);
  /* As `inspect`, or as `inspect_request` if `plugin` is null, but in a process of its own unless
   * the options (null: their defaults) say otherwise, so that a plugin that crashes or hangs is an
   * error, EP_FAIL, that says in which call. What a plugin without a request offers is recorded for
   * the user and used again until its files, the devices of the machine or the environment change,
   * for a day at most. INVALID_ARGUMENT for another isolation, and for a layer. */
  ephost_status* (*inspect_with_options)(const ephost_environment* environment, const char* plugin,
                                         const ephost_provider_request* request,
                                         const ephost_inspect_options* options,
                                         const ephost_plugin_description** out_report);
} ephost_plugin_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_PLUGIN_H_ */
