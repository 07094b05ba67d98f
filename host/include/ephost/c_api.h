/*
 * c_api.h: ephost from C, and from everything that can call C.
 *
 * The library exports one function, ephost_api_v1. It returns a table of tables, and everything
 * else is called through these:
 *
 *     const ephost_api* api = ephost_api_v1();
 *     ephost_environment* environment = NULL;
 *     ephost_status* failure = api->environment->create(NULL, &environment);
 *
 * C++ programs may prefer <ephost/ephost.h>, which wraps these tables in classes and needs nothing
 * else of the library, so that it works with any compiler and standard library. Most functions of
 * ONNX Runtime's C API are here under their names; host/include/ONNXRUNTIME.md sets both beside
 * each other.
 *
 * This header is C11, and valid C++17. It needs nothing but <stddef.h> and <stdint.h>.
 *
 * Rules that apply everywhere
 *
 *   - Functions that can fail return a status: null for success, or an object with a code and a
 *     message that the caller releases. Nothing else fails. No exception leaves a function, and
 *     none may leave a function that the application passes.
 *   - An out_ parameter is set to null or zero before anything else happens. A failed call leaves
 *     nothing to release. Release functions accept null.
 *   - Tables and records start with `struct_size`. Later versions only append fields. The library
 *     sets it in what it hands out; a reader looks at a field only if struct_size covers all of it
 *     (EPHOST_HAS). In what the application hands over, it is set by the application, and what it
 *     does not cover has its default, and a size of 0 is an error (INVALID_ARGUMENT). A record of
 *     zeros but for its struct_size is all defaults: EPHOST_INIT sets one up. Records marked
 *     "frozen" never grow and carry no size.
 *   - Texts are UTF-8 with a terminating zero; paths are bytes as the system has them. Texts in
 *     records of the library are never null; an absent one is empty. Texts that may contain zeros
 *     are passed as an ephost_string.
 *   - What is passed to a function is borrowed: the library copies what it needs longer, except for
 *     the memory of tensors and models, of which that is said. What a function returns with `const`
 *     belongs to the object that it was asked for and lives as long, unless stated otherwise. What
 *     it returns through an out_ parameter belongs to the caller and has a release function.
 *   - A report is a record that the library hands out through an out_ parameter, with everything
 *     that it points to. It is a snapshot that does not change, may be read by any number of
 *     threads, outlives what it is about, and is released as a whole with release_report.
 *   - Any thread may call any function. A handle may be used by several threads at once where its
 *     comment says so, and otherwise by one at a time.
 */
#ifndef EPHOST_C_API_H_
#define EPHOST_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define EPHOST_EXPORT __declspec(dllexport)
#else
#define EPHOST_EXPORT __attribute__((visibility("default")))
#endif

/* The major version is part of the exported symbol's name; this header declares only one. */
#define EPHOST_API_MAJOR 1
/* The minor version that this header describes. A library of a lower one has shorter tables. */
#define EPHOST_API_MINOR 0

/* Whether a record or table behind a pointer has a field. */
#define EPHOST_HAS(pointer, field)                                            \
  ((size_t)((const char*)(&(pointer)->field + 1) - (const char*)(pointer)) <= \
   (size_t)(pointer)->struct_size)

/* Initialises a record with all defaults: ephost_run_options options = EPHOST_INIT(options); */
#define EPHOST_INIT(record) \
  { .struct_size = sizeof(record) }

/* A number that is not known, where a field says that it may not be. */
#define EPHOST_UNKNOWN UINT64_MAX

/* ------------------------------------------------------------------------------------------------
 * Status, texts
 * --------------------------------------------------------------------------------------------- */

/* Result codes, always carried as int32_t. Up to EPHOST_NOT_FOUND, the numbers are ONNX
 * Runtime's. */
enum {
  EPHOST_OK = 0,
  EPHOST_FAIL = 1,
  EPHOST_INVALID_ARGUMENT = 2,
  EPHOST_NO_SUCHFILE = 3,
  EPHOST_NO_MODEL = 4,
  EPHOST_ENGINE_ERROR = 5,
  EPHOST_RUNTIME_EXCEPTION = 6,
  EPHOST_INVALID_PROTOBUF = 7,
  EPHOST_MODEL_LOADED = 8,
  EPHOST_NOT_IMPLEMENTED = 9,
  EPHOST_INVALID_GRAPH = 10,
  EPHOST_EP_FAIL = 11,
  EPHOST_MODEL_LOAD_CANCELED = 12,
  EPHOST_MODEL_REQUIRES_COMPILATION = 13,
  EPHOST_NOT_FOUND = 14,
  EPHOST_OUT_OF_MEMORY = 1000,
  EPHOST_DEVICE_LOST = 1001,
  EPHOST_CANCELLED = 1002,        /* by the application */
  EPHOST_DEADLINE_EXCEEDED = 1003 /* that of a run, or the longest time of a session's creation */
};

/* A failure: what failed, with what, and what to do about it. */
typedef struct ephost_status ephost_status;

/* Bytes of text without a terminator; null if there are none. Frozen. */
typedef struct ephost_string {
  const char* data;
  uint64_t size;
} ephost_string;

/* Frozen. */
typedef struct ephost_key_value {
  const char* key;
  const char* value;
} ephost_key_value;

/* A failure inside of a report; code EPHOST_OK and an empty message where there is none. Frozen. */
typedef struct ephost_failure {
  int32_t code;
  int32_t reserved;
  const char* message;
} ephost_failure;

typedef struct ephost_status_api {
  uint64_t struct_size;
  /* For functions of the application that report a failure to the library, which releases it. Null
   * for EPHOST_OK, and where memory runs out. `message` may be null. */
  ephost_status* (*create)(int32_t code, const char* message);
  void (*release)(ephost_status* status);
  /* EPHOST_OK for null. */
  int32_t (*code)(const ephost_status* status);
  /* Lives as long as the status; empty for null. */
  const char* (*message)(const ephost_status* status);
  /* "INVALID_GRAPH" etc.; "UNKNOWN_CODE" for a number that is not a code. */
  const char* (*code_name)(int32_t code);
} ephost_status_api;

/* ------------------------------------------------------------------------------------------------
 * Values: tensors, sequences, maps
 * --------------------------------------------------------------------------------------------- */

