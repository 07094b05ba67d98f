#include "host/session/pipeline/pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/host_services.h"
#include "host/context/ep_context_node.h"
#include "host/context/read/replacement_watch.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/onnx_io/import/import.h"
#include "host/onnx_io/inference/infer.h"
#include "host/optimize/identity_removal.h"
#include "host/runtime/evaluator.h"
#include "host/session/cancellation.h"
#include "host/session/cpu_provider.h"
#include "host/session/environment_state.h"
#include "host/session/model_files.h"
#include "host/session/pipeline/compilation.h"
#include "host/session/pipeline/function_expansion.h"
#include "host/session/pipeline/partitioning.h"
#include "host/session/pipeline/planning.h"
#include "host/session/session_config.h"
#include "host/session/session_group.h"
#include "host/session/usable_plugin.h"

namespace ephost::session {
namespace {

class Pipeline {
 public:
  // `defers_checksums`: payloads of providers that withstand anything are compared with their
  // checksums meanwhile.
  Pipeline(const Environment& environment, const SessionOptions& options,
           const PipelineHooks& hooks, bool defers_checksums)
      : environment_(environment),
        options_(options),
        hooks_(hooks),
        defers_checksums_(defers_checksums) {}

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { *is_running_ = false; }

  // Whether a checksum turned out wrong, or something failed before all checksums were known to be
  // right.
  [[nodiscard]] bool has_wrong_checksum() {
    return has_wrong_checksum_ || !finish_checksums().ok();
  }

  // Whether all files of the model were read; what failed later did not fail for one of them.
  [[nodiscard]] bool has_loaded() const { return has_loaded_; }

  // What was on its way when the end was requested failed for that reason, whatever it says.
  [[nodiscard]] Status check_not_cancelled() const { return prepared_.cancellation.check(); }

  // The whole way.
  Result<PreparedModel> run(ModelSource source, Stage until) {
    EPHOST_RETURN_IF_ERROR(configure());
    EPHOST_RETURN_IF_ERROR(timed("import", [&] { return import(source); }));
    if (hooks_.after_import) EPHOST_RETURN_IF_ERROR(hooks_.after_import(prepared_));
    if (until == Stage::kImported) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(timed("providers", [&] { return create_providers(); }));
    if (hooks_.substitute) {
      EPHOST_RETURN_IF_ERROR(timed("cache", [&] { return substitute(source); }));
    }
    import_report_ = {};
    EPHOST_RETURN_IF_ERROR(timed("optimize", [&] { return optimize(); }));
    EPHOST_RETURN_IF_ERROR(timed("functions", [&] { return inline_functions(); }));
    note_what_was_not_folded();
    EPHOST_RETURN_IF_ERROR(timed("context", [&] { return load_context(until); }));
    has_loaded_ = true;
    if (until == Stage::kOptimized) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    if (until == Stage::kPartitioned) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(compile_with_fallback());
    EPHOST_RETURN_IF_ERROR(timed("checksums", [&] { return finish_checksums(); }));
    EPHOST_RETURN_IF_ERROR(check_not_cancelled());
    if (hooks_.after_compile) EPHOST_RETURN_IF_ERROR(hooks_.after_compile(prepared_));
    release_dropped_constants(prepared_);
    if (until == Stage::kCompiled) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(
        timed("plan", [&] { return plan_memory(prepared_, options_, config_.execution_order); }));
    return std::move(prepared_);
  }

