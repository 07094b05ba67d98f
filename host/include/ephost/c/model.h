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

/* PartitionedNode (<ephost/types/partitioning.h>). */
typedef struct ephost_partitioned_node {
  uint64_t struct_size;
  uint32_t id;
  int32_t since_version;
  const char* name;
  const char* op;
  const char* description;
  const char* provider;
  const char* partition;
  const uint32_t* refusals;
  uint64_t refusal_count;
  const uint32_t* successors;
  uint64_t successor_count;
} ephost_partitioned_node;

/* PartitionReport (<ephost/types/partitioning.h>). */
typedef struct ephost_partition {
  uint64_t struct_size;
  const char* name;
  const char* provider;
  const uint32_t* nodes;
  uint64_t node_count;
  const char* const* inputs;
  uint64_t input_count;
  const char* const* outputs;
  uint64_t output_count;
} ephost_partition;

/* PartitioningSummary (<ephost/types/partitioning.h>). */
typedef struct ephost_partitioning_summary {
  uint64_t struct_size;
  const char* provider;
  uint64_t kernel_nodes;
  uint64_t fused_nodes;
  uint64_t partitions;
  uint64_t refused_claims;
} ephost_partitioning_summary;

/* RefusedClaim (<ephost/types/partitioning.h>). */
typedef struct ephost_refused_claim {
  uint64_t struct_size;
  const char* provider;
  const uint32_t* nodes;
  uint64_t node_count;
  int32_t fused;
  int32_t reserved;
  const char* reason;
} ephost_refused_claim;

/* DeclinedNode (<ephost/types/partitioning.h>). */
typedef struct ephost_declined_node {
  uint64_t struct_size;
  const char* provider;
  uint32_t node;
  uint32_t reserved;
  const char* reason;
} ephost_declined_node;

/* GraphPartitioning (<ephost/types/partitioning.h>). */
typedef struct ephost_graph_partitioning {
  uint64_t struct_size;
  const char* path;
  const char* name;
  const ephost_partitioning_summary* const* providers;
  uint64_t provider_count;
  const ephost_partitioned_node* const* nodes;
  uint64_t node_count;
  const ephost_partition* const* partitions;
  uint64_t partition_count;
  const ephost_refused_claim* const* refused_claims;
  uint64_t refused_claim_count;
  const ephost_declined_node* const* declined_nodes;
  uint64_t declined_node_count;
  uint64_t unassigned_nodes;
} ephost_graph_partitioning;

/* InlinedFunction (<ephost/types/partitioning.h>). */
typedef struct ephost_inlined_function {
  uint64_t struct_size;
  const char* path;
  const char* call;
  const char* domain;
  uint64_t nodes;
} ephost_inlined_function;

/* PluginOperator (<ephost/types/partitioning.h>). */
typedef struct ephost_plugin_operator {
  uint64_t struct_size;
  const char* op_type;
  const char* domain;
  int32_t since_version;
  int32_t reserved;
  const char* provider;
  uint64_t nodes;
} ephost_plugin_operator;

/* Report: ModelPartitioning (<ephost/types/partitioning.h>). */
typedef struct ephost_model_partitioning {
  uint64_t struct_size;
  const ephost_graph_partitioning* const* graphs;
  uint64_t graph_count;
  int32_t is_context_model;
  int32_t reserved;
  uint64_t folded_nodes;
  uint64_t removed_identities;
  const ephost_inlined_function* const* inlined;
  uint64_t inlined_count;
  const ephost_plugin_operator* const* plugin_operators;
  uint64_t plugin_operator_count;
  const char* const* notes;
  uint64_t note_count;
  ephost_failure coverage; /* EPHOST_OK if every node has a provider; else the session's error */
} ephost_model_partitioning;

/* PartitionStage (<ephost/types/partitioning.h>). */
enum { EPHOST_PARTITION_CLAIMS = 0, EPHOST_PARTITION_COMPILATION = 1 };

/* PlannedStep (<ephost/types/plan.h>). */
typedef struct ephost_planned_step {
  uint64_t struct_size;
  uint32_t provider;
  uint32_t node;
  const char* name;
  const char* op;
  const char* description;
  const char* partition;
  const char* const* inputs;
  uint64_t input_count;
  const char* const* outputs;
  uint64_t output_count;
  uint64_t workspace_bytes;
  uint64_t constant_bytes;
  uint64_t inner_values;
  uint64_t inner_bytes;
  uint64_t inner_live_bytes;
  const char* stream;
  const uint32_t* waits;
  uint64_t wait_count;
  const uint32_t* host_waits;
  uint64_t host_wait_count;
} ephost_planned_step;

/* PlannedValue (<ephost/types/plan.h>). */
typedef struct ephost_planned_value {
  uint64_t struct_size;
  const char* name;
  const char* type;
  const char* kind;
  const char* buffer;
  uint32_t location; /* 0: host memory; others as in ephost_planned_block */
  uint32_t first_step;
  uint32_t last_step;
  uint32_t use_count;
  int32_t owns_buffer;
  int32_t is_allocated_by_runs;
  uint64_t bytes; /* EPHOST_UNKNOWN before the run */
  uint64_t buffer_bytes;
  uint64_t offset;
} ephost_planned_value;

