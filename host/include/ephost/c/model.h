/* Reports on models, i.e. partitions, plans and contexts: the table ephost_model_api. */
#ifndef EPHOST_C_MODEL_H_
#define EPHOST_C_MODEL_H_

#include <ephost/c/base.h>
#include <ephost/c/compilation.h>
#include <ephost/c/environment.h>
#include <ephost/c/session_options.h>
#include <ephost/c/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  /* The external files that the model uses, and the specialised models that it lists, by the names
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_MODEL_H_ */