 private:
  // A stage that comes again adds to its time.
  template <class Body>
  Status timed(std::string name, Body body) {
    EPHOST_RETURN_IF_ERROR(check_not_cancelled());
    const auto start = std::chrono::steady_clock::now();
    Status status = body();
    if (prepared_.profiler) prepared_.profiler->add("session", name, start);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const auto known = std::find_if(prepared_.phases.begin(), prepared_.phases.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    if (known != prepared_.phases.end()) {
      known->seconds += taken.count();
    } else {
      prepared_.phases.push_back({std::move(name), taken.count()});
    }
    return status;
  }

  Status configure() {
    std::vector<std::string> warnings;
    EPHOST_ASSIGN_OR_RETURN(config_, read_session_config(options_, warnings));
    for (const std::string& warning : warnings) log_warning(warning);
    prepared_.cancellation = cancellation_of(options_, config_);
    functions_ = FunctionInlining(config_.max_inlined_nodes);
    const auto count = [](uint32_t wanted) {
      return wanted != 0 ? wanted : ThreadPool::default_thread_count();
    };
    ThreadUse& threads = prepared_.threads;
    threads.pool = &environment_.state().threads;
    threads.loops = count(config_.intra_op_threads);
    if (config_.execution_mode == ExecutionMode::kParallel) {
      threads.steps = count(config_.inter_op_threads);
    }
    threads.libraries = std::max(threads.loops / threads.steps, 1U);
    if (!config_.profile_file.empty()) {
      prepared_.profiler = std::make_shared<Profiler>(config_.profile_file);
    }
    prepared_.max_memory_patterns = config_.max_memory_patterns;
    return add_option_files(options_, config_, prepared_.files);
  }

  Status import(ModelSource& source) {
    if (!source.bytes && source.file == nullptr) {
      EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(source.path));
      source.file = std::make_shared<const MappedFile>(std::move(file));
    }
    set_load_options(source);
    // Somebody may be replacing the model just now, or has died while doing so.
    load_options_.files = context::find_superseded_initializers(
        source.bytes ? *source.bytes : source.file->bytes(), load_options_);
    onnx_io::ImportOptions import_options;
    import_options.external_data_dir = config_.external_initializers_folder;
    import_options.external_files = load_options_.files;
    import_options.infer_shapes = !hooks_.substitute;
    import_options.align_initializers = !hooks_.substitute;
    import_options.max_dense_bytes = config_.max_dense_bytes;
    import_options.cancellation = prepared_.cancellation;
    auto model = source.bytes ? onnx_io::import_model(graph::Blob{*source.bytes, nullptr},
                                                      import_options, &import_report_)
                              : onnx_io::import_model(source.file, import_options, &import_report_);
    EPHOST_ASSIGN_OR_RETURN(prepared_.model, std::move(model));
    // What was read is what is checked, whatever has the files' names by then.
    load_options_.files = import_report_.external_data;
    load_options_.unchecked_external_data = import_report_.unchecked_external_data;
    prepared_.notes = import_report_.notes;
    return add_model_files(source, prepared_.model, import_report_, load_options_, prepared_.files);
  }

  void set_load_options(const ModelSource& source) {
    load_options_.cancellation = prepared_.cancellation;
    load_options_.known_checksums = KnownChecksums(config_.known_checksums_dir);
    load_options_.require_checksums = config_.require_checksums;
    if (!source.bytes) {
      load_options_.folder = source.path.parent_path();
    } else if (!config_.context_file_path.empty()) {
      load_options_.folder = config_.context_file_path.parent_path();
    }
    if (!config_.external_initializers_folder.empty()) {
      load_options_.initializers_folder = config_.external_initializers_folder;
    }
    if (const EpContextDataReadFunction& read = options_.ep_context_data_read_func()) {
      load_options_.read_payload = [&read](const std::string& name) -> Result<graph::Blob> {
        EPHOST_ASSIGN_OR_RETURN(EpContextData data, read(name));
        return graph::Blob{data.bytes, std::move(data.owner)};
      };
    }
  }

  // Goes on with another model if the hook names one, and does what `import` left to be done.
  Status substitute(ModelSource& source) {
    std::optional<ModelSource> other = hooks_.substitute(prepared_, import_report_);
    if (other) {
      source = std::move(*other);
      config_.external_initializers_folder.clear();
      load_options_ = {};
      EPHOST_RETURN_IF_ERROR(import(source));
      load_options_.read_payload = nullptr;  // of the application's own models
      load_options_.require_checksums = true;
    }
    onnx_io::align_initializers(prepared_.model);
    infer_shapes();
    return Status::ok_status();
  }

  void infer_shapes() {
    for (std::string& note : onnx_io::infer_shapes(prepared_.model, prepared_.cancellation)) {
      prepared_.notes.push_back(std::move(note));
    }
  }

