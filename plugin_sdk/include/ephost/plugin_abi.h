/*
 * plugin_abi.h: the binary interface between an ephost host and an execution-provider plugin.
 *
 * A plugin is one shared library. It exports one function, eph_plugin_v1, and offers one or more
 * providers. The host finds it through its YAML manifest, loads it, and agrees on a minor version
 * of this interface with it. All further communication goes through the tables declared here.
 *
 * This header is C11, and valid C17, C++17 and C++20. It needs nothing but <stddef.h> and
 * <stdint.h>. C++ authors may prefer <ephost/plugin.hpp>, which wraps it in classes. ABI.md numbers
 * the rules that this header follows and names the tests that enforce them.
 *
 * How to read a declaration
 *
 *   [load]      called by one thread at a time in the whole process
 *   [owner]     called by one thread at a time for each handle; different handles run in parallel
 *   [any]       may be called by any number of threads at once
 *   [required]  a table with a null slot here is refused
 *   [optional]  the comment says what a null slot means
 *
 * Rules that apply everywhere
 *
 *   - Tables and records start with `struct_size`, the size in bytes that their maker knew. Later
 *     minor versions only append fields, so a reader looks at a field only if struct_size covers
 *     all of it. Sizes are never compared for equality. Records marked "frozen" never grow and
 *     carry no size.
 *   - Functions have C linkage and the C calling convention of the platform.
 *   - Functions that can fail return a code: EPH_OK, or another EPH_* code after storing a message
 *     in the eph_error object, which the caller always passes. No exception, signal, exit or
 *     longjmp leaves a function, on either side, and a function restores the rounding mode that it
 *     found.
 *   - An out_ parameter is set to null or zero before anything else happens. A failed call leaves
 *     nothing to destroy. A destroy function accepts null and cannot fail.
 *   - Each side frees what it allocated. Strings and arrays that are passed are borrowed: unless
 *     stated otherwise, the receiver may read them until the call returns.
 *   - Handles made by the host (eph_graph, eph_claims, ...) start with a pointer to the table of
 *     functions that take them (in eph_run, it follows the struct_size). An eph_computation,
 *     which the plugin makes, starts with its table too; an eph_provider is opaque to the host.
 */