/* Element types, numbered as in ONNX's TensorProto.DataType. Always carried as int32_t. */
enum {
  EPHOST_ELEMENT_UNDEFINED = 0,
  EPHOST_ELEMENT_FLOAT = 1,
  EPHOST_ELEMENT_UINT8 = 2,
  EPHOST_ELEMENT_INT8 = 3,
  EPHOST_ELEMENT_UINT16 = 4,
  EPHOST_ELEMENT_INT16 = 5,
  EPHOST_ELEMENT_INT32 = 6,
  EPHOST_ELEMENT_INT64 = 7,
  EPHOST_ELEMENT_STRING = 8,
  EPHOST_ELEMENT_BOOL = 9,
  EPHOST_ELEMENT_FLOAT16 = 10,
  EPHOST_ELEMENT_DOUBLE = 11,
  EPHOST_ELEMENT_UINT32 = 12,
  EPHOST_ELEMENT_UINT64 = 13,
  EPHOST_ELEMENT_COMPLEX64 = 14,
  EPHOST_ELEMENT_COMPLEX128 = 15,
  EPHOST_ELEMENT_BFLOAT16 = 16,
  EPHOST_ELEMENT_FLOAT8E4M3FN = 17,
  EPHOST_ELEMENT_FLOAT8E4M3FNUZ = 18,
  EPHOST_ELEMENT_FLOAT8E5M2 = 19,
  EPHOST_ELEMENT_FLOAT8E5M2FNUZ = 20,
  EPHOST_ELEMENT_UINT4 = 21,
  EPHOST_ELEMENT_INT4 = 22,
  EPHOST_ELEMENT_FLOAT4E2M1 = 23,
  EPHOST_ELEMENT_FLOAT8E8M0 = 24,
  EPHOST_ELEMENT_UINT2 = 25,
  EPHOST_ELEMENT_INT2 = 26
};

/* Kinds of values. Always carried as int32_t. */
enum {
  EPHOST_KIND_NONE = 0,   /* no value; an optional without content */
  EPHOST_KIND_TENSOR = 1, /* dense, row-major */
  EPHOST_KIND_SEQUENCE = 2,
  EPHOST_KIND_MAP = 3,
  EPHOST_KIND_SPARSE_TENSOR = 4 /* as an input of a run; the model gets its dense form */
};

/* Forms of sparse tensors, numbered as ONNX Runtime's OrtSparseFormat. Always carried as int32_t.
 */
enum { EPHOST_SPARSE_COO = 1, EPHOST_SPARSE_CSR = 2, EPHOST_SPARSE_BLOCK = 4 };

/* Kinds of memory of one device, numbered as ONNX Runtime's OrtMemType. Always carried as int32_t.
 */
enum {
  EPHOST_MEMORY_CPU_INPUT = -2,  /* host memory that the device reads inputs from */
  EPHOST_MEMORY_CPU_OUTPUT = -1, /* host memory that the device writes outputs to */
  EPHOST_MEMORY_DEFAULT = 0      /* the device's own memory */
};

/* Which memory a value lies in. Inputs and outputs of runs always lie in host memory: name "Cpu",
 * device type "cpu", number 0. */
typedef struct ephost_memory_info {
  uint64_t struct_size;
  const char* name;        /* of the allocator */
  const char* device_type; /* as ephost_device's `type` */
  int32_t device_id;       /* a number from 0 among the devices of that type */
  int32_t memory_type;
} ephost_memory_info;

/*
 * What goes into a run or comes out of it. A handle is a reference to a value: values are counted,
 * and sequences, maps and bindings share those that they were made of. Any number of threads may
 * use a value as long as none of them writes to its memory.
 */
typedef struct ephost_value ephost_value;

/* What a value is. Its pointers live as long as the value. */
typedef struct ephost_value_info {
  uint64_t struct_size;
  int32_t kind;
  int32_t element_type; /* of a tensor, of the tensors in a sequence, of a map's keys */
  const int64_t* shape; /* of a tensor: `rank` extents */
  uint64_t rank;
  uint64_t element_count; /* of a tensor; otherwise 0 */
  /* The elements of a tensor; those of 4 and 2 bits are packed, the first one into the lowest bits
   * of a byte. Null for strings, for anything else than a tensor, and perhaps for no elements. */
  void* data;
  uint64_t byte_size;
  uint64_t part_count; /* of a sequence; 2 for a map, keys and values; otherwise 0 */
} ephost_value_info;