  Status create_providers() {
    manifest::Selection selection;
    for (const ProviderRequest& request : options_.providers()) {
      manifest::VersionRange range;
      if (!request.version_range.empty()) {
        EPHOST_ASSIGN_OR_RETURN(range, manifest::VersionRange::parse(request.version_range));
      }
      selection.providers.push_back({request.name, std::move(range), request.options});
    }
    const manifest::SearchResult& search = environment_.state().search;
    EPHOST_ASSIGN_OR_RETURN(std::vector<manifest::ChosenProvider> chosen,
                            manifest::choose_providers(search, selection));
    const bool has_cpu = std::any_of(chosen.begin(), chosen.end(), [](const auto& choice) {
      return choice.candidates.provider() == kCpuProvider;
    });
    if (!has_cpu && (chosen.empty() || !is_compiled_throughout())) {
      EPHOST_ASSIGN_OR_RETURN(
          manifest::Candidates cpu,
          manifest::find_candidates(search, {std::string(kCpuProvider), {}, {}}));
      chosen.push_back({std::move(cpu), {}});
    }
    for (const manifest::ChosenProvider& choice : chosen) {
      for (const manifest::FoundPlugin& plugin : choice.candidates.plugins) {
        EPHOST_RETURN_IF_ERROR(add_plugin_files(plugin, prepared_.files));
      }
      const auto create = [&](std::shared_ptr<const plugin::LoadedPlugin> plugin) {
        return create_provider(std::move(plugin), choice.options);
      };
      EPHOST_ASSIGN_OR_RETURN(auto provider, with_usable_plugin(environment_.state().registry,
                                                                choice.candidates, create));
      prepared_.providers.push_back(std::move(provider));
    }
    return Status::ok_status();
  }

  // Then nothing is left for a provider that takes what is left.
  [[nodiscard]] bool is_compiled_throughout() const {
    const graph::Graph& graph = prepared_.model.graph;
    return !graph.nodes.empty() &&
           std::all_of(graph.nodes.begin(), graph.nodes.end(), &context::is_ep_context);
  }

  Result<std::shared_ptr<bridge::Provider>> create_provider(
      std::shared_ptr<const plugin::LoadedPlugin> plugin, const manifest::KeyValues& given) {
    const manifest::Manifest& manifest = plugin->manifest;
    EPHOST_ASSIGN_OR_RETURN(const std::vector<manifest::TypedOption> options,
                            manifest::validate_options(manifest, given));
    if (hooks_.seat != nullptr) {
      EPHOST_ASSIGN_OR_RETURN(auto shared, hooks_.seat->find_provider(*plugin, options));
      if (shared != nullptr) {
        shared->set_progress_hooks(progress_hooks());
        return shared;
      }
    }
    auto services = std::make_unique<bridge::HostServices>(
        manifest.provider, plugin_log(), progress_hooks(),
        bridge::ThreadOffer{prepared_.threads.pool, prepared_.threads.loops,
                            prepared_.threads.libraries});
    EPHOST_ASSIGN_OR_RETURN(
        auto provider, bridge::Provider::create(std::move(plugin), options, std::move(services)));
    if (hooks_.seat != nullptr) hooks_.seat->add_provider(provider, options);
    return provider;
  }

  // Providers live longer than the application's functions need to.
  [[nodiscard]] bridge::ProgressHooks progress_hooks() const {
    bridge::ProgressHooks hooks;
    if (const ProgressFunction& report = options_.progress_func()) {
      hooks.report = [report, is_running = is_running_](auto&&... what) {
        if (*is_running) report(what...);
      };
    }
    hooks.is_cancelled = [cancellation = prepared_.cancellation, is_running = is_running_] {
      return *is_running && cancellation.is_requested();
    };
    return hooks;
  }

  // Null if the session has none.
  [[nodiscard]] bridge::Provider* cpu_provider() const {
    for (const auto& provider : prepared_.providers) {
      if (provider->name() == kCpuProvider) return provider.get();
    }
    return nullptr;
  }

