#include "host/session/creation/pipeline.h"

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/metadata.h"
#include "host/session/caching/store_signatures.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/group_seat.h"
#include "host/session/creation/beginning.h"
#include "host/session/creation/cpu_reference.h"
#include "host/session/creation/retries.h"
#include "host/session/environment/environment_state.h"
#include "host/session/layers/session_layers.h"
#include "host/session/model/model_files.h"
#include "host/session/model/optimized_model.h"
#include "host/session/model/thread_use.h"
#include "host/session/pipeline/compilation.h"
#include "host/session/pipeline/cpu_refinement.h"
#include "host/session/pipeline/function_expansion.h"
#include "host/session/pipeline/graph_optimizer.h"
#include "host/session/pipeline/model_reader.h"
#include "host/session/pipeline/partitioning.h"
#include "host/session/pipeline/planning.h"
#include "host/session/pipeline/provider_creation.h"
#include "host/session/shapes/profiles.h"
#include "host/trust/policy.h"

namespace ephost::session {
namespace {

// What the host does in a phase of that name.
std::string_view phase_text(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTexts = {{
      {"import", "reading the model"},
      {"providers", "creating the providers"},
      {"cache", "looking in the cache store"},
      {"optimize", "optimizing the graph"},
      {"functions", "inlining functions"},
      {"context", "loading the context"},
      {"save", "saving the optimized model"},
      {"checksums", "comparing checksums"},
      {"order", "ordering the steps"},
      {"compile", "compiling"},
      {"plan", "planning memory"},
  }};
  for (const auto& [known, text] : kTexts) {
    if (known == name) return text;
  }
  return "partitioning";
}

// EPH_PURPOSE_*.
uint32_t purpose_of(const PipelineHooks& hooks, const SessionConfig& config) {
  uint32_t purpose = 0;
  if (hooks.writes_context) purpose |= EPH_PURPOSE_WRITES_CONTEXT;
  if (!hooks.runs && !hooks.opens_devices) purpose |= EPH_PURPOSE_COMPILE_ONLY;
  if (hooks.seat != nullptr) purpose |= EPH_PURPOSE_SHARED;
  if (hooks.runs && !config.profile_file.empty()) purpose |= EPH_PURPOSE_PROFILING;
  return purpose;
}

// One attempt at preparing a model.
class Pipeline {
 public:
  // Borrows all. `defers_checksums`: see ModelReader::load_context.
  Pipeline(EnvironmentState& environment, const SessionSettings& settings, const ThreadUse& threads,
           const PipelineHooks& hooks, bool defers_checksums)
      : environment_(environment),
        options_(settings.options),
        config_(settings.config),
        hooks_(hooks),
        defers_checksums_(defers_checksums),
        reader_(options_, config_, bool{hooks.substitute}, hooks.base == nullptr),
        provider_creation_(environment, options_, config_, hooks.seat, purpose_of(hooks, config_),
                           hooks.target),
        optimizer_(config_),
        functions_(config_.max_inlined_nodes) {
    prepared_ = begin_model(environment, settings, threads, hooks);
    if (hooks.workers != nullptr) hooks.workers->clear();
  }