typedef struct ephost_value_api {
  uint64_t struct_size;
  /* A tensor of its own memory, aligned to 64 bytes and zeroed; of empty strings for that type.
   * INVALID_ARGUMENT for a negative extent, a size that overflows or an undefined type;
   * OUT_OF_MEMORY where memory runs out. */
  ephost_status* (*create_tensor)(int32_t element_type, const int64_t* shape, uint64_t rank,
                                  ephost_value** out_value);
  /* A tensor over memory of the application's, which must hold exactly the bytes of the shape
   * (INVALID_ARGUMENT otherwise). Where its type does not admit elements at this address, what
   * reads it makes a copy first. `release` is called with `context` when the tensor is not used any
   * more, on the thread that gave it up last; without it, the memory must outlive the tensor
   * and everything that was made of it. After a failure it is not called. */
  ephost_status* (*create_tensor_with_data)(int32_t element_type, const int64_t* shape,
                                            uint64_t rank, void* data, uint64_t byte_size,
                                            void (*release)(void* context), void* context,
                                            ephost_value** out_value);
  /* A tensor of copies of the strings; INVALID_ARGUMENT unless `count` is what the shape says. */
  ephost_status* (*create_string_tensor)(const int64_t* shape, uint64_t rank,
                                         const ephost_string* strings, uint64_t count,
                                         ephost_value** out_value);
  /* A sequence of values of one kind and element type (INVALID_ARGUMENT otherwise), which it
   * shares. `element_type` is that of the tensors in it; it matters only where there are none. */
  ephost_status* (*create_sequence)(const ephost_value* const* parts, uint64_t count,
                                    int32_t element_type, ephost_value** out_value);
  /* `keys`: a tensor of rank 1, of strings or integers. `values`: a tensor of rank 1 or a sequence,
   * as many as keys. INVALID_ARGUMENT otherwise. Both are shared. */
  ephost_status* (*create_map)(const ephost_value* keys, const ephost_value* values,
                               ephost_value** out_value);
  /* A sparse tensor; `values` is shared, the rest is copied. INVALID_ARGUMENT if it is not valid.
   * Elements that are not stated are zero, false or empty; of those stated twice, the last counts.
   * `shape` is that of the dense form, with two extents unless the form is COO. `values` is a
   * tensor of one dimension, of strings or elements of whole bytes; with BLOCK of three: blocks,
   * and the extents of a block, which divide those of the shape. `indices` are with COO the place
   * of each value in row-major order, or its index in each dimension; with CSR the column of each
   * value; with BLOCK row and column of each block, counted in blocks. `outer_indices` are for CSR
   * only: for each row the number of values before it, and the number of all. */
  ephost_status* (*create_sparse_tensor)(int32_t form, const int64_t* shape, uint64_t rank,
                                         const ephost_value* values, const int64_t* indices,
                                         uint64_t index_count, const int64_t* outer_indices,
                                         uint64_t outer_index_count, ephost_value** out_value);
  /* The dense form of a sparse tensor; any other value as it is. INVALID_ARGUMENT if it needs more
   * than `max_bytes`; 0: 1 GiB. */
  ephost_status* (*to_dense)(const ephost_value* value, uint64_t max_bytes,
                             ephost_value** out_value);
  /* A value of kind NONE. */
  ephost_status* (*create_none)(ephost_value** out_value);

  /* A further reference to the same value, to be released as well. Null for null. */
  ephost_value* (*retain)(const ephost_value* value);
  void (*release)(ephost_value* value);

  /* Fills in what `out_info->struct_size`, which the caller sets, has room for. Lowers it to what
   * this library knows, so that EPHOST_HAS says what was filled in. */
  void (*get_info)(const ephost_value* value, ephost_value_info* out_info);
  /* Writes the strings of a tensor of them; `count` must be its element_count. They live as long as
   * the value. INVALID_ARGUMENT for any other value. */
  ephost_status* (*get_strings)(const ephost_value* value, ephost_string* out_strings,
                                uint64_t count);
  /* A part of a sequence or map. INVALID_ARGUMENT if it has none of that index. */
  ephost_status* (*get_part)(const ephost_value* value, uint64_t index, ephost_value** out_part);

  /* Which memory the value lies in. The record lives as long as the library. */
  const ephost_memory_info* (*memory_info)(const ephost_value* value);

  /* "float", "int64", "bfloat16" etc.; "undefined" for anything else. */
  const char* (*element_type_name)(int32_t element_type);
  /* Size of an element in bits; 0 for undefined and string. */
  uint32_t (*element_bits)(int32_t element_type);
  /* Bytes of a dense tensor; EPHOST_UNKNOWN for strings, negative extents and overflow. */
  uint64_t (*tensor_bytes)(int32_t element_type, const int64_t* shape, uint64_t rank);

  /* Reads a value and its name from a file of one protobuf message, as the ONNX backend tests keep
   * them. The message does not tell everything about its value: `kind`, `is_optional` and
   * `element_type` (of the tensors in an empty sequence) are those of the model's input or output.
   * `out_name` receives a text that is released with release_text. Besides the errors of reading a
   * file: INVALID_PROTOBUF for another message, INVALID_GRAPH for an invalid value,
   * NOT_IMPLEMENTED for sparse tensors. */
  ephost_status* (*read_file)(const char* path, int32_t kind, int32_t is_optional,
                              int32_t element_type, char** out_name, ephost_value** out_value);
  /* Replaces a file atomically by one of a value and its name. FAIL if the value exceeds protobuf's
   * limit of 2 GiB. */
  ephost_status* (*write_file)(const char* path, const char* name, const ephost_value* value,
                               int32_t is_optional);
} ephost_value_api;

/* ------------------------------------------------------------------------------------------------
 * The environment: plugins, devices, logs
 * --------------------------------------------------------------------------------------------- */

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
   * in the process the shortest time counts for all. */
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

/* ------------------------------------------------------------------------------------------------
 * Session options
 * --------------------------------------------------------------------------------------------- */

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
   * system. They are compared with the checksums that the model states, as ever. Called by the
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

/* ------------------------------------------------------------------------------------------------
 * Sessions
 * --------------------------------------------------------------------------------------------- */

/* A model, ready to run. Any number of threads may use it at once; it is released when none does.
 */
typedef struct ephost_session ephost_session;

/* Inputs and outputs that stay bound from run to run: a run over static shapes then allocates
 * nothing. One thread at a time. It keeps its session alive. */
typedef struct ephost_binding ephost_binding;

/* An input or output of a model. */
typedef struct ephost_value_description {
  uint64_t struct_size;
  const char* name;
  const char* type;     /* e.g. "float[batch,3]", "optional(seq(int64[?]))" */
  int32_t kind;         /* of the value, or of an optional's content */
  int32_t element_type; /* of a tensor, of the tensors in a sequence, of a map's keys */
  int32_t is_optional;  /* it may be of kind NONE */
  int32_t has_default;  /* of an input: the model has an initializer for it */
  int32_t has_shape;    /* of a tensor */
  int32_t reserved;
  const int64_t* shape; /* -1 where the extent is open */
  uint64_t rank;
  const char* const* dim_names; /* `rank` symbols of open extents, or empty */
} ephost_value_description;

/* How long a phase of the creation took. */
typedef struct ephost_phase {
  uint64_t struct_size;
  const char* name;
  double seconds;
} ephost_phase;

/* Nodes that a provider failed to compile, or to load, and that the next providers got. The entry
 * session.disable_ep_fallback makes such a failure an error instead. */
typedef struct ephost_fallback {
  uint64_t struct_size;
  const char* provider;
  const char* partition; /* its name; empty: the kernel of a single node */
  uint64_t nodes;
  ephost_failure reason;
} ephost_fallback;

enum {
  EPHOST_CACHE_OFF = 0,     /* no store is configured */
  EPHOST_CACHE_HIT = 1,     /* nothing was compiled */
  EPHOST_CACHE_MISS = 2,    /* compiled what no older entry had, and stored it */
  EPHOST_CACHE_UNCACHED = 3 /* compiled or loaded without the store */
};

/* What the cache store (entry ep.cache_dir) did for a session or compilation. */
typedef struct ephost_cache_use {
  uint64_t struct_size;
  int32_t outcome;
  int32_t reserved;
  const char* key;          /* of the entry; empty if it was not computed */
  uint64_t reused_contexts; /* partitions that older entries had; 0 for a hit */
  const char* reason;       /* why uncached, or why an existing entry was not used; else empty */
} ephost_cache_use;

/* A provider of a session, of a specialisation or of a compilation, and the library of its plugin.
 */
typedef struct ephost_session_provider {
  uint64_t struct_size;
  const char* name;
  const char* library;
  /* The provider's nodes of the model as it is compiled, in all graphs that the host runs, whether
   * in partitions or alone. A session does not count its specialisations, which have counts of
   * their own; a compilation counts all models that it writes. */
  uint64_t node_count;
  /* Nodes of the model with open shapes that it would take, or run better, if the extents of inputs
   * were fixed. */
  uint64_t wished_node_count;
} ephost_session_provider;

/* A block of memory that was planned before the first run. Values of unknown size are not in it. */
typedef struct ephost_planned_memory {
  uint64_t struct_size;
  uint32_t location; /* 0: host memory; other numbers are memories of devices */
  uint32_t reserved;
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes; /* no plan of the same steps needs less */
} ephost_planned_memory;