/* PlannedBuffer (<ephost/types/plan.h>). */
typedef struct ephost_planned_buffer {
  uint64_t struct_size;
  uint32_t location;
  uint32_t first_step;
  uint32_t last_step;
  int32_t is_workspace;
  uint64_t bytes;
  uint64_t offset;
} ephost_planned_buffer;

/* PlannedBlock (<ephost/types/plan.h>). */
typedef struct ephost_planned_block {
  uint64_t struct_size;
  uint32_t location;
  int32_t proved_optimal;
  const char* memory;
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes;
  uint64_t alignment;
} ephost_planned_block;

/* GraphPlan (<ephost/types/plan.h>). */
typedef struct ephost_graph_plan {
  uint64_t struct_size;
  const char* path;
  const char* name;
  const char* const* providers;
  uint64_t provider_count;
  const ephost_planned_step* const* steps;
  uint64_t step_count;
  const ephost_planned_value* const* values;
  uint64_t value_count;
  const ephost_planned_buffer* const* buffers;
  uint64_t buffer_count;
  const ephost_planned_block* const* blocks;
  uint64_t block_count;
  const char* order_rule;
  uint64_t order_bytes;
  uint64_t given_order_bytes;
} ephost_graph_plan;

/* Report: what plan_model returns. */
typedef struct ephost_model_plan {
  uint64_t struct_size;
  const ephost_graph_plan* const* graphs;
  uint64_t graph_count;
} ephost_model_plan;

/* VerifyContextOptions::Providers. */
enum { EPHOST_VERIFY_ASK = 0, EPHOST_VERIFY_FIND = 1, EPHOST_VERIFY_IGNORE = 2 };

/* VerifyContextOptions (<ephost/types/context_report.h>). */
typedef struct ephost_verify_options {
  uint64_t struct_size;
  int32_t skip_checksums;                         /* 1: `compare_checksums` is false */
  int32_t providers;                              /* EPHOST_VERIFY_* */
  const char* device;                             /* may be null */
  const ephost_provider_request* const* requests; /* if `requested_only` is 1 */
  uint64_t request_count;
  int32_t requested_only;
  int32_t reserved;
  const ephost_key_value* session_entries;
  uint64_t session_entry_count;
} ephost_verify_options;

/* ContextNodeReport (<ephost/types/context_report.h>). */
typedef struct ephost_context_node {
  uint64_t struct_size;
  const char* description;
  const char* partition_name;
  const char* source;
  int32_t main_context;
  int32_t embedded;
  const char* primary;
  const char* file;
  uint64_t payload_bytes; /* EPHOST_UNKNOWN */
  const char* checksum;
  const char* sdk_version;
  const char* hardware_architecture;
} ephost_context_node;

/* ContextSourceReport (<ephost/types/context_report.h>). */
typedef struct ephost_context_source {
  uint64_t struct_size;
  const char* source;
  const char* compatibility;
  const char* provider;
  const char* verdict;
} ephost_context_source;

/* Report: ContextReport (<ephost/types/context_report.h>). */
typedef struct ephost_context_report {
  uint64_t struct_size;
  const ephost_context_node* const* nodes;
  uint64_t node_count;
  const ephost_context_source* const* sources; /* none with EPHOST_VERIFY_IGNORE */
  uint64_t source_count;
  const char* const* problems;
  uint64_t problem_count;
  const char* const* unchecked;
  uint64_t unchecked_count;
  int32_t needs_checksums;
  int32_t reserved;
  const char* signature;
  const char* signature_problem;
  const char* const* files;
  uint64_t file_count;
  const char* const* specialized_models;
  uint64_t specialized_model_count;
} ephost_context_report;

typedef struct ephost_model_api {
  uint64_t struct_size;
  /* compile_model. `out_report` may be null. */
  ephost_status* (*compile)(const ephost_environment* environment,
                            const ephost_session_options* options,
                            const ephost_compilation* compilation,
                            const ephost_compile_report** out_report);
  /* default_context_model_path; released with release_text. */
  ephost_status* (*default_context_path)(const char* model_path, char** out_path);

  /* partition_model, with one of EPHOST_PARTITION_*. */
  ephost_status* (*partition)(const ephost_environment* environment, const char* model_path,
                              const ephost_session_options* options, int32_t stage,
                              const ephost_model_partitioning** out_report);
  /* plan_model. */
  ephost_status* (*plan)(const ephost_environment* environment, const char* model_path,
                         const ephost_session_options* options,
                         const ephost_model_plan** out_report);
  /* verify_context. `options` may be null. */
  ephost_status* (*verify_context)(const ephost_environment* environment, const char* model_path,
                                   const ephost_verify_options* options,
                                   const ephost_context_report** out_report);
} ephost_model_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_MODEL_H_ */