  // The story of a model, from its file to plans and computations.
  Result<PreparedModel> run(ModelSource source, Stage until) {
    // What is read once more must be what was read.
    if (hooks_.base != nullptr) EPHOST_RETURN_IF_ERROR(source.check_unchanged());

    // Note the files that the options name, so that no stage overwrites one of them.
    EPHOST_RETURN_IF_ERROR(note_option_files());

    // Let workers start meanwhile.
    if (until != Stage::kImported) provider_creation_.begin_loading(prepared_);

    // Read the model and its external data.
    EPHOST_RETURN_IF_ERROR(timed("import", [&] { return reader_.import(source, prepared_); }));
    EPHOST_RETURN_IF_ERROR(keep_source(source));
    if (hooks_.after_import) EPHOST_RETURN_IF_ERROR(hooks_.after_import(prepared_));
    EPHOST_RETURN_IF_ERROR(check_compiled_shapes(prepared_));
    // From here on, the graph is well-formed, but for operators that plugins define.
    if (until == Stage::kImported) return std::move(prepared_);

    // Verify the signature of a context model before any provider sees the model.
    EPHOST_RETURN_IF_ERROR(check_signature(source));

    // Create the providers, in order of priority, under the layers that the user asked for.
    EPHOST_RETURN_IF_ERROR(make_layers());
    EPHOST_RETURN_IF_ERROR(
        timed("providers", [&] { return provider_creation_.create_all(prepared_); }));
    EPHOST_RETURN_IF_ERROR(tell_profiles());
    // From here on, a provider is identified by its index in the list of providers.

    // Let a cache put a compiled model in the model's place.
    if (hooks_.substitute) {
      EPHOST_RETURN_IF_ERROR(timed("cache", [&] { return substitute(source); }));
    }
    // Infer the types that a cache in use, or the operators of plugins, have left open.
    if (hooks_.substitute || prepared_.operators != nullptr) {
      EPHOST_RETURN_IF_ERROR(timed("import", [&] { return reader_.complete_import(prepared_); }));
    }
    reader_.release_report();
    // From here on, it is settled which model runs, and its types are inferred.

    // Fold constants, remove what has no effect, inline functions that no provider claims.
    EPHOST_RETURN_IF_ERROR(timed("optimize", [&] { return optimizer_.run(prepared_); }));
    EPHOST_RETURN_IF_ERROR(timed("functions", [&] { return inline_functions(); }));
    EPHOST_RETURN_IF_ERROR(finish_optimization());
    // From here on, the providers see the graph; only `partition` changes it, where it inlines a
    // call.

    // Map the payloads of a context model.
    EPHOST_RETURN_IF_ERROR(timed("context", [&] { return load_context(until); }));
    has_loaded_ = true;
    // From here on, no file of the model is opened, so replacing one does no harm.
    if (until == Stage::kOptimized) return std::move(prepared_);

    // Divide the nodes among the providers.
    EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    // Compute what no provider wanted to see after all.
    EPHOST_RETURN_IF_ERROR(fold_unclaimed());
    // From here on, each node belongs to a partition or has an owner, or no provider supports it,
    // and nothing that a partition reads depends on constants only, if limits allow.
    if (until == Stage::kPartitioned) return std::move(prepared_);

    // Order the steps and make a computation for each.
    EPHOST_RETURN_IF_ERROR(compile());
    // From here on, each step has its computation, and all payloads are known to be undamaged.
    if (until == Stage::kCompiled) return std::move(prepared_);

    // Look once more at the nodes that only the CPU provider took: put integer operators in the
    // place of quantised groups, and dequantise constants for it alone.
    EPHOST_RETURN_IF_ERROR(refine_cpu_nodes());
    // From here on, the graph differs from what the providers saw, in nodes of the CPU provider.

    // Give each value its place in memory.
    EPHOST_RETURN_IF_ERROR(
        timed("plan", [&] { return plan_memory(prepared_, options_, config_.execution_order); }));
    // From here on, a program can be assembled.
    return std::move(prepared_);
  }

  // Whether a checksum was wrong. Waits for those that are still being compared.
  [[nodiscard]] bool has_wrong_checksum() {
    return has_wrong_checksum_ || !finish_checksums().ok();
  }

  // Whether all files of the model were read. If not, `run` may have failed because of one of them.
  [[nodiscard]] bool has_loaded() const { return has_loaded_; }

  // CANCELLED or DEADLINE_EXCEEDED once cancellation is requested. It takes precedence over the
  // failure of a stage that was running at that time.
  [[nodiscard]] Status check_not_cancelled() const { return prepared_.cancellation.check(); }

 private:
  // Tells the application what the host begins to do.
  void announce(std::string_view what) const {
    if (const ProgressFunction& report = options_.progress) report(kHostCategory, 0, what);
  }