  // What becomes constant may fix shapes that were open, and known shapes let more be folded or
  // turn out to change nothing. Each round does something or is the last; the bound is for models
  // that are made to go on and on.
  Status optimize() {
    constexpr int kMaxRounds = 8;
    bridge::Provider* const cpu = cpu_provider();
    if (cpu == nullptr) return Status::ok_status();  // there is nothing but EPContext nodes
    runtime::KernelEvaluator evaluator(*cpu, prepared_.model);
    if (!fold_budget_) fold_budget_.emplace(config_.fold_limits);
    optimize::FoldOptions fold_options;
    fold_options.computes = config_.passes.runs(optimize::Pass::kConstantFolding);
    fold_options.removes_dead_code = config_.passes.runs(optimize::Pass::kDeadCodeElimination);
    fold_options.cancellation = prepared_.cancellation;
    for (int round = 0; round < kMaxRounds; ++round) {
      EPHOST_ASSIGN_OR_RETURN(
          optimize::FoldReport report,
          optimize::fold_constants(prepared_.model.graph, evaluator, *fold_budget_, fold_options));
      const uint64_t removed = optimize::remove_identities(prepared_.model.graph, config_.passes);
      const bool is_last = report.folded_nodes + removed == 0;
      const bool has_folded = report.folded_nodes > 0;
      prepared_.removed_identities += removed;
      report.folded_nodes += prepared_.folding.folded_nodes;
      report.folded_bytes += prepared_.folding.folded_bytes;
      prepared_.folding = std::move(report);
      if (is_last) break;
      if (has_folded) infer_shapes();
    }
    return Status::ok_status();
  }

  // Said once, of the last round: what the earlier ones left may have been folded since.
  void note_what_was_not_folded() {
    const optimize::FoldReport& folding = prepared_.folding;
    prepared_.notes.insert(prepared_.notes.end(), folding.skipped.begin(), folding.skipped.end());
    if (folding.budget_note.empty()) return;
    prepared_.notes.push_back(folding.budget_note);
    log_warning(folding.budget_note);
  }

  Status load_context(Stage until) {
    if (defers_checksums_ && until >= Stage::kCompiled) {
      for (const auto& provider : prepared_.providers) {
        const manifest::Manifest& manifest = provider->plugin().manifest;
        if (!manifest.validates_contexts) continue;
        load_options_.validating_sources.insert(manifest.context_sources.begin(),
                                                manifest.context_sources.end());
      }
    }
    GroupSeat* seat = hooks_.seat;
    if (seat != nullptr) {
      load_options_.files.merge(seat->waiting_files(prepared_.model, load_options_.folder));
    }
    EPHOST_ASSIGN_OR_RETURN(prepared_.context,
                            context::load_context(prepared_.model, load_options_));
    if (const std::vector<std::string>& unchecked = prepared_.context.unchecked;
        !unchecked.empty()) {
      log_warning("the context model states no checksum of " + join(unchecked, ", ") +
                  ", which nobody has checked therefore (ep.require_checksums=1 refuses it)");
    }
    EPHOST_RETURN_IF_ERROR(check_compatibility(prepared_, config_.fail_on_suboptimal_context));
    return seat != nullptr ? seat->take(prepared_, load_options_.folder) : Status::ok_status();
  }

  // Inlines what the providers won't take, and optimizes what comes of it: later, when nodes are
  // spoken of elsewhere, only `partition` inlines what was taken here and is not there.
  Status inline_functions() {
    // Of a context model only what is left of it is asked about, which is not known yet.
    if (!context::find_ep_context_nodes(prepared_.model.graph).empty()) return Status::ok_status();
    EPHOST_ASSIGN_OR_RETURN(bool is_worth_asking, functions_.may_inline(prepared_));
    while (is_worth_asking) {
      EPHOST_RETURN_IF_ERROR(ask_providers());
      EPHOST_ASSIGN_OR_RETURN(is_worth_asking, functions_.inline_unclaimed(prepared_, made_));
      if (!is_worth_asking) break;
      infer_shapes();
      EPHOST_RETURN_IF_ERROR(optimize());
    }
    return Status::ok_status();
  }

  // Asks again while there are functions to inline that nobody takes.
  Status partition() {
    for (;;) {
      EPHOST_RETURN_IF_ERROR(ask_providers());
      EPHOST_ASSIGN_OR_RETURN(const bool is_new, functions_.inline_unclaimed(prepared_, made_));
      if (!is_new) return Status::ok_status();
      infer_shapes();
    }
  }

  Status ask_providers() {
    std::vector<std::string> taken_names;
    if (hooks_.seat != nullptr) taken_names = hooks_.seat->taken_names();
    return partition_model(prepared_, config_.context_node_name_prefix, std::move(taken_names));
  }

  Status finish_checksums() {
    Status status = prepared_.context.finish_checksums();
    has_wrong_checksum_ = has_wrong_checksum_ || !status.ok();
    return status;
  }