/* The metadata of a model; texts are empty where it has none. */
typedef struct ephost_model_metadata {
  uint64_t struct_size;
  const char* producer_name;
  const char* graph_name;
  const char* domain;
  const char* description;                     /* of the model */
  const char* graph_description;               /* of its main graph */
  int64_t version;                             /* 0 where the model has none */
  const ephost_key_value* custom_metadata_map; /* in the model's order; each key once */
  uint64_t custom_metadata_count;
} ephost_model_metadata;

/* What there is to know about a session. It lives as long as the session. */
typedef struct ephost_session_info {
  uint64_t struct_size;
  const ephost_value_description* const* inputs; /* in the model's order */
  uint64_t input_count;
  const ephost_value_description* const* outputs;
  uint64_t output_count;
  const ephost_phase* const* phases; /* what creation did, in order */
  uint64_t phase_count;
  const ephost_fallback* const* fallbacks; /* in the order of the attempts */
  uint64_t fallback_count;
  const ephost_cache_use* cache_use;
  /* In priority order, those of a device before the CPU provider. */
  const ephost_session_provider* const* providers;
  uint64_t provider_count;
  /* The blocks of the main graph; none where all sizes are known at run time only. */
  const ephost_planned_memory* const* planned_memory;
  uint64_t planned_memory_count;
  /* The inputs with a default, which are among `inputs` too: initializers that are also listed as
   * inputs, from IR version 4 on. A run may give a value for one of them. */
  const ephost_value_description* const* overridable_initializers;
  uint64_t overridable_initializer_count;
  /* A context model has those of the model that it was made of, except for the producer. */
  const ephost_model_metadata* model_metadata;
  /* Which memory each input is expected in, and each output comes out in. */
  const ephost_memory_info* const* input_memory;
  const ephost_memory_info* const* output_memory;
  uint64_t host_node_count; /* nodes that the host runs itself, such as control flow */
} ephost_session_info;

enum {
  EPHOST_SPECIALIZATION_READY = 0, /* runs with these extents use it */
  EPHOST_SPECIALIZATION_MAKING =
      1,                           /* being made; runs use the model with open extents until then */
  EPHOST_SPECIALIZATION_FAILED = 2 /* there is none, for `reason` */
};

/* An extent of a model's inputs that is fixed. */
typedef struct ephost_fixed_extent {
  uint64_t struct_size;
  const char* name; /* of the dimension, or its place in an input, e.g. "x[0]" */
  int64_t extent;
} ephost_fixed_extent;

/* What a session has specialised its model for, because a provider wishes for fixed extents. */
typedef struct ephost_specialization {
  uint64_t struct_size;
  const ephost_fixed_extent* const* extents;
  uint64_t extent_count;
  int32_t state; /* EPHOST_SPECIALIZATION_* */
  uint32_t reserved;
  uint64_t runs;                                   /* that it has served */
  double seconds;                                  /* that making it took */
  const char* reason;                              /* of a failure; empty otherwise */
  const ephost_session_provider* const* providers; /* of one that is ready */
  uint64_t provider_count;
} ephost_specialization;

/* Report. */
typedef struct ephost_specialization_list {
  uint64_t struct_size;
  const ephost_specialization* const* specializations;
  uint64_t specialization_count;
} ephost_specialization_list;

/* What one run is told. */
typedef struct ephost_run_options {
  uint64_t struct_size;
  /* A byte that another thread sets to 1 to end the run with CANCELLED, as
   * set_load_cancellation_flag describes it. Null: none. */
  const void* cancelled;
  /* Nanoseconds from the call on, after which the run ends with DEADLINE_EXCEEDED; 0: no limit.
   * Providers are told about it, and those that check for a cancellation while they compute check
   * it too. */
  uint64_t timeout_ns;
  /* Names the run in what providers log and in the session's profile; may be null. */
  const char* tag;
  /* Options of providers with the scope `run`, as "ep.PROVIDER.OPTION", where PROVIDER is a
   * provider of the session by its type name or short name. An option that is not given has its
   * default in this run, whatever it was before. */
  const ephost_key_value* config_entries;
  uint64_t config_entry_count;
  /* 1 more than the severity (EPHOST_LOG_*) below which messages of the run are dropped; 0: as the
   * session says. */
  int32_t log_severity_level;
  int32_t reserved;
} ephost_run_options;

/* Called when a run is over: `status`, which the function releases, is null for success, and then
 * `outputs` are the values that were asked for, which the function releases too. Otherwise there
 * are none. It may start further runs, but should not wait for others. */
typedef void (*ephost_run_async_callback)(void* context, ephost_status* status,
                                          ephost_value* const* outputs, uint64_t output_count);

