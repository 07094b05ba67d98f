// The configuration entries of SessionOptions, checked and typed. config/config_entries.cc lists
// every entry with its meaning and default, and says which are ONNX Runtime's and which our own.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/threads/thread_affinity.h"
#include "host/context/store/cache_store.h"
#include "host/layers/trace/trace.h"
#include "host/layers/validate/validate_options.h"
#include "host/manifest/isolation.h"
#include "host/onnx_io/overrides/dimension_overrides.h"
#include "host/optimize/fold_budget.h"
#include "host/optimize/passes.h"
#include "host/session/config/given_options.h"
#include "host/session/config/on_crash.h"
#include "host/session/config/profile_text.h"
#include "host/trust/quarantine_policy.h"
#include "host/worker/tables/isolation.h"

namespace ephost::session {

enum class StepOrder : uint8_t {
  kAutomatic,  // the default: as kMemory, without the slow search
  kDefault,    // the model's order
  kPriority,   // by metadata "ephost.priority.NODE": the lowest ready node runs first
  kMemory,     // the order that needs the least memory for intermediate values
};

// When a model with open extents is specialised for the shapes of its runs.
enum class SpecializeMode : uint8_t {
  kInRun,       // by the run that needs it
  kBackground,  // by a thread in the background; until then, runs do without it
  kOff,         // never
};

// Files and folders that the user lets plugins use in a sandbox; absolute, and there when they were
// stated.
struct GrantedFiles {
  std::vector<std::filesystem::path> all;
  // By type name or short name.
  std::map<std::string, std::vector<std::filesystem::path>> of_providers = {};
};

// Where plugins run, and what they may take there.
struct IsolationConfig {
  manifest::Isolation level = manifest::Isolation::kNone;  // session.isolation
  // session.isolation.PROVIDER, by type name or short name
  std::map<std::string, manifest::Isolation> of_providers = {};
  worker::CallLimits calls;  // session.isolation.{probe,compile,run}_limit
  worker::Limits limits;     // session.isolation.{memory,cpu_seconds,open_files,...}
  GrantedFiles readable;     // session.sandbox.readable, session.sandbox.readable.PROVIDER
  GrantedFiles writable;     // session.sandbox.writable, session.sandbox.writable.PROVIDER
};

struct SessionConfig {
  bool context_enable = false;                             // ep.context_enable
  std::filesystem::path context_file_path;                 // ep.context_file_path
  bool context_embed_mode = false;                         // ep.context_embed_mode
  bool context_force_overwrite = false;                    // ep.context_force_overwrite
  std::chrono::milliseconds context_lock_timeout{10'000};  // ep.context_lock_timeout_ms
  std::string context_node_name_prefix;                    // ep.context_node_name_prefix
  std::string
      context_external_initializers_file;     // ep.context_model_external_initializers_file_name
  bool share_contexts = false;                // ep.share_ep_contexts
  bool stop_share_contexts = false;           // ep.stop_share_ep_contexts
  std::string share_contexts_group;           // ep.share_ep_contexts_group
  std::filesystem::path cache_dir;            // ep.cache_dir
  context::CacheLimits cache_limits;          // ep.cache_max_bytes, ep.cache_max_age_days
  std::filesystem::path known_checksums_dir;  // ep.known_checksums_dir
  std::optional<bool> require_checksums;      // ep.require_checksums
  std::filesystem::path external_initializers_folder;  // session.model_external_initializers_...
  std::filesystem::path optimized_model_file_path;     // session.optimized_model_file_path
  // session.optimized_model_external_initializers_file_name, ..._min_size_in_bytes
  std::string optimized_model_external_initializers_file;
  uint64_t optimized_model_external_initializers_min_bytes = 1024;
  // session.free_dimension_override_by_{name,denotation,input}.*
  onnx_io::DimensionOverrides dimension_overrides;
  SpecializeMode specialize = SpecializeMode::kInRun;         // session.shapes.specialize
  uint64_t runs_before = 1;                                   // session.shapes.runs_before
  uint64_t max_specializations = 4;                           // session.shapes.max_specializations
  std::vector<NamedProfile> shape_profiles;                   // session.shapes.profiles
  ExecutionMode execution_mode = ExecutionMode::kSequential;  // session.execution_mode
  uint32_t inter_op_threads = 0;                              // session.inter_op_num_threads
  uint32_t intra_op_threads = 0;                              // session.intra_op_num_threads
  std::vector<Processors> thread_affinities;                  // session.intra_op_thread_affinities
  std::optional<bool> allow_spinning;                         // session.intra_op.allow_spinning
  std::filesystem::path profile_file;                         // session.profile_file
  // session.layers, the one nearest to the host first; nothing: as EPHOST_LAYERS says
  std::optional<std::vector<std::string>> layers;
  // session.layers.PROVIDER, in place of the above
  std::map<std::string, std::vector<std::string>> provider_layers;
  IsolationConfig isolation;                                      // session.isolation*
  OnCrashConfig on_crash;                                         // session.on_crash*
  std::filesystem::path trace_file;                               // session.trace.file
  layers::TraceFormat trace_format = layers::TraceFormat::kText;  // session.trace.format
  layers::ValidateOptions validate;                               // session.validate.*
  bool validate_results = false;                                  // session.validate.results
  SignaturePolicy signatures = SignaturePolicy::kOff;             // session.signatures
  trust::QuarantinePolicy quarantine{.failures = 0};              // session.quarantine
  bool trace_until_crash = false;                                 // session.trace.until_crash
  bool trace_graph_reads = false;                                 // session.trace.graph_reads
  StepOrder execution_order = StepOrder::kAutomatic;              // session.execution_order
  uint64_t max_memory_patterns = 16;                              // session.max_memory_patterns
  bool captures_streams = true;                                   // session.capture
  uint64_t device_memory_limit = 0;                               // session.device_memory_limit
  // session.native_queue.PROVIDER, by type name or short name
  std::map<std::string, uint64_t> native_queues;
  uint32_t load_timeout_seconds = 0;               // session.load_timeout_seconds
  uint64_t max_inlined_nodes = uint64_t{1} << 20;  // session.function_inlining_max_nodes
  uint64_t max_dense_bytes = uint64_t{1} << 30;    // session.sparse_initializers_max_bytes
  bool disable_cpu_fallback = false;               // session.disable_cpu_ep_fallback
  bool disable_ep_fallback = false;                // session.disable_ep_fallback
  std::string nan;                                 // session.nan; empty: as each provider has it
  bool disable_model_compile = false;              // session.disable_model_compile
  bool disable_quant_qdq = false;                  // session.disable_quant_qdq
  optimize::PassSelection passes;                  // session.graph_optimization_level,
                                                   // optimization.disable_specified_optimizers
  // optimization.constant_folding_max_bytes, optimization.constant_folding_max_work
  optimize::FoldLimits fold_limits;
  bool fail_on_suboptimal_context = false;  // session.fail_on_suboptimal_compiled_model
};

// The keys of dimension overrides are these and the name or denotation of the dimension, or the
// name of the input, whose value is a list such as "1,?,224".
inline constexpr std::string_view kDimensionByNamePrefix =
    "session.free_dimension_override_by_name.";
inline constexpr std::string_view kDimensionByDenotationPrefix =
    "session.free_dimension_override_by_denotation.";
inline constexpr std::string_view kDimensionByInputPrefix =
    "session.free_dimension_override_by_input.";
// The key of a provider's layers is this and the provider's name.
inline constexpr std::string_view kLayersPrefix = "session.layers.";
// The key of a queue of the application is this and the provider's name.
inline constexpr std::string_view kNativeQueuePrefix = "session.native_queue.";
// The key of a provider's isolation is this and the provider's name.
inline constexpr std::string_view kIsolationPrefix = "session.isolation.";
// The keys of files that a provider may use in a sandbox are these and the provider's name.
inline constexpr std::string_view kReadablePrefix = "session.sandbox.readable.";
inline constexpr std::string_view kWritablePrefix = "session.sandbox.writable.";
// The key of what follows from the end of a provider's worker is this and the provider's name.
inline constexpr std::string_view kOnCrashPrefix = "session.on_crash.";
inline constexpr std::string_view kShapeProfilesKey = "session.shapes.profiles";
inline constexpr std::string_view kOptimizationLevelKey = "session.graph_optimization_level";
inline constexpr std::string_view kDisabledOptimizersKey =
    "optimization.disable_specified_optimizers";

// Names separated by `;`.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);

// INVALID_ARGUMENT if there is not one group for each of `threads` threads but the calling one; 0:
// the number is not stated, and may be any.
[[nodiscard]] Status check_affinities(const std::vector<Processors>& affinities, uint32_t threads);

// INVALID_ARGUMENT for a value that its key does not admit. An unknown key has no effect, as in
// ONNX Runtime; `warnings` names it, with the most similar known key.
[[nodiscard]] Result<SessionConfig> read_session_config(const GivenOptions& options,
                                                        std::vector<std::string>& warnings);
// What a session is asked for, read once, however many models are made for it.
struct SessionSettings {
  SessionSettings(GivenOptions given, SessionConfig entries, std::vector<std::string> remarks)
      : options(std::move(given)), config(std::move(entries)), warnings(std::move(remarks)) {}
  // Fails as read_session_config does.
  [[nodiscard]] static Result<SessionSettings> read(const GivenOptions& options);

  GivenOptions options;               // what they state beside the entries counts
  SessionConfig config;               // the entries
  std::vector<std::string> warnings;  // about the entries
};

// The same of entries without a session, for tools that load plugins as one with them would;
// without the warnings, which are the session's.
[[nodiscard]] Result<SessionConfig> read_session_config(const OptionList& entries);

}  // namespace ephost::session