  // Compiles. Where a provider fails, the model is partitioned again without it at these nodes, so
  // that the next ones in order of priority get them. What was made already is used again.
  Status compile_with_fallback() {
    // Enough for each provider to fail at what the ones before it left, twice.
    const size_t most_rounds = 2 * prepared_.providers.size() + 1;
    size_t reported = 0;
    for (size_t round = 1;; ++round) {
      EPHOST_RETURN_IF_ERROR(check_partitioning(prepared_, config_));
      for (; reported < prepared_.failures.size(); ++reported) {
        report_fallback(prepared_, prepared_.failures[reported]);
      }
      EPHOST_RETURN_IF_ERROR(
          timed("order", [&] { return order_steps(prepared_, config_.execution_order); }));
      EPHOST_RETURN_IF_ERROR(timed("compile", [&] {
        return make_computations(prepared_, config_.disable_ep_fallback, made_);
      }));
      if (prepared_.failures.size() == reported) {
        made_ = {};
        return Status::ok_status();
      }
      if (round == most_rounds) {
        return Status(prepared_.failures.back().reason)
            .with_context("falling back, attempt " + std::to_string(round));
      }
      EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    }
  }

  const Environment& environment_;
  const SessionOptions& options_;
  const PipelineHooks& hooks_;
  bool defers_checksums_;
  bool has_loaded_ = false;
  bool has_wrong_checksum_ = false;
  std::shared_ptr<std::atomic<bool>> is_running_ = std::make_shared<std::atomic<bool>>(true);
  SessionConfig config_;
  context::LoadOptions load_options_;
  onnx_io::ImportReport import_report_;  // until the providers are there
  PreparedModel prepared_;
  std::optional<optimize::FoldBudget> fold_budget_;
  FunctionInlining functions_;
  MadeComputations made_;
};

template <class Graph>
void append_with_bodies(Graph& graph, std::vector<Graph*>& out) {
  out.push_back(&graph);
  for (auto& body : graph.bodies) append_with_bodies<Graph>(body, out);
}

}  // namespace

std::vector<PreparedGraph*> PreparedModel::graphs() {
  std::vector<PreparedGraph*> all;
  append_with_bodies(main, all);
  return all;
}

std::vector<const PreparedGraph*> PreparedModel::graphs() const {
  std::vector<const PreparedGraph*> all;
  append_with_bodies(main, all);
  return all;
}

size_t PreparedModel::partition_count() const {
  size_t count = 0;
  for (const PreparedGraph* graph : graphs()) count += graph->partitioning.partitions.size();
  return count;
}

Result<PreparedModel> prepare_model(const Environment& environment, const ModelSource& source,
                                    const SessionOptions& options, Stage until,
                                    const PipelineHooks& hooks) {
  for (int reading = 1;; ++reading) {
    const context::ReplacementWatch watch(source.path);
    Pipeline pipeline(environment, options, hooks, true);
    Result<PreparedModel> prepared = pipeline.run(source, until);
    if (prepared.ok()) return prepared;
    bool has_loaded = pipeline.has_loaded();
    const bool has_wrong_checksum = pipeline.has_wrong_checksum();
    EPHOST_RETURN_IF_ERROR(pipeline.check_not_cancelled());
    if (has_wrong_checksum) {
      // With checksums first: there may be a superseded file that is right, or else a better
      // reason.
      Pipeline thorough(environment, options, hooks, false);
      prepared = thorough.run(source, until);
      if (!prepared.ok()) EPHOST_RETURN_IF_ERROR(thorough.check_not_cancelled());
      has_loaded = thorough.has_loaded();
    }
    const bool may_be_mixed = !prepared.ok() && !has_loaded && watch.has_changed() &&
                              prepared.status().code() != StatusCode::kModelLoadCanceled;
    if (!may_be_mixed || reading == context::kMaxReadings) return prepared;
    log_info("the model " + quote(source.path.native()) + " was replaced while it was read (" +
             prepared.status().message() + "); reading it again");
  }
}

std::vector<Fallback> fallbacks_of(const PreparedModel& prepared) {
  std::vector<Fallback> fallbacks;
  for (const CompileFailure& failure : prepared.failures) {
    fallbacks.push_back({prepared.providers[failure.provider]->name(), failure.partition,
                         failure.nodes.size(), failure.reason});
  }
  return fallbacks;
}

}  // namespace ephost::session