typedef struct ephost_session_api {
  uint64_t struct_size;
  /* From a file. `options` may be null here and everywhere else. */
  ephost_status* (*create)(const ephost_environment* environment, const char* model_path,
                           const ephost_session_options* options, ephost_session** out_session);
  /* From a model in memory, which stays the application's and must outlive the session. */
  ephost_status* (*create_from_array)(const ephost_environment* environment, const void* model,
                                      uint64_t size, const ephost_session_options* options,
                                      ephost_session** out_session);
  void (*release)(ephost_session* session);

  const ephost_session_info* (*info)(const ephost_session* session);

  /* Runs the model. Every input without a default must be given, by name (INVALID_ARGUMENT
   * otherwise, also for a wrong type or shape). Writes the outputs of these names to `out_values`,
   * which the caller releases. Without names (`output_names` is null), `output_count` must be that
   * of the model's outputs, and they come in its order. INVALID_ARGUMENT for options that no
   * provider of the session has for a run. `options` may be null. */
  ephost_status* (*run)(ephost_session* session, const ephost_run_options* options,
                        const char* const* input_names, const ephost_value* const* inputs,
                        uint64_t input_count, const char* const* output_names,
                        uint64_t output_count, ephost_value** out_values);

  /* Returns at once and runs the model on a thread of the environment's. Everything that `run` says
   * applies, except that without names all outputs come. `callback` is called exactly once if this
   * succeeds, by that thread or one that releases the session. Names and options are copied, values
   * retained; borrowed memory and the flag of `options` must last until the callback; a timeout
   * counts from now on. As many runs execute at a time as there are processors; others wait for
   * their
   * turn, in order. Releasing the session waits until its runs and their callbacks are over. */
  ephost_status* (*run_async)(ephost_session* session, const ephost_run_options* options,
                              const char* const* input_names, const ephost_value* const* inputs,
                              uint64_t input_count, const char* const* output_names,
                              uint64_t output_count, ephost_run_async_callback callback,
                              void* context);

  ephost_status* (*create_binding)(ephost_session* session, ephost_binding** out_binding);
  void (*release_binding)(ephost_binding* binding);
  /* NOT_FOUND for an unknown name; INVALID_ARGUMENT for another type or shape than the model's. */
  ephost_status* (*bind_input)(ephost_binding* binding, const char* name,
                               const ephost_value* value);
  /* Binds memory of the caller's for an output. An output that isn't bound gets memory at the first
   * run, which later runs overwrite while its shape stays and no input lies in it. A run never
   * writes what it reads: an output in memory of an input, or at an address that its type does not
   * admit, is copied there in the end. A run fails with INVALID_ARGUMENT where two outputs are
   * bound to memory in common. */
  ephost_status* (*bind_output)(ephost_binding* binding, const char* name,
                                const ephost_value* value);
  /* Lets the host allocate an output, in that memory, where it was bound to the caller's before;
   * the next run makes a new value. INVALID_ARGUMENT for memory that is not the host's. */
  ephost_status* (*bind_output_to_memory)(ephost_binding* binding, const char* name,
                                          const ephost_memory_info* memory);
  /* Forget what was bound. Values that get_output gave stay. */
  void (*clear_bound_inputs)(ephost_binding* binding);
  void (*clear_bound_outputs)(ephost_binding* binding);
  ephost_status* (*run_with_binding)(ephost_binding* binding, const ephost_run_options* options);
  /* An output of the last run by its index in the model; of kind NONE before the first run. */
  ephost_status* (*get_output)(const ephost_binding* binding, uint64_t index,
                               ephost_value** out_value);

  /* Changes options of providers with the scope `dynamic` for runs that begin afterwards; keys as
   * in ephost_run_options. INVALID_ARGUMENT for an option that the provider does not declare with
   * this scope, or a value that it does not admit. All are changed or, after a failure, none. May
   * be called during runs.
   * Sessions that share a provider share its options. */
  ephost_status* (*set_ep_dynamic_options)(ephost_session* session, const ephost_key_value* options,
                                           uint64_t option_count);

  /* Ends the recording that enable_profiling began and writes it as a Chrome trace. `out_file`
   * receives its path, to be released with release_text. Not during runs. INVALID_ARGUMENT if
   * the session does not record, or no longer. A session that is released while it records writes
   * its file too. */
  ephost_status* (*end_profiling)(ephost_session* session, char** out_file);

  /* Whether the application may write a file without replacing one that the session was created
   * from or that its options state as an input or output, whatever path or link leads there.
   * INVALID_ARGUMENT otherwise. `role` is what the message calls the file. */
  ephost_status* (*check_output_file)(const ephost_session* session, const char* file,
                                      const char* role);

  /* What the model was specialised for so far (session.shapes.specialize). Any thread, also during
   * runs. */
  ephost_status* (*specializations)(const ephost_session* session,
                                    const ephost_specialization_list** out_list);

  /* Gives back what the session keeps only so that later runs begin faster: the memory of runs,
   * with what providers have for each of them, and the plans for shapes that came. The next run
   * makes what it needs again. Constants, compiled partitions and specialisations stay. Any thread,
   * also during runs; what they use is kept.
   * */
  ephost_status* (*shrink)(ephost_session* session);
} ephost_session_api;

/* ------------------------------------------------------------------------------------------------
 * Compilation: from a model to a context model
 * --------------------------------------------------------------------------------------------- */

/* Writes the next bytes of the model to `buffer`, which has room for `capacity` of them, and their
 * number to `out_size`; 0 at the end. */
typedef ephost_status* (*ephost_read)(void* context, void* buffer, uint64_t capacity,
                                      uint64_t* out_size);
/* Receives the next bytes. */
typedef ephost_status* (*ephost_write)(void* context, const void* bytes, uint64_t size);
/* Receives the whole content of a binary. */
typedef ephost_status* (*ephost_write_context_data)(void* context, const char* file_name,
                                                    const void* bytes, uint64_t size);

/* An initializer of the model that is written. Everything is borrowed for the call. */
typedef struct ephost_initializer {
  uint64_t struct_size;
  const char* name;
  int32_t element_type;
  int32_t is_external; /* the source model has the data in a file beside it */
  const int64_t* shape;
  uint64_t rank;
  const void* data;
  uint64_t byte_size;
  /* Where an external one lies in the source model: the file as given in the model. */
  const char* file;
  uint64_t file_offset;
  uint64_t file_byte_size;
} ephost_initializer;

/* Where the data of an initializer goes. Always carried as int32_t. */
enum {
  EPHOST_INITIALIZER_EMBEDDED = 0,
  EPHOST_INITIALIZER_EXTERNAL_FILE = 1, /* the compilation's file for initializers */
  /* The data stays in its file, which must be below the folder of the written model, and which that
   * then depends on. Only for external ones. */
  EPHOST_INITIALIZER_ORIGINAL = 2
};
typedef ephost_status* (*ephost_place_initializer)(void* context,
                                                   const ephost_initializer* initializer,
                                                   int32_t* out_location);

/* Input and output of a compilation. All functions are called on the thread of `compile` with
 * `context`. What they fail with, `compile` returns unchanged, after it has restored all files. */
typedef struct ephost_compilation {
  uint64_t struct_size;
  void* context;

  /* The model: exactly one of a path, an array and a function. The external data of a model in
   * memory is in the folder `session.model_external_initializers_file_folder_path`. */
  const char* input_model_path;
  const void* input_model;
  uint64_t input_model_size;
  ephost_read input_model_read_func;

  /* Where the context model goes: at most one of these. If none is set: to `ep.context_file_path`,
   * or to `<model>_ctx.onnx` beside the model. */
  const char* output_model_path;
  /* Receives the model in pieces of 64 KiB, the last one shorter, once all files are written. */
  ephost_write output_model_write_func;

  /* Payloads inside the model (EPHOST_YES) or in `[model]_[ep].bin` (EPHOST_NO). 0: as
   * `ep.context_embed_mode` says. */
  int32_t ep_context_embed_mode;
  int32_t reserved;
  /* Folder and [model] of these binaries for a model that does not go to a path. Null: taken from
   * `ep.context_file_path`, without which no binaries can be written. */
  const char* ep_context_binary_folder;
  const char* ep_context_binary_model_name;
  /* Receives these binaries instead of the file system, before the model is written. The model has
   * the checksums of what the function receives. */
  ephost_write_context_data ep_context_data_write_func;

  /* Name of a file beside the model for the remaining initializers. Null:
   * `ep.context_model_external_initializers_file_name`; if that is not set either, they are
   * embedded. */
  const char* output_model_external_initializers_file;
  /* Initializers with fewer bytes than this are embedded in any case. */
  uint64_t external_initializers_size_threshold;
  /* Alignment in bytes of initializers of 1 MiB or more in that file, so that they can be mapped: a
   * power of two, at most 1 MiB. 0: 4096. */
  uint64_t external_initializers_alignment;
  /* Places each initializer that has data, instead of file name and threshold. */
  ephost_place_initializer output_model_get_initializer_location_func;

  /* The id of one of the environment's targets: the provider that has it compiles for it instead of
   * the devices of this machine. Null: for this machine. */
  const char* target;

  /* Flags. */
  int32_t check_deterministic; /* compile twice; EP_FAIL where a provider broke its promise */
  int32_t error_if_no_nodes_compiled; /* FAIL; otherwise the plain model is written */
  int32_t error_if_output_exists;     /* FAIL; otherwise a context model is replaced */
  /* Replace existing files whatever they contain, except those that the model is read from. */
  int32_t force_overwrite;
} ephost_compilation;