  // Runs a stage and records its time; a stage that is repeated adds to it.
  template <class Body>
  Status timed(std::string name, Body body) {
    EPHOST_RETURN_IF_ERROR(check_not_cancelled());
    announce(phase_text(name));
    const auto start = std::chrono::steady_clock::now();
    Status status = body();
    if (prepared_.profiler) prepared_.profiler->add("session", name, start);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const auto known = std::ranges::find(prepared_.phases, name, &Phase::name);
    if (known != prepared_.phases.end()) {
      known->seconds += taken.count();
    } else {
      prepared_.phases.push_back({std::move(name), taken.count()});
    }
    return status;
  }

  Status note_option_files() {
    EPHOST_RETURN_IF_ERROR(add_option_files(options_, config_, prepared_.files));
    return hooks_.runs ? add_optimized_model_files(config_, prepared_.files) : Status::ok_status();
  }

  // What a session needs to read the model again with other extents, and where it finds models
  // that were compiled for some.
  Status keep_source(const ModelSource& source) {
    const graph::Graph& graph = prepared_.model.graph;
    prepared_.read_source = ReadSource::of(source, reader_.report().external_data);
    if (hooks_.base != nullptr && hooks_.replaces_base) {
      EPHOST_RETURN_IF_ERROR(hooks_.base->read_source.check_same(prepared_.read_source));
    }
    if (!hooks_.runs || (hooks_.base != nullptr && !hooks_.replaces_base)) {
      return Status::ok_status();
    }
    if (hooks_.workers != nullptr && hooks_.base == nullptr) {
      prepared_.origin = source;
      prepared_.origin->external_data = reader_.report().external_data;
    }
    EPHOST_ASSIGN_OR_RETURN(context::ContextMetadata stated,
                            context::read_metadata(prepared_.model.metadata));
    prepared_.stored_specializations = std::move(stated.specializations);
    if (!source.bytes) {
      prepared_.stored_folder = source.path.parent_path();
    } else if (!config_.context_file_path.empty()) {
      prepared_.stored_folder = config_.context_file_path.parent_path();
    }
    const auto is_open = [&](graph::ValueId id) {
      const std::optional<graph::Shape>& shape = graph.values[id].type.shape;
      return shape && !graph::is_static(*shape);
    };
    const bool can_be_read_again =
        std::ranges::any_of(graph.inputs, is_open) && context::find_ep_context_nodes(graph).empty();
    if (!can_be_read_again) return Status::ok_status();
    prepared_.source = source;
    prepared_.source->external_data = reader_.report().external_data;
    return Status::ok_status();
  }

  Status make_layers() {
    if (hooks_.base != nullptr) {
      prepared_.layers = hooks_.base->layers;
      return Status::ok_status();
    }
    EPHOST_ASSIGN_OR_RETURN(
        prepared_.layers,
        SessionLayers::create(environment_, config_, cpu_references(environment_, config_),
                              prepared_.profiler, prepared_.files));
    return Status::ok_status();
  }

  // The profiles of shapes, which the providers get before they claim anything.
  Status tell_profiles() {
    if (hooks_.base != nullptr) {
      prepared_.shape_profiles = keep_open(prepared_.model, hooks_.base->shape_profiles);
    } else {
      EPHOST_ASSIGN_OR_RETURN(prepared_.shape_profiles,
                              resolve_profiles(prepared_.model, config_.shape_profiles));
    }
    for (const auto& provider : prepared_.providers) {
      EPHOST_RETURN_IF_ERROR(provider->set_shape_profiles(prepared_.shape_profiles));
    }
    return Status::ok_status();
  }

  Status substitute(ModelSource& source) {
    if (std::optional<ModelSource> other = hooks_.substitute(prepared_, reader_.report())) {
      source = std::move(*other);
      EPHOST_RETURN_IF_ERROR(reader_.replace(source, prepared_));
      // A model of the cache store is signed with a key of the store's own.
      if (signature_policy() == SignaturePolicy::kOff) return {};
      return reader_.check_signature(source, prepared_, store_verifier(),
                                     SignaturePolicy::kRequire);
    }
    return Status::ok_status();
  }

  [[nodiscard]] SignaturePolicy signature_policy() const {
    return trust::strictest(environment_.registry.verifier().policy(), config_.signatures);
  }

