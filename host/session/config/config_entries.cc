#include "host/session/config/config_entries.h"

#include <array>

#include "host/base/text.h"
#include "host/onnx_io/import/import.h"
#include "host/optimize/fold_budget.h"
#include "host/session/config/config_setters.h"

namespace ephost::session {
namespace {

constexpr bool kOwn = true;
constexpr bool kOnnxRuntime = false;

// Headings of host/include/README.md.
constexpr std::string_view kContextModels = "Writing and loading context models";
constexpr std::string_view kSharing = "Sharing contexts between sessions";
constexpr std::string_view kCacheStore = "The cache store";
constexpr std::string_view kOptimization = "Optimization";
constexpr std::string_view kDimensions = "Free dimensions";
constexpr std::string_view kLimits = "Limits on session creation";
constexpr std::string_view kProviders = "Providers and fallback";
constexpr std::string_view kOrder = "Order and memory";
constexpr std::string_view kThreads = "Threads and time";
constexpr std::string_view kLayers = "Layers";
constexpr std::string_view kTrust = "Trust";
constexpr std::string_view kRuns = "Runs";
constexpr std::string_view kVariables = "Environment variables";

constexpr std::string_view kFlag = "0 or 1";
constexpr std::string_view kNumber = "whole number";
constexpr std::string_view kSeconds = "seconds, such as 30 or 0.5";
constexpr std::string_view kPath = "path";

constexpr std::array kEntries = {
    KnownEntry{"ep.context_enable", ConfigScope::kSession, kContextModels, kFlag, "0",
               "the session writes the context model of what it compiled", kOnnxRuntime,
               &setters::flag<&SessionConfig::context_enable>},
    KnownEntry{"ep.context_file_path", ConfigScope::kSession, kContextModels, kPath,
               "[model]_ctx.onnx",
               "the context model; for one in memory, names the binaries' folder", kOnnxRuntime,
               &setters::text<&SessionConfig::context_file_path>},
    KnownEntry{"ep.context_embed_mode", ConfigScope::kSession, kContextModels, kFlag, "0",
               "payloads inside the model instead of in binaries beside it", kOnnxRuntime,
               &setters::flag<&SessionConfig::context_embed_mode>},
    KnownEntry{"ep.context_force_overwrite", ConfigScope::kSession, kContextModels, kFlag, "0",
               "replace existing files whatever they contain, but no file that is read", kOwn,
               &setters::flag<&SessionConfig::context_force_overwrite>},
    KnownEntry{"ep.context_lock_timeout_ms", ConfigScope::kSession, kContextModels, kNumber,
               "10000", "how long to wait for a lock of another process; 0: do not wait", kOwn,
               &setters::lock_timeout},
    KnownEntry{"ep.context_node_name_prefix", ConfigScope::kSession, kContextModels, "text",
               "empty", "prefix of the names of EPContext nodes", kOnnxRuntime,
               &setters::text<&SessionConfig::context_node_name_prefix>},
    KnownEntry{"ep.context_model_external_initializers_file_name", ConfigScope::kSession,
               kContextModels, "file name", "empty",
               "file beside the model for the remaining initializers", kOnnxRuntime,
               &setters::text<&SessionConfig::context_external_initializers_file>},
    KnownEntry{"session.model_external_initializers_file_folder_path", ConfigScope::kSession,
               kContextModels, kPath, "empty",
               "folder of the external data, instead of the model's", kOnnxRuntime,
               &setters::text<&SessionConfig::external_initializers_folder>},
    KnownEntry{"ep.require_checksums", ConfigScope::kSession, kContextModels, kFlag,
               "by the model's writer", "refuse (1) or only warn about (0) what has no checksum",
               kOwn, &setters::require_checksums},
    KnownEntry{"ep.known_checksums_dir", ConfigScope::kSession, kContextModels, kPath,
               "in $XDG_RUNTIME_DIR", "folder of the records of known checksums; empty: keep none",
               kOwn, &setters::text<&SessionConfig::known_checksums_dir>},
    KnownEntry{"session.fail_on_suboptimal_compiled_model", ConfigScope::kSession, kContextModels,
               kFlag, "0", "refuse a context that its provider would rather recompile",
               kOnnxRuntime, &setters::flag<&SessionConfig::fail_on_suboptimal_context>},
    KnownEntry{"session.disable_model_compile", ConfigScope::kSession, kContextModels, kFlag, "0",
               "refuse a model that needs compilation (MODEL_REQUIRES_COMPILATION)", kOnnxRuntime,
               &setters::flag<&SessionConfig::disable_model_compile>},
    KnownEntry{"ep.share_ep_contexts", ConfigScope::kSession, kSharing, kFlag, "0",
               "the session belongs to a group, which loads each binary once", kOnnxRuntime,
               &setters::flag<&SessionConfig::share_contexts>},
    KnownEntry{"ep.stop_share_ep_contexts", ConfigScope::kSession, kSharing, kFlag, "0",
               "this session is the last of its group; when generating, it writes all models",
               kOnnxRuntime, &setters::flag<&SessionConfig::stop_share_contexts>},
    KnownEntry{"ep.share_ep_contexts_group", ConfigScope::kSession, kSharing, "text", "empty",
               "name of the group, for several groups in an environment", kOwn,
               &setters::text<&SessionConfig::share_contexts_group>},
    KnownEntry{"ep.cache_dir", ConfigScope::kSession, kCacheStore, kPath, "none",
               "folder of the cache store; no store without it", kOwn,
               &setters::text<&SessionConfig::cache_dir>},
    KnownEntry{"ep.cache_max_bytes", ConfigScope::kSession, kCacheStore, kNumber, "10737418240",
               "limit of the store (10 GiB)", kOwn,
               &setters::limit<&context::CacheLimits::max_bytes>},
    KnownEntry{"ep.cache_max_age_days", ConfigScope::kSession, kCacheStore, kNumber, "90",
               "entries that were not used for longer are removed", kOwn,
               &setters::limit<&context::CacheLimits::max_age_days>},
    KnownEntry{kOptimizationLevelKey, ConfigScope::kSession, kOptimization,
               "disable_all, basic, extended or all", "all",
               "which passes run: disable_all, basic, extended or all", kOwn, &setters::read_later},
    KnownEntry{kDisabledOptimizersKey, ConfigScope::kSession, kOptimization, "names of passes",
               "empty", "passes to leave out, separated by ;", kOnnxRuntime, &setters::read_later},
    KnownEntry{"session.optimized_model_file_path", ConfigScope::kSession, kOptimization, kPath,
               "none", "save the optimized model to this file", kOwn,
               &setters::text<&SessionConfig::optimized_model_file_path>},
    KnownEntry{"session.optimized_model_external_initializers_file_name", ConfigScope::kSession,
               kOptimization, "file name", "empty", "file beside it for its initializers",
               kOnnxRuntime,
               &setters::text<&SessionConfig::optimized_model_external_initializers_file>},
    KnownEntry{"session.optimized_model_external_initializers_min_size_in_bytes",
               ConfigScope::kSession, kOptimization, kNumber, "1024",
               "smaller ones stay in the model", kOnnxRuntime, &setters::min_external_bytes},
    KnownEntry{"session.disable_quant_qdq", ConfigScope::kSession, kOptimization, kFlag, "0",
               "treat QuantizeLinear and DequantizeLinear like any other node", kOnnxRuntime,
               &setters::flag<&SessionConfig::disable_quant_qdq>},
    KnownEntry{"session.free_dimension_override_by_name.NAME", ConfigScope::kSession, kDimensions,
               kNumber, "none", "the size of the dimensions with this name", kOwn, nullptr},
    KnownEntry{"session.free_dimension_override_by_denotation.DENOTATION", ConfigScope::kSession,
               kDimensions, kNumber, "none", "of the inputs' dimensions with it", kOwn, nullptr},
    KnownEntry{"session.free_dimension_override_by_input.NAME", ConfigScope::kSession, kDimensions,
               "sizes", "none", "of all dimensions of this input, e.g. 1,?,224", kOwn, nullptr},
    KnownEntry{optimize::kMaxFoldedBytesKey, ConfigScope::kSession, kLimits, kNumber, "1073741824",
               "growth of all constants together by folding (1 GiB)", kOwn,
               &setters::fold_limit<&optimize::FoldLimits::max_bytes>},
    KnownEntry{optimize::kMaxFoldingWorkKey, ConfigScope::kSession, kLimits, kNumber, "10000000000",
               "work of folding, in elements or multiplications", kOwn,
               &setters::fold_limit<&optimize::FoldLimits::max_work>},
    KnownEntry{"session.function_inlining_max_nodes", ConfigScope::kSession, kLimits, kNumber,
               "1048576", "nodes and values that functions may add to the model", kOwn,
               &setters::budget<&SessionConfig::max_inlined_nodes>},
    KnownEntry{onnx_io::kMaxDenseBytesKey, ConfigScope::kSession, kLimits, kNumber, "1073741824",
               "dense forms of sparse initializers; of inputs (1 GiB)", kOwn,
               &setters::budget<&SessionConfig::max_dense_bytes>},
    KnownEntry{"session.load_timeout_seconds", ConfigScope::kSession, kLimits, kNumber, "0",
               "time for creating a session or compiling a model", kOwn, &setters::timeout},
    KnownEntry{"session.disable_ep_fallback", ConfigScope::kSession, kProviders, kFlag, "0",
               "a provider that fails to compile or load what it claimed is an error", kOwn,
               &setters::flag<&SessionConfig::disable_ep_fallback>},
    KnownEntry{"session.disable_cpu_ep_fallback", ConfigScope::kSession, kProviders, kFlag, "0",
               "a node that would run on the CPU provider is an error", kOnnxRuntime,
               &setters::flag<&SessionConfig::disable_cpu_fallback>},
    KnownEntry{"session.nan", ConfigScope::kSession, kProviders, "propagate or library",
               "propagate", "NaN comes out as ONNX says (propagate), or a library may lose it",
               kOwn, &setters::nan},
    KnownEntry{"session.execution_order", ConfigScope::kSession, kOrder,
               "default, priority or memory", "chosen for the model",
               "the order of the steps: default, priority or memory", kOwn, &setters::order},
    KnownEntry{"session.shapes.specialize", ConfigScope::kSession, kOrder,
               "in_run, background or off", "in_run",
               "when shapes are specialised: in_run, background or off", kOwn,
               &setters::specialize},
    KnownEntry{"session.shapes.runs_before", ConfigScope::kSession, kOrder, kNumber, "1",
               "runs with a shape before it is specialised; 0: the first run does it", kOwn,
               &setters::runs_before},
    KnownEntry{"session.shapes.max_specializations", ConfigScope::kSession, kOrder, "0 to 1024",
               "4", "specialisations that are kept, up to 1024; 0: none", kOwn,
               &setters::max_specializations},
    KnownEntry{kShapeProfilesKey, ConfigScope::kSession, kOrder, "profiles", "none",
               "shapes to specialise at once, e.g. batch=1:8:32", kOwn, &setters::shape_profiles},
    KnownEntry{"session.max_memory_patterns", ConfigScope::kSession, kOrder, kNumber, "16",
               "plans kept for different input shapes; 0: none", kOwn, &setters::patterns},
    KnownEntry{"session.capture", ConfigScope::kSession, kOrder, "auto or off", "auto",
               "steps of a device are captured and launched as one: auto or off", kOwn,
               &setters::capture},
    KnownEntry{"session.device_memory_limit", ConfigScope::kSession, kOrder, kNumber, "0",
               "most bytes of the session in each memory of a device; 0: any number", kOwn,
               &setters::device_memory_limit},
    KnownEntry{"session.native_queue.PROVIDER", ConfigScope::kSession, kOrder, "a number", "none",
               "a queue of the application for computations, e.g. a cudaStream_t", kOwn, nullptr},
    KnownEntry{"session.execution_mode", ConfigScope::kSession, kThreads, "sequential or parallel",
               "sequential", "how steps run: sequential or parallel", kOwn,
               &setters::execution_mode},
    KnownEntry{"session.inter_op_num_threads", ConfigScope::kSession, kThreads, kNumber, "0",
               "most threads for the steps of a run in parallel mode; 0: one per CPU", kOwn,
               &setters::threads<&SessionConfig::inter_op_threads>},
    KnownEntry{"session.intra_op_num_threads", ConfigScope::kSession, kThreads, kNumber, "0",
               "most threads for one step; 0: one per CPU", kOwn,
               &setters::threads<&SessionConfig::intra_op_threads>},
    KnownEntry{"session.intra_op_thread_affinities", ConfigScope::kSession, kThreads,
               "groups of processors", "none",
               "processors of each thread but the calling one, e.g. 1,2;3-4", kOnnxRuntime,
               &setters::affinities},
    KnownEntry{"session.intra_op.allow_spinning", ConfigScope::kSession, kThreads, kFlag, "1",
               "whether idle threads wait actively for some time before they sleep", kOnnxRuntime,
               &setters::allow_spinning},
    KnownEntry{"session.inter_op.allow_spinning", ConfigScope::kSession, kThreads, kFlag, "1",
               "no effect: steps run on the threads of session.intra_op.allow_spinning",
               kOnnxRuntime, &setters::flag_without_effect},
    KnownEntry{"session.profile_file", ConfigScope::kSession, kThreads, kPath, "none",
               "write a Chrome trace to this file", kOwn,
               &setters::text<&SessionConfig::profile_file>},
    KnownEntry{"session.layers", ConfigScope::kSession, kLayers, "names of layers",
               "as EPHOST_LAYERS says",
               "layers over all providers, outermost first, separated by ;", kOwn,
               &setters::layers},
    KnownEntry{"session.layers.PROVIDER", ConfigScope::kSession, kLayers, "names of layers", "none",
               "layers over this provider, in place of those over all", kOwn, nullptr},
    KnownEntry{"session.isolation", ConfigScope::kSession, kLayers, "none, worker or sandbox",
               "none", "where plugins run: in this process, or in workers of their own", kOwn,
               &setters::isolation},
    KnownEntry{"session.isolation.PROVIDER", ConfigScope::kSession, kLayers,
               "none, worker or sandbox", "none",
               "the same for this provider; the stricter of the two counts", kOwn, nullptr},
    KnownEntry{"session.isolation.probe_limit", ConfigScope::kSession, kLayers, kSeconds, "30",
               "most seconds for loading a plugin and for listing devices; 0: any", kOwn,
               &setters::call_limit<&worker::CallLimits::probe>},
    KnownEntry{"session.isolation.compile_limit", ConfigScope::kSession, kLayers, kSeconds, "0",
               "most seconds for another call before a run; 0: any", kOwn,
               &setters::call_limit<&worker::CallLimits::compile>},
    KnownEntry{"session.isolation.run_limit", ConfigScope::kSession, kLayers, kSeconds, "0",
               "most seconds for a step of a run; 0: any", kOwn,
               &setters::call_limit<&worker::CallLimits::run>},
    KnownEntry{"session.isolation.memory", ConfigScope::kSession, kLayers, kNumber, "0",
               "most bytes of a worker's own memory, and of a file it writes; 0: any number", kOwn,
               &setters::worker_limit<&worker::Limits::memory>},
    KnownEntry{"session.isolation.cpu_seconds", ConfigScope::kSession, kLayers, kNumber, "0",
               "most processor time of a worker; 0: any", kOwn,
               &setters::worker_limit<&worker::Limits::cpu_seconds>},
    KnownEntry{"session.isolation.open_files", ConfigScope::kSession, kLayers, kNumber, "0",
               "most files that a worker may have open; 0: as this process", kOwn,
               &setters::worker_limit<&worker::Limits::open_files>},
    KnownEntry{"session.isolation.threads", ConfigScope::kSession, kLayers, kNumber, "0",
               "most threads of a worker; 0: 1024 or more in a sandbox, else any", kOwn,
               &setters::worker_limit<&worker::Limits::threads>},
    KnownEntry{"session.sandbox.readable", ConfigScope::kSession, kLayers, "absolute paths", "none",
               "files and folders that plugins may read in a sandbox, separated by ;", kOwn,
               &setters::granted_files<&IsolationConfig::readable>},
    KnownEntry{"session.sandbox.readable.PROVIDER", ConfigScope::kSession, kLayers,
               "absolute paths", "none", "the same for this provider, beside those for all", kOwn,
               nullptr},
    KnownEntry{"session.sandbox.writable", ConfigScope::kSession, kLayers, "absolute paths", "none",
               "files and folders that plugins may change in a sandbox, separated by ;", kOwn,
               &setters::granted_files<&IsolationConfig::writable>},
    KnownEntry{"session.sandbox.writable.PROVIDER", ConfigScope::kSession, kLayers,
               "absolute paths", "none", "the same for this provider, beside those for all", kOwn,
               nullptr},
    KnownEntry{"session.on_crash", ConfigScope::kSession, kLayers, "fail, restart or fallback",
               "fail", "what follows when a worker dies: an error, a restart or a fallback", kOwn,
               &setters::on_crash},
    KnownEntry{"session.on_crash.PROVIDER", ConfigScope::kSession, kLayers,
               "fail, restart or fallback", "as session.on_crash",
               "the same for this provider, in place of session.on_crash", kOwn, nullptr},
    KnownEntry{"session.trace.file", ConfigScope::kSession, kLayers, kPath, "standard error",
               "file that the layer trace appends its lines to", kOwn,
               &setters::text<&SessionConfig::trace_file>},
    KnownEntry{"session.trace.format", ConfigScope::kSession, kLayers, "text or json", "text",
               "form of these lines: text or json", kOwn, &setters::trace_format},
    KnownEntry{"session.trace.until_crash", ConfigScope::kSession, kLayers, kFlag, "0",
               "write each line at once, so that none is missing after a crash", kOwn,
               &setters::flag<&SessionConfig::trace_until_crash>},
    KnownEntry{"session.trace.graph_reads", ConfigScope::kSession, kLayers, kFlag, "0",
               "trace what providers ask about graphs too, which are many lines", kOwn,
               &setters::flag<&SessionConfig::trace_graph_reads>},
    KnownEntry{"session.validate.guard", ConfigScope::kSession, kLayers, "zones or pages", "zones",
               "what validate puts around memory: zones, or pages without access", kOwn,
               &setters::validate_guard},
    KnownEntry{"session.validate.deadline", ConfigScope::kSession, kLayers, kNumber, "60",
               "seconds after which validate reports a call that has not ended; 0: never", kOwn,
               &setters::validate_deadline},
    KnownEntry{"session.validate.abort_after", ConfigScope::kSession, kLayers, kNumber, "0",
               "deadlines after which such a call ends the process; 0: never", kOwn,
               &setters::validate_abort_after},
    KnownEntry{"session.validate.results", ConfigScope::kSession, kLayers, kFlag, "0",
               "validate compares results with those of the CPU provider", kOwn,
               &setters::flag<&SessionConfig::validate_results>},
    KnownEntry{"session.signatures", ConfigScope::kSession, kTrust, "off, warn or require", "off",
               "what becomes of plugins and context models without a valid signature", kOwn,
               &setters::signatures},
    KnownEntry{"session.quarantine", ConfigScope::kSession, kTrust, "off or FAILURES/SECONDS",
               "off", "how many failures in how long quarantine a plugin, if that is stricter",
               kOwn, &setters::quarantine},
    KnownEntry{"ep.PROVIDER.OPTION", ConfigScope::kRun, kRuns, "as the provider says", "none",
               "an option of the provider with the scope run or dynamic", kOnnxRuntime, nullptr},
    KnownEntry{"memory.enable_memory_arena_shrinkage", ConfigScope::kRun, kRuns, "devices", "none",
               "no effect: Session::shrink gives back what runs keep", kOnnxRuntime, nullptr},
    KnownEntry{"disable_synchronize_execution_providers", ConfigScope::kRun, kRuns, kFlag, "0",
               "no effect: a run returns when its outputs are complete", kOnnxRuntime, nullptr},
    KnownEntry{"EPHOST_PLUGIN_PATH", ConfigScope::kProcess, kVariables, "paths", "empty",
               "directories to search for plugins after those given, separated by :", kOwn,
               nullptr},
    KnownEntry{"EPHOST_SELECTION", ConfigScope::kProcess, kVariables, kPath,
               "that of the user or system",
               "the commands' selection file; set to nothing, none is used", kOwn, nullptr},
    KnownEntry{"EPHOST_CACHE_DIR", ConfigScope::kProcess, kVariables, kPath, "none",
               "the commands' cache store where nothing else names one", kOwn, nullptr},
    KnownEntry{"EPHOST_ALLOW_WRITABLE_PLUGINS", ConfigScope::kProcess, kVariables, "1", "empty",
               "1: use plugins, selections and stores that others can change", kOwn, nullptr},
    KnownEntry{"EPHOST_QUARANTINE", ConfigScope::kProcess, kVariables, "off or FAILURES/SECONDS",
               "3/600", "how many failures in how long quarantine a plugin", kOwn, nullptr},
    KnownEntry{"EPHOST_LAYERS", ConfigScope::kProcess, kVariables, "names of layers", "empty",
               "layers of sessions that set none, separated by ;", kOwn, nullptr},
    KnownEntry{"EPHOST_SIGNATURES", ConfigScope::kProcess, kVariables, "off, warn or require",
               "off", "session.signatures of all sessions that set nothing stricter", kOwn,
               nullptr},
    KnownEntry{"EPHOST_ISOLATION", ConfigScope::kProcess, kVariables, "none, worker or sandbox",
               "none", "where plugins run at least; see session.isolation", kOwn, nullptr},
    KnownEntry{"EPHOST_WORKER_PROGRAM", ConfigScope::kProcess, kVariables, kPath,
               "that of the installation", "the program ephost-worker, which runs such plugins",
               kOwn, nullptr},
    KnownEntry{"EPHOST_LOG_LEVEL", ConfigScope::kProcess, kVariables,
               "verbose, info, warning, error or fatal", "warning",
               "the least severe messages that reach the log", kOwn, nullptr},
    KnownEntry{"EPHOST_LOG_FORMAT", ConfigScope::kProcess, kVariables, "text or json", "text",
               "how messages are written to standard error", kOwn, nullptr},
};

}  // namespace

std::span<const KnownEntry> known_entries() { return kEntries; }

const KnownEntry* find_known_entry(std::string_view key) {
  for (const KnownEntry& entry : kEntries) {
    if (entry.set != nullptr && entry.key == key) return &entry;
  }
  return nullptr;
}

const KnownEntry* find_run_entry(std::string_view key) {
  for (const KnownEntry& entry : kEntries) {
    if (entry.scope == ConfigScope::kRun && entry.key == key) return &entry;
  }
  return nullptr;
}

std::string similar_key(std::string_view key) {
  std::vector<std::string_view> known;
  for (const KnownEntry& entry : kEntries) {
    if (entry.scope == ConfigScope::kSession) known.push_back(entry.key);
  }
  const auto nearest = nearest_match(key, known);
  return nearest ? "; did you mean " + quote(*nearest) + "?" : std::string();
}

std::vector<ConfigEntryDescription> known_config_entries() {
  std::vector<ConfigEntryDescription> entries;
  for (const KnownEntry& entry : kEntries) {
    entries.push_back({.key = std::string(entry.key),
                       .scope = entry.scope,
                       .subject = std::string(entry.subject),
                       .values = std::string(entry.values),
                       .default_value = std::string(entry.default_value),
                       .meaning = std::string(entry.meaning),
                       .is_own = entry.is_own});
  }
  return entries;
}

}  // namespace ephost::session