/* For fields that are neither yes nor no by default. */
enum { EPHOST_UNSET = 0, EPHOST_NO = 1, EPHOST_YES = 2 };

typedef struct ephost_compiled_file {
  uint64_t struct_size;
  const char* path;
  uint64_t bytes;
} ephost_compiled_file;

typedef struct ephost_compiled_partition {
  uint64_t struct_size;
  const char* name;
  const char* provider;
  uint64_t nodes;
} ephost_compiled_partition;

/* Report of a compilation. */
typedef struct ephost_compile_report {
  uint64_t struct_size;
  const char* output_path;                  /* empty if the model did not go to a path */
  const ephost_compiled_file* const* files; /* in the order of publication, the model last */
  uint64_t file_count;
  const ephost_compiled_partition* const* partitions; /* replaced by EPContext nodes */
  uint64_t partition_count;
  const ephost_fallback* const* fallbacks;
  uint64_t fallback_count;
  uint64_t remaining_nodes; /* will be run by kernels */
  /* With check_deterministic: the providers that promise to write the same bytes, and did. */
  const char* const* deterministic_providers;
  uint64_t deterministic_provider_count;
  const ephost_cache_use* cache_use;               /* hit: nothing had to be compiled */
  const ephost_session_provider* const* providers; /* in priority order */
  uint64_t provider_count;
} ephost_compile_report;

/* ------------------------------------------------------------------------------------------------
 * Reports on models: partitions, plans, contexts
 * --------------------------------------------------------------------------------------------- */

typedef struct ephost_partitioned_node {
  uint64_t struct_size;
  uint32_t id; /* its index among the nodes of its graph */
  int32_t since_version;
  const char* name;         /* may be empty */
  const char* op;           /* "Conv", or "com.microsoft.FusedConv" outside of ai.onnx */
  const char* description;  /* its name in messages */
  const char* provider;     /* empty: no provider takes it */
  const char* partition;    /* empty: a kernel for the single node */
  const uint32_t* refusals; /* indices of refused claims, ascending */
  uint64_t refusal_count;
  const uint32_t* successors; /* ids of the nodes that read its outputs, ascending */
  uint64_t successor_count;
} ephost_partitioned_node;

typedef struct ephost_partition {
  uint64_t struct_size;
  const char* name;
  const char* provider;
  const uint32_t* nodes; /* ids, ascending */
  uint64_t node_count;
  const char* const* inputs;
  uint64_t input_count;
  const char* const* outputs;
  uint64_t output_count;
} ephost_partition;

typedef struct ephost_partitioning_summary {
  uint64_t struct_size;
  const char* provider;
  uint64_t kernel_nodes; /* nodes taken one by one */
  uint64_t fused_nodes;  /* nodes in partitions */
  uint64_t partitions;
  uint64_t refused_claims;
} ephost_partitioning_summary;

/* Nodes that a provider claimed and did not get. */
typedef struct ephost_refused_claim {
  uint64_t struct_size;
  const char* provider;
  const uint32_t* nodes; /* ids, ascending */
  uint64_t node_count;
  int32_t fused; /* as one partition */
  int32_t reserved;
  const char* reason;
} ephost_refused_claim;

/* A node that a provider did not claim, with the provider's reason. */
typedef struct ephost_declined_node {
  uint64_t struct_size;
  const char* provider;
  uint32_t node;
  uint32_t reserved;
  const char* reason;
} ephost_declined_node;

/* The model's own graph, or a body of a control-flow operator that the host runs. */
typedef struct ephost_graph_partitioning {
  uint64_t struct_size;
  const char* path; /* of a body; empty for the model's own graph */
  const char* name;
  const ephost_partitioning_summary* const* providers; /* in priority order */
  uint64_t provider_count;
  const ephost_partitioned_node* const* nodes;
  uint64_t node_count;
  const ephost_partition* const* partitions;
  uint64_t partition_count;
  const ephost_refused_claim* const* refused_claims; /* in the order of the decisions */
  uint64_t refused_claim_count;
  const ephost_declined_node* const* declined_nodes; /* by provider */
  uint64_t declined_node_count;
  uint64_t unassigned_nodes;
} ephost_graph_partitioning;

/* A call of a function of the model that no provider takes, and that its body replaced. */
typedef struct ephost_inlined_function {
  uint64_t struct_size;
  const char* path; /* of the graph that the call was in; empty: the model's own */
  const char* call; /* its name in messages */
  const char* domain;
  uint64_t nodes; /* of the body */
} ephost_inlined_function;

/* An operator of the model that a plugin defines. */
typedef struct ephost_plugin_operator {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;
  int32_t since_version; /* of the definition */
  int32_t reserved;
  const char* provider; /* whose plugin defines it */
  uint64_t nodes;       /* in all graphs */
} ephost_plugin_operator;

/* Report: how a session would divide a model among its providers, and why. */
typedef struct ephost_model_partitioning {
  uint64_t struct_size;
  const ephost_graph_partitioning* const* graphs; /* the model's own first, bodies before theirs */
  uint64_t graph_count;
  int32_t is_context_model;
  int32_t reserved;
  uint64_t folded_nodes;
  uint64_t removed_identities;
  const ephost_inlined_function* const* inlined;
  uint64_t inlined_count;
  const ephost_plugin_operator* const* plugin_operators; /* by domain, type and version */
  uint64_t plugin_operator_count;
  const char* const* notes; /* of reading and optimizing the model */
  uint64_t note_count;
  ephost_failure coverage; /* EPHOST_OK if every node has a provider; else the session's error */
} ephost_model_partitioning;

/* How far partition_model goes. */
enum {
  EPHOST_PARTITION_CLAIMS = 0, /* ask the providers what they take */
  /* Compile too, so that nodes which a provider fails to compile go to the next one. */
  EPHOST_PARTITION_COMPILATION = 1
};