  Status check_signature(const ModelSource& source) {
    const SignaturePolicy policy = signature_policy();
    if (policy == SignaturePolicy::kOff) return {};
    return reader_.check_signature(source, prepared_, environment_.registry.verifier(), policy);
  }

  // Inlines calls that the providers do not claim, and optimizes the result. This comes before any
  // stage that stores node ids.
  Status inline_functions() {
    // The other nodes of a context model are known only after its payloads are loaded.
    if (!context::find_ep_context_nodes(prepared_.model.graph).empty()) return Status::ok_status();
    EPHOST_ASSIGN_OR_RETURN(bool has_changed, functions_.may_inline(prepared_));
    while (has_changed) {
      EPHOST_RETURN_IF_ERROR(ask_providers());
      EPHOST_ASSIGN_OR_RETURN(has_changed, functions_.inline_unclaimed(prepared_, made_));
      if (!has_changed) break;
      EPHOST_RETURN_IF_ERROR(infer_shapes(prepared_));
      EPHOST_RETURN_IF_ERROR(optimizer_.run(prepared_));
    }
    return Status::ok_status();
  }

  Status finish_optimization() {
    GraphOptimizer::report_unfolded(prepared_, prepared_.folding);
    if (!hooks_.runs || config_.optimized_model_file_path.empty()) return Status::ok_status();
    return timed("save", [&] { return save_optimized_model(prepared_, config_); });
  }

  Status load_context(Stage until) {
    const bool defers_checksums = defers_checksums_ && until >= Stage::kCompiled;
    return reader_.load_context(prepared_, hooks_.seat, defers_checksums);
  }

  // Repeated until no unclaimed function is left to be inlined.
  Status partition() {
    for (;;) {
      EPHOST_RETURN_IF_ERROR(ask_providers());
      EPHOST_ASSIGN_OR_RETURN(const bool is_new, functions_.inline_unclaimed(prepared_, made_));
      if (!is_new) return Status::ok_status();
      EPHOST_RETURN_IF_ERROR(infer_shapes(prepared_));
    }
  }

  // Providers that read what was kept for their sake, and do not compute it, get it as a constant.
  Status fold_unclaimed() {
    bool has_changed = false;
    const auto fold = [&]() -> Status {
      EPHOST_ASSIGN_OR_RETURN(has_changed, optimizer_.fold_unclaimed(prepared_));
      if (!has_changed) return Status::ok_status();
      EPHOST_RETURN_IF_ERROR(infer_shapes(prepared_));
      return optimizer_.run(prepared_);
    };
    EPHOST_RETURN_IF_ERROR(timed("optimize", fold));
    return has_changed ? timed("partition", [&] { return partition(); }) : Status::ok_status();
  }

  Status ask_providers() {
    std::vector<std::string> taken_names;
    if (hooks_.seat != nullptr) taken_names = hooks_.seat->taken_names();
    return partition_model(prepared_, config_.context_node_name_prefix, std::move(taken_names));
  }

  Status compile() {
    if (hooks_.before_compile) {
      EPHOST_RETURN_IF_ERROR(timed("cache", [&] {
        hooks_.before_compile(prepared_);
        return Status::ok_status();
      }));
    }
    EPHOST_RETURN_IF_ERROR(compile_with_fallback());
    EPHOST_RETURN_IF_ERROR(timed("checksums", [&] { return finish_checksums(); }));
    EPHOST_RETURN_IF_ERROR(check_not_cancelled());
    if (hooks_.after_compile) {
      announce("writing what was compiled");
      EPHOST_RETURN_IF_ERROR(hooks_.after_compile(prepared_));
    }
    release_dropped_constants(prepared_);
    return Status::ok_status();
  }

  // Where a provider fails, the model is partitioned again without it at these nodes, so that the
  // next providers in order of priority get them. Computations that exist are used again.
  Status compile_with_fallback() {
    ProviderFailed failed(prepared_);
    EPHOST_RETURN_IF_ERROR(with_retries([&] { return compile_round(failed); }, failed));
    made_ = {};
    return Status::ok_status();
  }