#ifndef EPHOST_PLUGIN_ABI_H_
#define EPHOST_PLUGIN_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define EPH_NOEXCEPT noexcept
extern "C" {
#else
#define EPH_NOEXCEPT
#endif

#if defined(_WIN32)
#define EPH_EXPORT __declspec(dllexport)
#else
#define EPH_EXPORT __attribute__((visibility("default")))
#endif

/* The major version is part of the exported symbol's name; this header declares only one. */
#define EPH_ABI_MAJOR 1
/* The minor version that this header describes: the highest that code built with it can use. */
#define EPH_ABI_MINOR 0

/* Means "none" wherever an index of a node, a value or a payload is expected. */
#define EPH_NONE UINT32_MAX

/* ------------------------------------------------------------------------------------------------
 * Codes, strings, errors
 * --------------------------------------------------------------------------------------------- */

/* Result codes, always carried as int32_t. A host treats a code that it does not know as EPH_FAIL.
 * Up to EPH_NOT_FOUND, the numbers are ONNX Runtime's. */
enum {
  EPH_OK = 0,
  EPH_FAIL = 1,
  EPH_INVALID_ARGUMENT = 2,
  EPH_NO_SUCHFILE = 3,
  EPH_NO_MODEL = 4,
  EPH_ENGINE_ERROR = 5,
  EPH_RUNTIME_EXCEPTION = 6,
  EPH_INVALID_PROTOBUF = 7,
  EPH_MODEL_LOADED = 8,
  EPH_NOT_IMPLEMENTED = 9,
  EPH_INVALID_GRAPH = 10,
  EPH_EP_FAIL = 11,
  EPH_MODEL_LOAD_CANCELED = 12,
  EPH_MODEL_REQUIRES_COMPILATION = 13,
  EPH_NOT_FOUND = 14,
  /* Memory of the process or of a device ran out. Nothing is wrong with what was asked for. */
  EPH_OUT_OF_MEMORY = 1000,
  /* The device is gone, or in a state that it does not leave until it is opened again. The host
   * does not repeat the call. */
  EPH_DEVICE_LOST = 1001,
  /* The host wanted the call to end (`is_cancelled`), and it has. The call is never repeated, no
   * other provider gets its nodes, and it does not count as a failure of the provider. */
  EPH_CANCELLED = 1002,
  /* The same because the deadline of the run passed, where the provider can tell. A provider whose
   * own time limit passes returns EPH_EP_FAIL. */
  EPH_DEADLINE_EXCEEDED = 1003
};

/* UTF-8 text without a terminator. {null, 0} is the empty string. Frozen. */
typedef struct eph_string {
  const char* data;
  uint64_t size;
} eph_string;

/* Initialises an eph_string from a string literal. */
#define EPH_STRING(literal) \
  { (literal), sizeof(literal) - 1 }

/* Borrowed bytes. Frozen. */
typedef struct eph_bytes {
  const void* data;
  uint64_t size;
} eph_bytes;

/* An entry of metadata. Keys are unique within their array. Frozen. */
typedef struct eph_key_value {
  eph_string key;
  eph_string value;
} eph_key_value;

typedef struct eph_error eph_error;

typedef struct eph_error_api {
  uint64_t struct_size;
  /* Stores a copy of `message` in the error, replacing the previous one. The message says what
   * failed, with what, and what to do about it. [required] [owner] */
  void (*set_message)(eph_error* error, eph_string message) EPH_NOEXCEPT;
} eph_error_api;

/* Receives the callee's explanation of a code other than EPH_OK. Owned by the caller. */
struct eph_error {
  const eph_error_api* api;
};

/* ------------------------------------------------------------------------------------------------
 * Values at run time
 * --------------------------------------------------------------------------------------------- */

/* Element types, numbered as in ONNX's TensorProto.DataType. Always carried as int32_t. */
enum {
  EPH_ELEMENT_UNDEFINED = 0,
  EPH_ELEMENT_FLOAT = 1,
  EPH_ELEMENT_UINT8 = 2,
  EPH_ELEMENT_INT8 = 3,
  EPH_ELEMENT_UINT16 = 4,
  EPH_ELEMENT_INT16 = 5,
  EPH_ELEMENT_INT32 = 6,
  EPH_ELEMENT_INT64 = 7,
  EPH_ELEMENT_STRING = 8,
  EPH_ELEMENT_BOOL = 9,
  EPH_ELEMENT_FLOAT16 = 10,
  EPH_ELEMENT_DOUBLE = 11,
  EPH_ELEMENT_UINT32 = 12,
  EPH_ELEMENT_UINT64 = 13,
  EPH_ELEMENT_COMPLEX64 = 14,
  EPH_ELEMENT_COMPLEX128 = 15,
  EPH_ELEMENT_BFLOAT16 = 16,
  EPH_ELEMENT_FLOAT8E4M3FN = 17,
  EPH_ELEMENT_FLOAT8E4M3FNUZ = 18,
  EPH_ELEMENT_FLOAT8E5M2 = 19,
  EPH_ELEMENT_FLOAT8E5M2FNUZ = 20,
  EPH_ELEMENT_UINT4 = 21,
  EPH_ELEMENT_INT4 = 22,
  EPH_ELEMENT_FLOAT4E2M1 = 23,
  EPH_ELEMENT_FLOAT8E8M0 = 24,
  EPH_ELEMENT_UINT2 = 25,
  EPH_ELEMENT_INT2 = 26
};

/* Kinds of values. Always carried as int32_t. */
enum {
  EPH_KIND_NONE = 0,   /* an empty optional, or an unknown type */
  EPH_KIND_TENSOR = 1, /* dense, row-major */
  EPH_KIND_SEQUENCE = 2,
  EPH_KIND_MAP = 3,
  EPH_KIND_SPARSE_TENSOR = 4,
  EPH_KIND_OPTIONAL = 5 /* a declared type only; at run time the value is the content or NONE */
};

/*
 * A run-time value, or the data of a constant. Frozen.
 *
 *   TENSOR         data: element 0, aligned to 64 bytes if the host allocated it, and otherwise at
 *                  least to the element; elements of 4 and 2 bits are packed two and four to a
 *                  byte, the first one into its lowest bits; strings are an array of eph_string.
 *                  shape: `rank` extents >= 0.
 *   SEQUENCE       data: an array of eph_value, all of one kind and element type; rank 1, shape[0]
 *                  is their number. element_type: that of the contained tensors;
 *                  EPH_ELEMENT_UNDEFINED if there are none.
 *   MAP            data: two eph_value, keys then values; both are tensors of rank 1, or the values
 *                  are a SEQUENCE. element_type: that of the keys.
 *   NONE           has no content; `data` is not null but must not be read.
 *   SPARSE_TENSOR  data: two eph_value, values [nnz] then indices; shape: the dense shape.
 */
typedef struct eph_value {
  void* data;
  const int64_t* shape;
  uint64_t byte_size; /* size of the memory at `data` */
  uint32_t rank;
  int32_t element_type;
  int32_t kind;
  uint32_t memory; /* where `data` lies: 0 is host memory; others see ext/device.h */
} eph_value;

/* ------------------------------------------------------------------------------------------------
 * The graph that a provider is asked about
 * --------------------------------------------------------------------------------------------- */

typedef struct eph_graph eph_graph;

/* Kinds of attributes, numbered as in ONNX's AttributeProto.AttributeType. Always carried as
 * int32_t. */
enum {
  EPH_ATTRIBUTE_FLOAT = 1,
  EPH_ATTRIBUTE_INT = 2,
  EPH_ATTRIBUTE_STRING = 3,
  EPH_ATTRIBUTE_TENSOR = 4,
  EPH_ATTRIBUTE_GRAPH = 5,
  EPH_ATTRIBUTE_FLOATS = 6,
  EPH_ATTRIBUTE_INTS = 7,
  EPH_ATTRIBUTE_STRINGS = 8,
  EPH_ATTRIBUTE_TENSORS = 9,
  EPH_ATTRIBUTE_GRAPHS = 10,
  EPH_ATTRIBUTE_SPARSE_TENSOR = 11,
  EPH_ATTRIBUTE_SPARSE_TENSORS = 12,
  EPH_ATTRIBUTE_TYPE_PROTO = 13, /* present without data */
  EPH_ATTRIBUTE_TYPE_PROTOS = 14
};

/*
 * An attribute of a node. Frozen. `values` is an array of `count` elements (1 for the singular
 * kinds): float for FLOAT(S), int64_t for INT(S), eph_string for STRING(S), eph_value for TENSOR(S)
 * and SPARSE_TENSOR(S), const eph_graph* for GRAPH(S).
 */
typedef struct eph_attribute {
  eph_string name;
  const void* values;
  uint64_t count;
  int32_t kind;
  uint32_t reserved; /* zero */
} eph_attribute;

/* Flags of eph_node_info. */
enum {
  /* A provider of higher priority already has the node; a claim on it is dropped. */
  EPH_NODE_TAKEN = 1 << 0
};

/* A node. Nodes have indices 0 ... node_count-1, in topological order. */
typedef struct eph_node_info {
  uint64_t struct_size;
  eph_string name;
  eph_string op_type;
  eph_string domain;     /* empty: ai.onnx */
  int32_t since_version; /* of the operator definition that the model's opset selects */
  uint32_t flags;
  const uint32_t* inputs; /* value indices; EPH_NONE for an omitted optional input */
  uint64_t input_count;
  const uint32_t* outputs; /* likewise */
  uint64_t output_count;
  const uint32_t* implicit_inputs; /* outer values that the node's subgraphs read */
  uint64_t implicit_input_count;
  const eph_attribute* attributes;
  uint64_t attribute_count;
  eph_string overload; /* which overload of a function of the model is called; mostly empty */
  const eph_key_value* metadata; /* the node's metadata_props */
  uint64_t metadata_count;
} eph_node_info;

/* The declared type of what a sequence, a map or an optional contains. Frozen. */
typedef struct eph_type {
  int32_t kind;                /* EPH_KIND_NONE if the type is unknown */
  int32_t element_type;        /* of a tensor; of a map's keys; otherwise EPH_ELEMENT_UNDEFINED */
  int32_t rank;                /* of a tensor; -1: unknown */
  uint32_t reserved;           /* zero */
  const int64_t* shape;        /* `rank` extents; -1 for one that is unknown before the run */
  const eph_string* dim_names; /* as in eph_value_info */
  const struct eph_type* content; /* as in eph_value_info */
} eph_type;

/* Flags of eph_value_info. */
enum {
  EPH_VALUE_GRAPH_INPUT = 1 << 0,
  EPH_VALUE_GRAPH_OUTPUT = 1 << 1,
  EPH_VALUE_OUTER_SCOPE = 1 << 2 /* in a subgraph: a value of an enclosing graph */
};

/* A value of the graph. */
typedef struct eph_value_info {
  uint64_t struct_size;
  eph_string name;
  int32_t kind;         /* EPH_KIND_NONE if the type is unknown */
  int32_t element_type; /* of a tensor, of the tensors in a sequence or optional, of a map's keys */
  int32_t rank;         /* -1: unknown */
  uint32_t flags;
  const int64_t* shape;        /* `rank` extents; -1 for one that is unknown before the run */
  const eph_string* dim_names; /* `rank` symbol names, empty for a dimension without one; null if no
                                * dimension has one */
  uint32_t producer;           /* node index; EPH_NONE for inputs and constants */
  uint32_t reserved;           /* zero */
  const uint32_t* consumers;   /* node indices, ascending */
  uint64_t consumer_count;
  /* The data if the value is a constant, otherwise null. A graph input with a default is not a
   * constant. The record lives as long as the graph; the data behind it is not a copy and lives as
   * long as constants do (see eph_graph). */
  const eph_value* constant;
  /* The type of a sequence's elements, of a map's values, or of what an optional may contain, with
   * the kind, element type and shape of its own. Null for tensors and unknown types. */
  const eph_type* content;
} eph_value_info;

/* A domain and the version of it that the model imports. Frozen. */
typedef struct eph_opset {
  eph_string domain; /* empty: ai.onnx */
  int64_t version;
} eph_opset;

/* Flags of eph_graph_info. */
enum {
  /* The body of an If, Loop, Scan or SequenceMap node, or of a function, rather than the model's
   * own graph or a partition of it. */
  EPH_GRAPH_BODY = 1 << 0
};

typedef struct eph_graph_info {
  uint64_t struct_size;
  eph_string name;
  uint64_t node_count;
  uint64_t value_count;
  const uint32_t* inputs; /* value indices in the model's order, without constants */
  uint64_t input_count;
  const uint32_t* outputs;
  uint64_t output_count;
  uint32_t flags;
  uint32_t reserved;       /* zero */
  int64_t ir_version;      /* of the model's file */
  const eph_opset* opsets; /* every domain that the model imports, once */
  uint64_t opset_count;
  const eph_key_value* metadata; /* the model's metadata_props */
  uint64_t metadata_count;
} eph_graph_info;

typedef struct eph_graph_api {
  uint64_t struct_size;

  /* Each of these fills the fields of *out that its struct_size covers, which the caller has set to
   * its own sizeof, and leaves the smaller of that and the host's size there. What they point to
   * lives as long as the graph. EPH_INVALID_ARGUMENT for an index out of range, a null `out`, or a
   * struct_size that is too small or absurd. [required] [any] */
  int32_t (*get_graph)(const eph_graph* graph, eph_graph_info* out, eph_error* error) EPH_NOEXCEPT;
  int32_t (*get_node)(const eph_graph* graph, uint32_t node, eph_node_info* out,
                      eph_error* error) EPH_NOEXCEPT;
  int32_t (*get_value)(const eph_graph* graph, uint32_t value, eph_value_info* out,
                       eph_error* error) EPH_NOEXCEPT;

  /* The index of the value with this name. EPH_NOT_FOUND if the graph has none.
   * [required] [any] */
  int32_t (*find_value)(const eph_graph* graph, eph_string name, uint32_t* out_value,
                        eph_error* error) EPH_NOEXCEPT;

  /* The version of `domain` that the model imports, or 0 if it does not import the domain.
   * [required] [any] */
  int64_t (*get_opset)(const eph_graph* graph, eph_string domain) EPH_NOEXCEPT;

  /* The graph as a serialised ONNX ModelProto, for back ends that read ONNX. Constants of
   * `outside_bytes` or more stay outside of it: each is a tensor with data_location EXTERNAL, whose
   * `location` is "eph:value/N" for the value with index N of this graph, and whose `length` is its
   * size; get_value gives the data, so that nothing is copied. Constants of bodies, attributes and
   * text are always inside. 0: all constants are inside. The first call with a threshold serialises
   * the graph; the bytes live as long as the graph. Fails with EPH_INVALID_GRAPH if they would
   * exceed 2 GiB. [required] [any] */
  int32_t (*get_onnx)(const eph_graph* graph, uint64_t outside_bytes, eph_bytes* out,
                      eph_error* error) EPH_NOEXCEPT;
} eph_graph_api;

/* A read-only graph: the model in get_capability, one partition in compile. It lives until the call
 * that it was passed to returns. Its constants live until the last computation made from it is
 * destroyed, unless the claim gave them up with EPH_CLAIM_DROP_CONSTANTS. */
struct eph_graph {
  const eph_graph_api* api;
};

/* ------------------------------------------------------------------------------------------------
 * Claims: the answer of get_capability
 * --------------------------------------------------------------------------------------------- */

typedef struct eph_claims eph_claims;

/* Flags of eph_fused_claim. */
enum {
  /* The computation keeps its own copy of the constants: the host may free them once it is
   * compiled. */
  EPH_CLAIM_DROP_CONSTANTS = 1 << 0
};

/* A set of nodes that the provider wants to compile into one computation. The host drops the claim
 * if a node is taken, repeated or unknown, or if the set is not convex, that is, if a path leaves
 * it and comes back; `ephost partition --explain` reports why. */
typedef struct eph_fused_claim {
  uint64_t struct_size;
  eph_string name; /* for display; the host makes it unique, and chooses one if it is empty */
  const uint32_t* nodes;
  uint64_t node_count;
  uint32_t flags;
  uint32_t reserved; /* zero */
  uint64_t token;    /* any number of the provider's; comes back as eph_partition.token */
} eph_fused_claim;

typedef struct eph_claims_api {
  uint64_t struct_size;

  /* Claims one node, to be run by a kernel of the provider's list. [required] [owner] */
  int32_t (*claim_node)(eph_claims* claims, uint32_t node, eph_error* error) EPH_NOEXCEPT;

  /* Claims nodes to be compiled together. [required] [owner] */
  int32_t (*claim_fused)(eph_claims* claims, const eph_fused_claim* claim,
                         eph_error* error) EPH_NOEXCEPT;

  /* 1 if a kernel of the provider's list matches the node by operator, version and types, else 0.
   * [required] [owner] */
  int32_t (*has_kernel)(eph_claims* claims, uint32_t node) EPH_NOEXCEPT;

  /* Records, for display, why the provider does not claim a node. [required] [owner] */
  void (*decline)(eph_claims* claims, uint32_t node, eph_string reason) EPH_NOEXCEPT;
} eph_claims_api;

/* Collects a provider's claims during one get_capability call. */
struct eph_claims {
  const eph_claims_api* api;
};

/* ------------------------------------------------------------------------------------------------
 * Computations: what runs
 * --------------------------------------------------------------------------------------------- */

typedef struct eph_run eph_run;

/* A queue of work of a device (ext/device.h). An object of the plugin. */
typedef struct eph_stream eph_stream;

typedef struct eph_run_api {
  uint64_t struct_size;

  /* Gives output `index`, a tensor, its element type, shape and memory, and updates
   * *run->outputs[index]. Needed if the output's data pointer is null or its shape is not what the
   * computation produces; with static shapes the host has done it beforehand. element_type may be
   * EPH_ELEMENT_UNDEFINED if the model declares it. Fails with EPH_INVALID_ARGUMENT for a bad index
   * or shape, with EPH_INVALID_GRAPH if the model declares another type or shape, and with
   * EPH_OUT_OF_MEMORY. [required] [owner] */
  int32_t (*allocate_output)(eph_run* run, uint32_t index, int32_t element_type,
                             const int64_t* shape, uint32_t rank, eph_error* error) EPH_NOEXCEPT;

  /* Stores a copy of `text` as an element of output `index`, a tensor of strings whose memory is
   * allocated. [required] [owner] */
  int32_t (*set_string)(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                        eph_error* error) EPH_NOEXCEPT;

  /* Host memory of `size` bytes, aligned to 64, valid until the computation returns. The host keeps
   * it for the next run, so that a steady state allocates nothing. Null if memory runs out.
   * [required] [owner] */
  void* (*allocate_scratch)(eph_run* run, uint64_t size)EPH_NOEXCEPT;

  /* 1 once the caller has cancelled the run, or its deadline has passed. A long computation polls
   * this and then returns EPH_CANCELLED; the run ends with EPH_CANCELLED or EPH_DEADLINE_EXCEEDED,
   * whichever it was. [required] [any] */
  int32_t (*is_cancelled)(const eph_run* run) EPH_NOEXCEPT;

  /*
   * Outputs that are sequences, maps or optionals are assembled from values and then set. A value
   * that is passed to a function below was made by one of them in the same call of `compute`, or is
   * an input of the run, or an element of an input that is a SEQUENCE or MAP; any other pointer
   * gives EPH_INVALID_ARGUMENT. Values made here live until `compute` returns, and longer if they
   * went into an output. The host counts references: elements are shared rather than copied, except
   * for an input that is itself a tensor.
   */

  /* Makes a tensor of the given type and shape. Its elements are undefined, or empty if they are
   * strings, and may be written while `compute` runs. Fails as allocate_output does. [required]
   * [owner] */
  int32_t (*make_tensor)(eph_run* run, int32_t element_type, const int64_t* shape, uint32_t rank,
                         eph_value** out_value, eph_error* error) EPH_NOEXCEPT;

  /* Stores a copy of `text` as an element of a tensor of strings from make_tensor.
   * [required] [owner] */
  int32_t (*set_element)(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                         eph_error* error) EPH_NOEXCEPT;

  /* Makes a sequence: `base` (null: an empty one) with `removed` elements, starting at `position`,
   * replaced by the `inserted` ones. All elements must have one kind and element type. The host may
   * reuse `base` itself if it is not needed any more, so that a sequence that grows in a loop costs
   * no copies: after this call, `base` and its elements must not be read. [required] [owner] */
  int32_t (*make_sequence)(eph_run* run, const eph_value* base, uint64_t position, uint64_t removed,
                           const eph_value* const* inserted, uint64_t inserted_count,
                           const eph_value** out_value, eph_error* error) EPH_NOEXCEPT;

  /* Makes a map. The keys are a tensor of rank 1, of strings or integers; the values are a tensor
   * of rank 1 or a sequence, with as many elements as there are keys. [required] [owner] */
  int32_t (*make_map)(eph_run* run, const eph_value* keys, const eph_value* values,
                      const eph_value** out_value, eph_error* error) EPH_NOEXCEPT;

  /* Makes `value` the output `index`; null makes it an empty optional. A value may be set for
   * several outputs, and may be a tensor: one from make_tensor is moved if the plan allows it,
   * others are copied. EPH_INVALID_GRAPH if the model declares another type. [required] [owner] */
  int32_t (*set_output)(eph_run* run, uint32_t index, const eph_value* value,
                        eph_error* error) EPH_NOEXCEPT;

  /* Gives `size` > 0 bytes in one of the provider's own memories (ext/device.h), with its
   * alignment: until the work that the call enqueues on run->stream is done, or without a stream
   * until the call returns. The host keeps the block for later runs. EPH_INVALID_ARGUMENT for a
   * memory that does not exist, and for host memory; EPH_OUT_OF_MEMORY. [required] [owner] */
  int32_t (*allocate_in)(eph_run* run, uint32_t memory, uint64_t size, void** out_data,
                         eph_error* error) EPH_NOEXCEPT;
} eph_run_api;

/*
 * The arguments of one call of `compute`, bound by the host.
 *
 * inputs[i] and outputs[i] belong to the node's (or the partition graph's) inputs and outputs, in
 * order; null stands for an omitted one. An output whose `data` is not null has the stated shape
 * and may be written at once. An output shares its memory with an input only if
 * eph_computation_info allows it; then their data pointers are equal, or differ by the offset of a
 * part. It always does where must_share says so.
 */
struct eph_run {
  uint64_t struct_size;
  const eph_run_api* api;
  const eph_value* const* inputs;
  eph_value* const* outputs;
  uint32_t input_count;
  uint32_t output_count;
  /* workspace_bytes of eph_computation_info, aligned to 64; null if that is 0. */
  void* workspace;
  /* Identifies the run of the session in which this call happens: never 0, and no other run of the
   * process has it. See ext/run.h. */
  uint64_t run_id;
  /* For a computation that states EPH_COMPUTATION_ENQUEUES: the stream (ext/device.h) to enqueue
   * its work on, of the device of eph_computation_info.memory. Null: when compute returns, its
   * outputs are complete, and none of its operands is read or written any more. */
  eph_stream* stream;
  uint64_t step; /* of the plan: names the work in failures of the stream */
  /* For a computation that states EPH_COMPUTATION_CAPTURABLE: two calls with one state and one
   * placement have operands with equal addresses and shapes. Otherwise 0, which says nothing. */
  uint64_t placement;
};

/* Flags of eph_computation_info. */
enum {
  /* With a stream, compute enqueues its work there and returns without waiting for it. Until that
   * is done, inputs, outputs and workspace stay as they are; everything else that eph_run points to
   * goes when compute returns. Inputs in host memory are complete when compute is called, such as a
   * shape that it reads itself; those in other memories are when the work on the stream begins.
   * Outputs in host memory are complete when that has ended, except for strings, sequences, maps
   * and optionals, which compute itself makes. Without a stream it does all its work before it
   * returns. */
  EPH_COMPUTATION_ENQUEUES = 1 << 0,
  /* For one that enqueues: what it enqueues depends on the addresses and shapes of its operands
   * alone, so that the host may capture it (ext/device.h) instead of calling compute in each run.
   * It asks neither for scratch memory of any kind, or is not captured, nor for the id of the run.
   */
  EPH_COMPUTATION_CAPTURABLE = 1 << 1
};

/* Allows output `output` to take over the memory of input `input`. Frozen. */
typedef struct eph_slot_pair {
  uint32_t input;
  uint32_t output;
} eph_slot_pair;

/* Says that one of an input and an output lies within the other: its bytes are those of the larger
 * one, starting at `offset` bytes. Frozen. */
typedef struct eph_slot_part {
  uint32_t input;
  uint32_t output;
  uint64_t offset;
} eph_slot_part;

/* Puts one input or output into another memory than the rest. Frozen. */
typedef struct eph_slot_memory {
  uint32_t slot;
  uint32_t memory;
} eph_slot_memory;

/* What the planner needs to know about a computation. All zero is a valid answer. Arrays live as
 * long as the computation. */
typedef struct eph_computation_info {
  uint64_t struct_size;
  uint64_t workspace_bytes; /* memory that every call of compute needs while it runs */
  /* The alignment that inputs, outputs and workspace in host memory should have, for a device that
   * reads host memory by pages: a power of two, at most 2 MiB. Up to 64: as eph_value says. With
   * more, the host copies an input of the application that lies elsewhere. */
  uint64_t host_alignment;
  /* Pairs for which compute gives the right result when both have the same memory. The host uses
   * that only if the input is not needed afterwards. */
  const eph_slot_pair* may_inplace;
  uint64_t may_inplace_count;
  /* Pairs whose bytes are equal by definition (Reshape, Identity). The host may give both the same
   * memory even if the input is needed afterwards; compute then copies nothing. */
  const eph_slot_pair* aliases;
  uint64_t alias_count;
  /* Inputs that are parts of an output (Concat), in ascending order of their offsets, without gaps
   * or overlap. The host may place such an input within the output beforehand: compute then leaves
   * these bytes as they are and writes the rest. */
  const eph_slot_part* input_parts;
  uint64_t input_part_count;
  /* Outputs that are parts of an input (Split, Slice). The host may place such an output within the
   * input, even if that is needed afterwards; compute then copies nothing there. */
  const eph_slot_part* output_parts;
  uint64_t output_part_count;
  /* Where the workspace has to be, and all inputs and outputs that are not listed below: 0 is host
   * memory, others are the provider's own (ext/device.h). */
  uint32_t memory;
  uint32_t flags;                        /* EPH_COMPUTATION_* */
  const eph_slot_memory* input_memories; /* e.g. a shape that compute reads itself: memory 0 */
  uint64_t input_memory_count;
  const eph_slot_memory* output_memories;
  uint64_t output_memory_count;
  /* Inputs whose elements compute does not read if they are constants, as it has kept them in a
   * form of its own. The host does not copy them to a device: they may lie in any memory. */
  const uint32_t* unread_inputs;
  uint64_t unread_input_count;
  /* For a device that shares memory with the host or another one: bit n says that memory n serves
   * as well for inputs and outputs that are not listed above, where that saves a copy; eph_value
   * says where each one lies. An input that lies in host memory because of this is complete when
   * the work on the stream begins. Bits of memories that do not exist are an error. */
  uint64_t accepts;
  /* Pairs that always have the same memory, such as the cache of keys and values that a decoder
   * adds a token to: compute finds what the input contains in the output, and changes it there. The
   * host lets both share where the input is not needed otherwise, also in memory that the
   * application gives for both, and copies the input beforehand where it is; the output then has
   * the input's type and shape from the start. Where one of the two is omitted, the other has
   * memory of its own, and compute writes to no input. */
  const eph_slot_pair* must_share;
  uint64_t must_share_count;
} eph_computation_info;

typedef struct eph_computation eph_computation;

typedef struct eph_computation_api {
  uint64_t struct_size;

  /* [required] [owner] */
  void (*destroy)(eph_computation* computation) EPH_NOEXCEPT;

  /* Runs the computation once. `state` comes from create_state, or is null if there is none.
   * [required] [owner] of the state, and see eph_provider_info.max_concurrent */
  int32_t (*compute)(eph_computation* computation, void* state, eph_run* run,
                     eph_error* error) EPH_NOEXCEPT;

  /* Fills the fields of *out that the plugin knows. The host has set struct_size and zeroed the
   * rest; the plugin keeps struct_size or lowers it to its own. Called once, before the first run.
   * Null: all zero. [optional] [owner] */
  int32_t (*describe)(eph_computation* computation, eph_computation_info* out,
                      eph_error* error) EPH_NOEXCEPT;

  /* What one thread of execution needs beyond the workspace, such as handles and caches. The host
   * creates one for each concurrent run, keeps it for later runs, and releases it before the
   * computation is destroyed. Both slots or neither. [optional] [any] */
  int32_t (*create_state)(eph_computation* computation, void** out_state,
                          eph_error* error) EPH_NOEXCEPT;
  /* [any], and [owner] of the state */
  void (*release_state)(eph_computation* computation, void* state) EPH_NOEXCEPT;
} eph_computation_api;

/* A kernel or a compiled partition. The plugin's own object starts with this. */
struct eph_computation {
  const eph_computation_api* api;
};

/* ------------------------------------------------------------------------------------------------
 * Kernels for single nodes
 * --------------------------------------------------------------------------------------------- */

/* Restricts the type of one input or output. Frozen. */
typedef struct eph_type_rule {
  /* Index of the input, or with EPH_RULE_OUTPUT of the output. With EPH_RULE_VARIADIC it also
   * stands for all slots after it. */
  uint32_t slot;
  uint32_t flags;
  /* Bit n allows element type n of the tensor, of the tensors in a sequence or optional, or of the
   * keys of a map. */
  uint64_t element_types;
} eph_type_rule;

/* Flags of eph_type_rule. */
enum {
  EPH_RULE_OUTPUT = 1 << 0,
  EPH_RULE_VARIADIC = 1 << 1,
  /* The kinds that the slot's declared type may have. Without any of these flags, and for a slot
   * without a rule, only dense tensors. */
  EPH_RULE_TENSOR = 1 << 2,
  EPH_RULE_SEQUENCE = 1 << 3,
  EPH_RULE_MAP = 1 << 4,
  EPH_RULE_OPTIONAL = 1 << 5
};

/* One entry of a provider's kernel list. Frozen. It matches a node if operator, domain and
 * since_version agree and no type violates a rule; an unknown type violates none. A value other
 * than a dense tensor needs a rule that allows its kind. */
typedef struct eph_kernel_def {
  eph_string op_type;
  eph_string domain;
  int32_t since_version; /* lowest and highest since_version of the operator, both inclusive */
  int32_t until_version;
  const eph_type_rule* rules;
  uint64_t rule_count;
} eph_kernel_def;

/* ------------------------------------------------------------------------------------------------
 * Compiling partitions, and the EP context cache
 * --------------------------------------------------------------------------------------------- */

/* A constant that a payload refers to by its name. Frozen. */
typedef struct eph_named_value {
  eph_string name;
  const eph_value* value;
} eph_named_value;

/* Content of an EPContext node of a context model, read and checked by the host. */
typedef struct eph_ep_context {
  uint64_t struct_size;
  /* The payload that contains this partition. Nodes that share a payload get the same pointer.
   * Mapped read-only, aligned to 64 bytes or more; it lives until the provider is destroyed. Its
   * content may be anything: a checksum detects damage, not malice. */
  eph_bytes payload;
  eph_string partition_name; /* the partition's name in the payload */
  eph_string source;
  eph_string sdk_version;
  eph_string hardware_architecture;
  eph_string notes;
  int64_t max_size;
  int32_t main_context;
  uint32_t reserved; /* zero */
  /* The constants that stayed outside of the payload, by the names and in the order in which
   * eph_context_node listed them. Their types and sizes are those of then, and their bytes have a
   * checksum like the payload. They live as long as the computation. */
  const eph_named_value* constants;
  uint64_t constant_count;
} eph_ep_context;

/* One partition to compile. Passed in an array with an explicit stride. */
typedef struct eph_partition {
  uint64_t struct_size;
  /* The partition as a graph of its own: its inputs and outputs are those of the computation, in
   * order. For a cached partition: the one EPContext node, whose own inputs and outputs are the
   * computation's, including inputs that have become constant. */
  const eph_graph* graph;
  eph_string name;
  /* Null: compile the graph. Otherwise: restore the computation from this payload, and fail with
   * EPH_INVALID_GRAPH if it is damaged or was made for another SDK, driver or device. */
  const eph_ep_context* ep_context;
  uint64_t token; /* of the claim; 0 for a cached partition */
} eph_partition;

typedef struct eph_context_writer eph_context_writer;

/* An EPContext node to be written, one for each computation. */
typedef struct eph_context_node {
  uint64_t struct_size;
  uint32_t computation; /* index into the array that get_ep_context_nodes received */
  uint32_t payload;     /* from begin_payload: the payload that contains this computation */
  eph_string source;    /* one of the manifest's context_sources; empty means the first */
  eph_string sdk_version;
  eph_string hardware_architecture;
  eph_string notes;
  int64_t max_size;
  /* Names of constants of the partition's graph that the payload does not contain: the host keeps
   * them beside it, once for all nodes that name them, and hands them back with eph_ep_context. It
   * only keeps constants that the claim has not given up with EPH_CLAIM_DROP_CONSTANTS. */
  const eph_string* constants;
  uint64_t constant_count;
} eph_context_node;

typedef struct eph_context_writer_api {
  uint64_t struct_size;

  /* Starts a payload. The host decides whether it becomes a file or goes into the model.
   * compatibility: what this payload depends on, as text for `validate`; empty: the text of
   * get_compatibility. [required] [owner] */
  int32_t (*begin_payload)(eph_context_writer* writer, eph_string compatibility,
                           uint32_t* out_payload, eph_error* error) EPH_NOEXCEPT;

  /* Appends `size` bytes to a payload. May be called any number of times with any size. [required]
   * [owner] */
  int32_t (*write)(eph_context_writer* writer, uint32_t payload, const void* data, uint64_t size,
                   eph_error* error) EPH_NOEXCEPT;

  /* Adds the node of one computation. The first node of a payload is its primary one.
   * [required] [owner] */
  int32_t (*add_node)(eph_context_writer* writer, const eph_context_node* node,
                      eph_error* error) EPH_NOEXCEPT;
} eph_context_writer_api;

/* Receives a provider's part of the context cache. The same input should produce the same bytes,
 * and does so if the manifest says `deterministic: true`. */
struct eph_context_writer {
  const eph_context_writer_api* api;
};

/* Verdicts of `validate`; the numbers are ONNX Runtime's. Always carried as int32_t. A host treats
 * a verdict that it does not know as EPH_COMPATIBILITY_UNSUPPORTED. */
enum {
  EPH_COMPATIBILITY_NOT_APPLICABLE = 0, /* the text is not one of this provider's */
  EPH_COMPATIBILITY_OPTIMAL = 1,
  EPH_COMPATIBILITY_PREFER_RECOMPILATION = 2, /* works, but recompiling is better */
  EPH_COMPATIBILITY_UNSUPPORTED = 3
};

/* ------------------------------------------------------------------------------------------------
 * The host, as a provider sees it
 * --------------------------------------------------------------------------------------------- */

typedef struct eph_host eph_host;

/* Severities of log messages. Always carried as int32_t. */
enum { EPH_LOG_DEBUG = 0, EPH_LOG_INFO = 1, EPH_LOG_WARNING = 2, EPH_LOG_ERROR = 3 };

typedef struct eph_host_api {
  uint64_t struct_size;

  /* [required] [any] */
  void (*log)(const eph_host* host, int32_t severity, eph_string message) EPH_NOEXCEPT;

  /* The table of the optional interface "name/revision" (see the headers in ext/), or null. It
   * lives as long as the host handle. [required] [any] */
  const void* (*get_extension)(const eph_host* host, eph_string id)EPH_NOEXCEPT;
} eph_host_api;

/* Outlives every provider that was created with it. */
struct eph_host {
  const eph_host_api* api;
};

/* ------------------------------------------------------------------------------------------------
 * Providers
 * --------------------------------------------------------------------------------------------- */

/* Types of devices. Always carried as int32_t. */
enum { EPH_DEVICE_OTHER = 0, EPH_DEVICE_CPU = 1, EPH_DEVICE_GPU = 2, EPH_DEVICE_NPU = 3 };

/* Flags of eph_device. */
enum {
  /* The device is not in this machine, or is simulated: listed for compilation and tests, and used
   * only if the user names it. */
  EPH_DEVICE_VIRTUAL = 1 << 0
};

/* A device of this machine, or a target of compilation. */
typedef struct eph_device {
  uint64_t struct_size;
  /* Names the device among those of the provider, and stays the same while the device does, over
   * restarts too: a UUID, serial number or bus address, or "cpu". Required. */
  eph_string id;
  eph_string name; /* for people */
  eph_string vendor;
  eph_string architecture;   /* e.g. the instruction set that compiled code depends on */
  eph_string driver_version; /* empty without a driver */
  uint64_t memory_bytes;     /* 0: unknown */
  int32_t type;
  uint32_t flags;
  uint32_t vendor_id; /* as assigned by the PCI-SIG; 0: none */
  uint32_t device_id;
  const eph_key_value* metadata; /* what else there is to say, for people and policies */
  uint64_t metadata_count;
} eph_device;

typedef struct eph_device_list eph_device_list;

typedef struct eph_device_list_api {
  uint64_t struct_size;
  /* Adds a copy of *device. [required] [owner] */
  int32_t (*add)(eph_device_list* list, const eph_device* device, eph_error* error) EPH_NOEXCEPT;
} eph_device_list_api;

struct eph_device_list {
  const eph_device_list_api* api;
};

/* Kinds of options, as in the manifest. Always carried as int32_t. */
enum {
  EPH_OPTION_STRING = 0, /* also for choices */
  EPH_OPTION_INT = 1,
  EPH_OPTION_FLOAT = 2,
  EPH_OPTION_BOOL = 3 /* int_value is 0 or 1 */
};

/* An option, checked against the manifest's type, range and choices, with defaults filled in.
 * Frozen. */
typedef struct eph_option {
  eph_string name;
  eph_string string_value; /* the text of any kind of option */
  int64_t int_value;
  double float_value;
  int32_t kind;
  uint32_t reserved; /* zero */
} eph_option;

/* A device that the plugin has opened (ext/device.h). An object of the plugin. */
typedef struct eph_device_handle eph_device_handle;

/* What a provider is created for. Flags of eph_provider_config. */
enum {
  EPH_PURPOSE_WRITES_CONTEXT = 1 << 0, /* get_ep_context_nodes will be called */
  EPH_PURPOSE_COMPILE_ONLY = 1 << 1,   /* nothing will run: no device needs to be opened */
  EPH_PURPOSE_SHARED = 1 << 2,         /* for a group of sessions (ext/shared_contexts.h) */
  EPH_PURPOSE_PROFILING = 1 << 3       /* runs will be profiled (ext/profiling.h) */
};

typedef struct eph_provider_config {
  uint64_t struct_size;
  const eph_option* options; /* every option of the manifest, once; see also `options_open` there */
  uint64_t option_count;
  /* The devices that the session uses: some of those that get_devices listed, in the user's order.
   * An array with `device_stride` bytes from one record to the next. Empty with a `target`, and
   * where get_devices lists none that is not virtual and the user names none. */
  const eph_device* devices;
  uint64_t device_stride;
  uint64_t device_count;
  /* Compile for this device, one of those that list_targets listed, which need not be present.
   * Null: for `devices`. */
  const eph_device* target;
  eph_string directory; /* as in eph_load_info */
  uint32_t purpose;
  uint32_t reserved; /* zero */
  /* For each of `devices`, in the same order, what `open` of ext/device.h gave: it stays open as
   * long as the provider. Null: the plugin does not offer that interface, or nothing will run. */
  eph_device_handle* const* opened;
} eph_provider_config;

/* A provider's own object; one for each session, or for a group of sessions if the provider offers
 * ext/shared_contexts.h. */
typedef struct eph_provider eph_provider;

/* What the host needs to know about a provider. All zero is a valid answer. */
typedef struct eph_provider_info {
  uint64_t struct_size;
  /* How many calls of `compute` on this provider's computations may overlap, whichever sessions and
   * computations they belong to; each has a state of its own. A call counts until it returns. 0
   * counts as 1, and UINT32_MAX means any number. */
  uint32_t max_concurrent;
  /* How many streams of computations (ext/device.h) of one run the provider gains from, for each of
   * its devices: independent steps may then overlap. 0 counts as 1; the host may use fewer. */
  uint32_t compute_streams;
} eph_provider_info;

typedef struct eph_provider_api eph_provider_api;

/* What a plugin offers under one provider name. Functions that need no provider take the table that
 * they are called through as `self`, so that one function can serve several tables. */
struct eph_provider_api {
  uint64_t struct_size;

  /* Constant, and equal to the manifest's `provider`, `name` and `vendor`. */
  eph_string type_name; /* e.g. "DnnlExecutionProvider" */
  eph_string name;      /* e.g. "dnnl" */
  eph_string vendor;

  /* Lists the devices that this machine currently has for the provider, possibly none. Must not
   * keep a device open. [required] [any] */
  int32_t (*get_devices)(const eph_provider_api* self, const eph_host* host, eph_device_list* list,
                         eph_error* error) EPH_NOEXCEPT;

  /* Makes a provider; others of this plugin may be created, used and destroyed at the same time.
   * [required] [any] */
  int32_t (*create)(const eph_provider_api* self, const eph_host* host,
                    const eph_provider_config* config, eph_provider** out_provider,
                    eph_error* error) EPH_NOEXCEPT;

  /* All its computations have been destroyed by then. [required] [any] */
  void (*destroy)(eph_provider* provider) EPH_NOEXCEPT;

  /* Claims nodes of the graph. Null: the host claims every node that a kernel of the list matches.
   * [optional] [owner] */
  int32_t (*get_capability)(eph_provider* provider, const eph_graph* graph, eph_claims* claims,
                            eph_error* error) EPH_NOEXCEPT;

  /* The kernel list; lives as long as the provider. Null: the provider has no kernels. [optional]
   * [owner] */
  int32_t (*get_kernels)(eph_provider* provider, const eph_kernel_def** out_kernels,
                         uint64_t* out_count, eph_error* error) EPH_NOEXCEPT;

  /* Makes the kernel for one node of `graph`. The host also calls it to fold constants. Required if
   * get_kernels is set. [optional] [owner] */
  int32_t (*create_kernel)(eph_provider* provider, const eph_graph* graph, uint32_t node,
                           eph_computation** out_computation, eph_error* error) EPH_NOEXCEPT;

  /* Compiles `count` partitions in one call. partitions: array with `stride` bytes from one record
   * to the next. out_computations: array of `count` nulls. After a failure the host destroys those
   * that are set, and may retry the partitions one by one. Null: the provider has kernels only.
   * [optional] [owner] */
  int32_t (*compile)(eph_provider* provider, const eph_partition* partitions, uint64_t stride,
                     uint64_t count, eph_computation** out_computations,
                     eph_error* error) EPH_NOEXCEPT;

  /* Writes the context cache for all computations that `compile` made from graphs for one model, or
   * for a group of models (ext/shared_contexts.h). Null: the provider's partitions cannot be
   * cached. [optional] [owner] */
  int32_t (*get_ep_context_nodes)(eph_provider* provider, eph_computation* const* computations,
                                  uint64_t count, eph_context_writer* writer,
                                  eph_error* error) EPH_NOEXCEPT;

  /* What a context written now depends on (SDK, driver, device, and anything else that the provider
   * reads besides the model and the options), as text that `validate` can judge without the
   * payload. A host may reuse contexts as long as the text stays the same. It lives as long as the
   * provider. Both slots or neither. [optional] [owner] */
  int32_t (*get_compatibility)(eph_provider* provider, eph_string* out_text,
                               eph_error* error) EPH_NOEXCEPT;

  /* Judges the compatibility text of a payload for a device that get_devices or list_targets
   * listed, without a provider, the payload, or opening the device. *out_verdict:
   * EPH_COMPATIBILITY_*. [optional] [any] */
  int32_t (*validate)(const eph_provider_api* self, const eph_host* host, const eph_device* device,
                      eph_string text, int32_t* out_verdict, eph_error* error) EPH_NOEXCEPT;

  /* Lists the devices that the provider can compile for without having them. Null: it compiles for
   * devices that are present only. [optional] [any] */
  int32_t (*list_targets)(const eph_provider_api* self, const eph_host* host, eph_device_list* list,
                          eph_error* error) EPH_NOEXCEPT;

  /* Fills the fields of *out that the plugin knows, as describe of eph_computation_api does. Called
   * once, after `create`. Null: all zero. [optional] [owner] */
  int32_t (*describe)(eph_provider* provider, eph_provider_info* out,
                      eph_error* error) EPH_NOEXCEPT;

  /* The table of an optional interface (the headers in ext/) for a provider, or null. [optional]
   * [any] */
  const void* (*get_provider_extension)(eph_provider* provider, eph_string id)EPH_NOEXCEPT;

  /* The same for an interface that needs no provider, such as ext/device.h. The table lives as long
   * as this one. [optional] [any] */
  const void* (*get_extension)(const eph_provider_api* self, eph_string id)EPH_NOEXCEPT;
};

/* ------------------------------------------------------------------------------------------------
 * The entry point
 * --------------------------------------------------------------------------------------------- */

typedef struct eph_plugin_api eph_plugin_api;

/* What a plugin offers at one minor version of the interface. Lives as long as the library is
 * loaded. */
struct eph_plugin_api {
  uint64_t struct_size;
  const eph_provider_api* const* providers;
  uint64_t provider_count; /* at least 1; may be 0 where it offers a layer (ext/layer.h) */

  /* The table of an optional interface of the plugin as a whole, such as ext/operators.h, or null.
   * [optional] [any] */
  const void* (*get_extension)(const eph_plugin_api* self, eph_string id)EPH_NOEXCEPT;
};

/* What the host says when it asks for a plugin's tables. */
typedef struct eph_load_info {
  uint64_t struct_size;
  eph_string directory; /* of the manifest: an absolute path, where a plugin finds its own files */
  uint32_t minor;       /* the minor version of the interface that both sides support */
  uint32_t reserved;    /* zero */
} eph_load_info;

/* Bits of eph_plugin_preamble.build_flags. A plugin that was built with a sanitizer needs a host
 * with the same one; a plugin without sanitizers works under every host. */
enum {
  EPH_BUILD_ADDRESS_SANITIZER = 1 << 0,
  EPH_BUILD_THREAD_SANITIZER = 1 << 1,
  EPH_BUILD_MEMORY_SANITIZER = 1 << 2
};

/* Flags of eph_plugin_preamble. */
enum {
  /* The library must stay loaded until the process ends, e.g. because a driver that it uses leaves
   * threads or handlers behind. The host then never unloads it, whatever becomes of the plugin. */
  EPH_PLUGIN_STAYS_LOADED = 1 << 0
};

/* The first record that the two sides exchange: constant data and one pure function. */
typedef struct eph_plugin_preamble {
  uint64_t struct_size;
  uint32_t abi_minor_min; /* lowest and highest minor version that the plugin supports */
  uint32_t abi_minor_max;
  eph_string id;        /* reverse domain name, e.g. "com.vendor.plugin" */
  eph_string version;   /* of the plugin, as in the manifest: "major.minor.patch" */
  uint64_t build_flags; /* EPH_BUILD_FLAGS of the plugin's own build */
  uint64_t flags;
  /* The plugin's table for info->minor; null for a minor version that it does not support. The same
   * `info` gives the same table. [required] [load] */
  const eph_plugin_api* (*get_api)(const eph_load_info* info)EPH_NOEXCEPT;
} eph_plugin_preamble;

/* The exported function. Pure and repeatable: it opens no device, starts no thread, and returns the
 * same constant each time. [load] */
typedef const eph_plugin_preamble* (*eph_plugin_v1_function)(void);
EPH_EXPORT const eph_plugin_preamble* eph_plugin_v1(void);

#define EPH_PLUGIN_SYMBOL "eph_plugin_v1"

/* The build flags of the code that is being compiled. */
#if defined(__SANITIZE_ADDRESS__)
#define EPH_BUILD_HAS_ASAN EPH_BUILD_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EPH_BUILD_HAS_ASAN EPH_BUILD_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EPH_BUILD_HAS_TSAN EPH_BUILD_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EPH_BUILD_HAS_TSAN EPH_BUILD_THREAD_SANITIZER
#endif
#endif
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define EPH_BUILD_HAS_MSAN EPH_BUILD_MEMORY_SANITIZER
#endif
#endif
#ifndef EPH_BUILD_HAS_ASAN
#define EPH_BUILD_HAS_ASAN 0
#endif
#ifndef EPH_BUILD_HAS_TSAN
#define EPH_BUILD_HAS_TSAN 0
#endif
#ifndef EPH_BUILD_HAS_MSAN
#define EPH_BUILD_HAS_MSAN 0
#endif
#define EPH_BUILD_FLAGS (EPH_BUILD_HAS_ASAN | EPH_BUILD_HAS_TSAN | EPH_BUILD_HAS_MSAN)

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_PLUGIN_ABI_H_ */