typedef struct ephost_planned_step {
  uint64_t struct_size;
  uint32_t provider;         /* index into the plan's providers */
  uint32_t node;             /* id of the node; of a partition its first node */
  const char* name;          /* of the node, may be empty; of a partition "partition NAME" */
  const char* op;            /* e.g. "Conv"; of a partition "3 nodes" */
  const char* description;   /* its name in messages */
  const char* partition;     /* empty: a kernel for a single node */
  const char* const* inputs; /* empty names: optional ones that are left out */
  uint64_t input_count;
  const char* const* outputs;
  uint64_t output_count;
  uint64_t workspace_bytes; /* scratch memory while it runs */
  /* Constants that it reads: of a partition, those that enter it. Counted at each of their readers.
   */
  uint64_t constant_bytes;
  /* Values that only the nodes of a partition see, and which the provider places as it likes; as
   * far as their sizes are known, their bytes together, and the most that are alive at a time when
   * the nodes run one by one in the model's order. 0 for a kernel. */
  uint64_t inner_values;
  uint64_t inner_bytes;
  uint64_t inner_live_bytes;
} ephost_planned_step;

typedef struct ephost_planned_value {
  uint64_t struct_size;
  const char* name;
  const char* type;             /* e.g. "float[1,3,?]" */
  const char* kind;             /* how it gets its memory, e.g. "Allocate", "Reuse" */
  const char* buffer;           /* the value whose buffer it lies in, which may be itself */
  uint32_t location;            /* 0: host memory; others as in ephost_planned_block */
  uint32_t first_step;          /* the first step that needs it */
  uint32_t last_step;           /* the last one, inclusive */
  uint32_t use_count;           /* reads by steps, and one more for an output of the graph */
  int32_t owns_buffer;          /* `buffer` is the value itself */
  int32_t is_allocated_by_runs; /* it needs memory of its own, which each run allocates */
  uint64_t bytes;               /* EPHOST_UNKNOWN before the run */
  uint64_t buffer_bytes;        /* likewise */
  uint64_t offset;              /* in its location's block; EPHOST_UNKNOWN: it is not in one */
} ephost_planned_value;

/* A buffer of one or more values, or the workspace of a step, in the block of a location. */
typedef struct ephost_planned_buffer {
  uint64_t struct_size;
  uint32_t location;
  uint32_t first_step;
  uint32_t last_step; /* inclusive */
  int32_t is_workspace;
  uint64_t bytes;
  uint64_t offset;
} ephost_planned_buffer;

typedef struct ephost_planned_block {
  uint64_t struct_size;
  uint32_t location;
  int32_t proved_optimal;
  const char* memory; /* "host", or the name of a device's memory */
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes; /* no plan of the same steps needs less */
  uint64_t alignment;         /* of the offsets; sizes count rounded up to it */
} ephost_planned_block;

/* The model's own graph, or a body of a control-flow operator that the host runs. */
typedef struct ephost_graph_plan {
  uint64_t struct_size;
  const char* path; /* of a body; empty for the model's own graph */
  const char* name;
  const char* const* providers; /* in priority order */
  uint64_t provider_count;
  const ephost_planned_step* const* steps; /* in the order in which they run */
  uint64_t step_count;
  const ephost_planned_value* const* values; /* those that steps read or write */
  uint64_t value_count;
  const ephost_planned_buffer* const* buffers; /* those in blocks */
  uint64_t buffer_count;
  const ephost_planned_block* const* blocks; /* of each location with buffers of known size */
  uint64_t block_count;
  const char* order_rule;     /* how the order was found; empty where there was no choice */
  uint64_t order_bytes;       /* the most memory that one step needs in this order */
  uint64_t given_order_bytes; /* the same in the model's own order */
} ephost_graph_plan;

/* Report: the model's own graph first, then each body before those inside it. */
typedef struct ephost_model_plan {
  uint64_t struct_size;
  const ephost_graph_plan* const* graphs;
  uint64_t graph_count;
} ephost_model_plan;

/* Which part of a check of a context model asks the providers. */
enum {
  EPHOST_VERIFY_ASK = 0,   /* load the plugin, and ask whether it can load what the model holds */
  EPHOST_VERIFY_FIND = 1,  /* one must be installed that accepts the model, by its manifest */
  EPHOST_VERIFY_IGNORE = 2 /* none */
};

typedef struct ephost_verify_options {
  uint64_t struct_size;
  int32_t skip_checksums; /* look for files, but do not read them */
  int32_t providers;      /* EPHOST_VERIFY_* */
  /* With EPHOST_VERIFY_ASK: the id of a device to judge for, which need not be present if its
   * provider can compile for it. A provider that has no such device is asked about those that a
   * session would use, as all are if this is null. */
  const char* device;
  /* With `requested_only`, the model is checked against these providers, which are found and asked
   * as by a session that requests them, and against the CPU provider, which every session has.
   * Otherwise against all that are installed. */
  const ephost_provider_request* const* requests;
  uint64_t request_count;
  int32_t requested_only;
  int32_t reserved;
  /* Configuration entries of that session, whose policies hold here too: where plugins run, which
   * signatures they need, when they are quarantined. */
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
} ephost_verify_options;

/* An EPContext node. */
typedef struct ephost_context_node {
  uint64_t struct_size;
  const char* description; /* of the node; in a nested graph with the path of that graph */
  const char* partition_name;
  const char* source;
  int32_t main_context; /* it has a payload; otherwise that of `primary` serves */
  int32_t embedded;
  const char* primary;    /* partition_name of the node with the payload */
  const char* file;       /* of the payload, as given in the model; empty: embedded */
  uint64_t payload_bytes; /* EPHOST_UNKNOWN */
  const char* checksum;   /* of the payload: "ok", "missing file", ... */
  const char* sdk_version;
  const char* hardware_architecture;
} ephost_context_node;

/* The nodes of one `source` whose payloads have the same compatibility. */
typedef struct ephost_context_source {
  uint64_t struct_size;
  const char* source;
  const char* compatibility; /* as given in the model */
  const char* provider;      /* that accepts the source; empty: none is installed */
  const char* verdict;       /* "optimal", "unsupported", ... */
} ephost_context_source;