  Status compile_round(ProviderFailed& failed) {
    if (failed.wants_other_partitions()) {
      drop_reused_contexts(prepared_, made_);
      EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    }
    EPHOST_RETURN_IF_ERROR(check_partitioning(prepared_, config_));
    for (const CompileFailure& failure : failed.begin_round()) {
      report_fallback(prepared_, failure);
      count_fallback(failure);
    }
    EPHOST_RETURN_IF_ERROR(
        timed("order", [&] { return order_steps(prepared_, config_.execution_order); }));
    return timed("compile",
                 [&] { return make_computations(prepared_, config_.disable_ep_fallback, made_); });
  }

  void count_fallback(const CompileFailure& failure) const {
    if (prepared_.metrics == nullptr) return;
    prepared_.metrics->add(Family::kFallbacks,
                           {prepared_.providers[failure.provider]->name(),
                            std::string(status_code_name(failure.reason.code()))});
  }

  // Orders the steps again if anything changed, and makes what they lack.
  Status refine_cpu_nodes() {
    CpuRefinement refinement(prepared_, config_, optimizer_, made_);
    if (!refinement.may_change()) return Status::ok_status();
    bool has_changed = false;
    EPHOST_RETURN_IF_ERROR(timed("optimize", [&]() -> Status {
      EPHOST_ASSIGN_OR_RETURN(has_changed, refinement.run());
      return Status::ok_status();
    }));
    if (!has_changed) return Status::ok_status();
    EPHOST_RETURN_IF_ERROR(
        timed("order", [&] { return order_steps(prepared_, config_.execution_order); }));
    EPHOST_RETURN_IF_ERROR(
        timed("compile", [&] { return make_computations(prepared_, true, made_); }));
    made_ = {};
    return Status::ok_status();
  }

  Status finish_checksums() {
    Status status = prepared_.context.finish_checksums();
    has_wrong_checksum_ = has_wrong_checksum_ || !status.ok();
    return status;
  }

  EnvironmentState& environment_;
  const GivenOptions& options_;
  const SessionConfig& config_;
  const PipelineHooks& hooks_;
  bool defers_checksums_;
  bool has_loaded_ = false;
  bool has_wrong_checksum_ = false;
  ModelReader reader_;
  PreparedModel prepared_;
  ProviderCreation provider_creation_;
  GraphOptimizer optimizer_;
  FunctionInlining functions_;
  MadeComputations made_;
};

}  // namespace

Result<PreparedModel> prepare_model(EnvironmentState& environment, const ModelSource& source,
                                    const SessionSettings& settings, Stage until,
                                    const PipelineHooks& hooks) {
  if (hooks.base == nullptr) {
    for (const std::string& warning : settings.warnings) log_warning(warning);
  }
  const ThreadUse threads =
      hooks.base != nullptr ? hooks.base->threads : thread_use(environment, settings.config);
  Reading reading;
  WrongChecksum wrong_checksum(reading);
  ReplacedModel replaced(reading, source.path);
  const auto read = [&]() -> Result<PreparedModel> {
    reading = {};
    Pipeline pipeline(environment, settings, threads, hooks, wrong_checksum.may_defer());
    Result<PreparedModel> prepared = pipeline.run(source, until);
    if (prepared.ok()) return prepared;
    reading.has_loaded = pipeline.has_loaded();
    reading.has_wrong_checksum = pipeline.has_wrong_checksum();
    const Status cancelled = pipeline.check_not_cancelled();
    reading.is_cancelled = !cancelled.ok();
    if (reading.is_cancelled) return cancelled;
    return prepared;
  };
  return with_retries(read, wrong_checksum, replaced);
}

Result<PreparedModel> prepare_model(EnvironmentState& environment, const ModelSource& source,
                                    const GivenOptions& options, Stage until,
                                    const PipelineHooks& hooks) {
  EPHOST_ASSIGN_OR_RETURN(const SessionSettings settings, SessionSettings::read(options));
  return prepare_model(environment, source, settings, until, hooks);
}

}  // namespace ephost::session