/* Report: what is wrong with a context model. */
typedef struct ephost_context_report {
  uint64_t struct_size;
  const ephost_context_node* const* nodes;
  uint64_t node_count;
  const ephost_context_source* const* sources; /* none with EPHOST_VERIFY_IGNORE */
  uint64_t source_count;
  const char* const* problems; /* why it cannot be loaded, one sentence each */
  uint64_t problem_count;
  const char* const* unchecked; /* payloads and files without a stated checksum */
  uint64_t unchecked_count;
  /* A session refuses the model if something is unchecked, as this host wrote it with checksums. */
  int32_t needs_checksums;
  int32_t reserved;
  /* "signed by KEY (NAME)", "unsigned", "not trusted" or "revoked"; the policy of the environment
   * (`signatures`) decides whether this is a problem. */
  const char* signature;
  const char* signature_problem; /* what keeps the signature from counting; may be empty */
  /* The external files that the model uses, and the specialised models that it states, by the names
   * that it has for them. */
  const char* const* files;
  uint64_t file_count;
  const char* const* specialized_models;
  uint64_t specialized_model_count;
} ephost_context_report;

typedef struct ephost_model_api {
  uint64_t struct_size;
  /* Compiles the partitions of a model and writes the context model, all files together or none.
   * INVALID_ARGUMENT for contradictory options or an impossible output, before anything is
   * compiled; INVALID_GRAPH if the model is a context model already; CANCELLED and
   * DEADLINE_EXCEEDED when cancelled through `options`. The `ep.context_*` entries of `options` are
   * the defaults for what the compilation does not set; `ep.context_enable` is ignored.
   * `out_report` may be null. */
  ephost_status* (*compile)(const ephost_environment* environment,
                            const ephost_session_options* options,
                            const ephost_compilation* compilation,
                            const ephost_compile_report** out_report);
  /* Where the context model of a model is written by default; released with release_text. */
  ephost_status* (*default_context_path)(const char* model_path, char** out_path);

  /* Errors of these are those of creating a session, except that nodes may be left without a
   * provider. */
  ephost_status* (*partition)(const ephost_environment* environment, const char* model_path,
                              const ephost_session_options* options, int32_t stage,
                              const ephost_model_partitioning** out_report);
  ephost_status* (*plan)(const ephost_environment* environment, const char* model_path,
                         const ephost_session_options* options,
                         const ephost_model_plan** out_report);
  /* Checks a context model without running it: structure, files, checksums, and whether the
   * installed providers can load it. Errors are those of reading the model, INVALID_ARGUMENT for
   * one without EPContext nodes or a device that no provider of the contexts has, and for
   * `requests` those of creating a session with them; what is wrong with a context model is listed
   * in the report and does not fail the call. `options` may be null. */
  ephost_status* (*verify_context)(const ephost_environment* environment, const char* model_path,
                                   const ephost_verify_options* options,
                                   const ephost_context_report** out_report);
} ephost_model_api;

/* ------------------------------------------------------------------------------------------------
 * Reports on plugins
 * --------------------------------------------------------------------------------------------- */

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
   * manifest. Of several versions the highest that works is loaded; a warning in the log names
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

/* ------------------------------------------------------------------------------------------------
 * The cache store
 * --------------------------------------------------------------------------------------------- */

enum {
  EPHOST_CACHE_ENTRY = 0,
  EPHOST_CACHE_QUARANTINED = 1, /* an entry that was found to be damaged */
  EPHOST_CACHE_TEMPORARY = 2    /* being written or removed, or left by a dead process */
};

/* An item of a cache store. Which of the fields are filled in depends on the function. */
typedef struct ephost_cache_item {
  uint64_t struct_size;
  const char* folder;
  int32_t state;
  int32_t in_use;       /* by a session: not removed although it would have been (prune, clear) */
  const char* key;      /* empty for a temporary one */
  uint64_t bytes;       /* of its files */
  int64_t last_used_ns; /* nanoseconds since 1970-01-01 00:00 UTC */
  /* What its files say (list). What cannot be read is left empty. */
  const ephost_key_value* made_of; /* what the key is computed from */
  uint64_t made_of_count;
  const char* model_name; /* empty for a model from memory */
  const char* const* providers;
  uint64_t provider_count;
  uint64_t partitions;
  /* Why it is quarantined, or cannot be described (list), or what is wrong with it (verify), one
   * sentence each. */
  const char* const* problems;
  uint64_t problem_count;
} ephost_cache_item;

/* Report. */
typedef struct ephost_cache_list {
  uint64_t struct_size;
  const ephost_cache_item* const* items;
  uint64_t item_count;
} ephost_cache_list;

/* What a store may hold. */
typedef struct ephost_cache_limits {
  uint64_t struct_size;
  uint64_t max_bytes;    /* 0: 10 GiB; EPHOST_UNKNOWN: no limit */
  uint64_t max_age_days; /* since the last use; 0: 90; EPHOST_UNKNOWN: no limit */
} ephost_cache_limits;

/*
 * Maintenance of the store that sessions use with the entry ep.cache_dir; `folder` is the value of
 * that entry. Sessions of any process may use the store meanwhile. NO_SUCHFILE where there is no
 * store, FAIL where something else is in its place or it cannot be read. What removes also fails
 * while another process keeps the store locked for more than ten seconds.
 */
typedef struct ephost_cache_api {
  uint64_t struct_size;
  /* All items, the most recently used first. */
  ephost_status* (*list)(const char* folder, const ephost_cache_list** out_list);
  /* The same, comparing the checksums of every entry. */
  ephost_status* (*verify)(const char* folder, const ephost_cache_list** out_list);
  /* Removes quarantined entries, what exceeds the limits, least recently used first, and what dead
   * processes left; nothing that is in use. The list has what was removed and what is in use.
   * `limits` may be null. */
  ephost_status* (*prune)(const char* folder, const ephost_cache_limits* limits,
                          const ephost_cache_list** out_list);
  /* Removes everything that is not in use. */
  ephost_status* (*clear)(const char* folder, const ephost_cache_list** out_list);
} ephost_cache_api;

/* ------------------------------------------------------------------------------------------------
 * Placing buffers
 * --------------------------------------------------------------------------------------------- */

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

/* ------------------------------------------------------------------------------------------------
 * The table of tables
 * --------------------------------------------------------------------------------------------- */

/* All tables live as long as the library is loaded. */
typedef struct ephost_api {
  uint64_t struct_size;
  uint32_t minor; /* of this interface, as the library has it */
  uint32_t reserved;
  const char* version; /* of the library, e.g. "1.2.3" */
  const ephost_status_api* status;
  const ephost_value_api* value;
  const ephost_environment_api* environment;
  const ephost_session_options_api* session_options;
  const ephost_session_api* session;
  const ephost_model_api* model;
  const ephost_plugin_api* plugin;
  const ephost_cache_api* cache;
  const ephost_placement_api* placement;

  /* Releases a report, with everything that it points to. */
  void (*release_report)(const void* report);
  /* Releases a text that an out_ parameter received. */
  void (*release_text)(char* text);
} ephost_api;

/* The only exported function. Never null. */
EPHOST_EXPORT const ephost_api* ephost_api_v1(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_API_H_ */
