#include "host/session/pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/claim_source.h"
#include "host/bridge/host_services.h"
#include "host/graph/body_path.h"
#include "host/graph/subgraphs.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/onnx_io/import.h"
#include "host/onnx_io/infer.h"
#include "host/plan/checker.h"
#include "host/runtime/evaluator.h"
#include "host/session/cancellation.h"
#include "host/session/compilation.h"
#include "host/session/environment_state.h"
#include "host/session/host_claims.h"
#include "host/session/session_config.h"
#include "host/session/session_group.h"

namespace ephost::session {
namespace {

constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

class Pipeline {
 public:
  // `defers_sums`: payloads of providers that withstand anything are summed meanwhile.
  Pipeline(const Environment& environment, const SessionOptions& options,
           const PipelineHooks& hooks, bool defers_sums)
      : environment_(environment), options_(options), hooks_(hooks), defers_sums_(defers_sums) {}

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { *is_running_ = false; }

  // Whether a sum turned out wrong, or something failed before all sums were known to be right.
  [[nodiscard]] bool has_wrong_sum() { return has_wrong_sum_ || !finish_sums().ok(); }

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
    EPHOST_RETURN_IF_ERROR(timed("context", [&] { return load_context(until); }));
    if (until == Stage::kOptimized) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    if (until == Stage::kPartitioned) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(compile_with_fallback());
    EPHOST_RETURN_IF_ERROR(timed("sums", [&] { return finish_sums(); }));
    EPHOST_RETURN_IF_ERROR(check_not_cancelled(options_.load_cancellation_flag()));
    if (hooks_.after_compile) EPHOST_RETURN_IF_ERROR(hooks_.after_compile(prepared_));
    release_dropped_constants();
    if (until == Stage::kCompiled) return std::move(prepared_);
    EPHOST_RETURN_IF_ERROR(timed("plan", [&] { return plan(); }));
    return std::move(prepared_);
  }

 private:
  // A stage that comes again adds to its time.
  template <class Body>
  Status timed(std::string name, Body body) {
    EPHOST_RETURN_IF_ERROR(check_not_cancelled(options_.load_cancellation_flag()));
    const auto start = std::chrono::steady_clock::now();
    Status status = body();
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
    return Status::ok_status();
  }

  Status import(const ModelSource& source) {
    set_load_options(source);
    // Somebody may be replacing the model just now, or has died while doing so.
    load_options_.files = source.bytes
                              ? context::find_superseded_initializers(*source.bytes, load_options_)
                              : context::find_superseded_initializers(source.path, load_options_);
    onnx_io::ImportOptions import_options;
    import_options.external_data_dir = config_.external_initializers_folder;
    import_options.external_files = load_options_.files;
    import_options.infer_shapes = !hooks_.substitute;
    auto model = source.bytes ? onnx_io::import_model(graph::Blob{*source.bytes, nullptr},
                                                      import_options, &import_report_)
                              : onnx_io::import_model(source.path, import_options, &import_report_);
    EPHOST_ASSIGN_OR_RETURN(prepared_.model, std::move(model));
    prepared_.notes = import_report_.notes;
    return Status::ok_status();
  }

  void set_load_options(const ModelSource& source) {
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
    }
    infer_shapes();
    return Status::ok_status();
  }

  void infer_shapes() {
    for (std::string& note : onnx_io::infer_shapes(prepared_.model)) {
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
    EPHOST_ASSIGN_OR_RETURN(std::vector<manifest::ChosenPlugin> chosen,
                            manifest::choose_plugins(search, selection));
    const bool has_cpu = std::any_of(chosen.begin(), chosen.end(), [](const auto& choice) {
      return choice.plugin.manifest.provider == kCpuProvider;
    });
    if (!has_cpu) {
      EPHOST_ASSIGN_OR_RETURN(manifest::FoundPlugin cpu,
                              manifest::choose_plugin(search, {std::string(kCpuProvider), {}, {}}));
      chosen.push_back({std::move(cpu), {}});
    }
    for (const manifest::ChosenPlugin& choice : chosen) {
      EPHOST_RETURN_IF_ERROR(create_provider(choice));
    }
    return Status::ok_status();
  }

  Status create_provider(const manifest::ChosenPlugin& choice) {
    const manifest::Manifest& manifest = choice.plugin.manifest;
    EPHOST_ASSIGN_OR_RETURN(const std::vector<manifest::TypedOption> options,
                            manifest::validate_options(manifest, choice.options));
    EPHOST_ASSIGN_OR_RETURN(auto plugin, environment_.state().registry.load(choice.plugin));
    if (hooks_.seat != nullptr) {
      EPHOST_ASSIGN_OR_RETURN(auto shared, hooks_.seat->find_provider(*plugin, options));
      if (shared != nullptr) {
        shared->set_progress_hooks(progress_hooks());
        prepared_.providers.push_back(std::move(shared));
        return Status::ok_status();
      }
    }
    auto services =
        std::make_unique<bridge::HostServices>(manifest.provider, plugin_log(), progress_hooks());
    EPHOST_ASSIGN_OR_RETURN(
        auto provider, bridge::Provider::create(std::move(plugin), options, std::move(services)));
    if (hooks_.seat != nullptr) hooks_.seat->add_provider(provider, options);
    prepared_.providers.push_back(std::move(provider));
    return Status::ok_status();
  }

  // Providers live longer than the application's functions need to.
  [[nodiscard]] bridge::ProgressHooks progress_hooks() const {
    bridge::ProgressHooks hooks;
    if (const ProgressFunction& report = options_.progress_func()) {
      hooks.report = [report, is_running = is_running_](auto&&... what) {
        if (*is_running) report(what...);
      };
    }
    if (const std::atomic<bool>* flag = options_.load_cancellation_flag()) {
      hooks.is_cancelled = [flag, is_running = is_running_] {
        return *is_running && is_cancelled(flag);
      };
    }
    return hooks;
  }

  [[nodiscard]] bridge::Provider& cpu_provider() {
    const auto is_cpu = [](const auto& provider) { return provider->name() == kCpuProvider; };
    return **std::find_if(prepared_.providers.begin(), prepared_.providers.end(), is_cpu);
  }

  // What becomes constant may fix shapes that were open, and known shapes let more be folded. Each
  // round folds something or is the last; the bound is for models that are made to go on and on.
  Status optimize() {
    constexpr int kMaxRounds = 8;
    runtime::KernelEvaluator evaluator(cpu_provider(), prepared_.model);
    std::vector<std::string> skipped;
    for (int round = 0; round < kMaxRounds; ++round) {
      EPHOST_ASSIGN_OR_RETURN(optimize::FoldReport report,
                              optimize::fold_constants(prepared_.model.graph, evaluator));
      prepared_.folding.folded_nodes += report.folded_nodes;
      prepared_.folding.folded_bytes += report.folded_bytes;
      skipped = std::move(report.skipped);
      if (report.folded_nodes == 0) break;
      infer_shapes();
    }
    prepared_.folding.skipped = skipped;
    prepared_.notes.insert(prepared_.notes.end(), skipped.begin(), skipped.end());
    return Status::ok_status();
  }

  Status load_context(Stage until) {
    if (defers_sums_ && until >= Stage::kCompiled) {
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
    EPHOST_RETURN_IF_ERROR(check_compatibility(prepared_, config_.fail_on_suboptimal_context));
    return seat != nullptr ? seat->take(prepared_, load_options_.folder) : Status::ok_status();
  }

  Status finish_sums() {
    Status status = prepared_.context.finish_sums();
    has_wrong_sum_ = has_wrong_sum_ || !status.ok();
    return status;
  }

  Status partition() {
    EPHOST_ASSIGN_OR_RETURN(const std::vector<CachedNodes> cached, match_sources(prepared_));
    std::vector<std::string> taken_names;
    if (hooks_.seat != nullptr) taken_names = hooks_.seat->taken_names();
    return partition(prepared_.main, cached, taken_names);
  }

  // One graph, and the bodies of those of its nodes that nobody but the host takes. Names of
  // partitions are unique in the model.
  Status partition(PreparedGraph& prepared, const std::vector<CachedNodes>& cached,
                   std::vector<std::string>& taken_names) {
    graph::Graph& graph = prepared_.graph_of(prepared);
    static const std::vector<graph::NodeId> kNone;
    std::vector<std::unique_ptr<bridge::ProviderClaims>> claims;
    std::vector<partition::ClaimSource*> sources;
    for (size_t i = 0; i < prepared_.providers.size(); ++i) {
      const auto nodes = cached[i].find(&graph);
      const std::vector<graph::NodeId>& own = nodes == cached[i].end() ? kNone : nodes->second;
      claims.push_back(std::make_unique<bridge::ProviderClaims>(
          *prepared_.providers[i], prepared_.model, prepared_.is_context_model() ? &own : nullptr));
      sources.push_back(claims.back().get());
    }
    HostClaims host;
    if (HostClaims::may_claim(graph)) sources.push_back(&host);
    partition::PartitionOptions partition_options;
    partition_options.name_prefix = config_.context_node_name_prefix;
    partition_options.taken_names = taken_names;
    std::vector<partition::Bar> bars;
    for (const CompileFailure& failure : prepared_.failures) {
      if (failure.graph != &graph) continue;
      bars.push_back({failure.provider, failure.nodes, failure.reason.message()});
    }
    partition_options.bars = bars;
    EPHOST_ASSIGN_OR_RETURN(prepared.partitioning,
                            partition::partition_graph(graph, sources, partition_options));
    prepared.declines.clear();
    for (const auto& source : claims) prepared.declines.push_back(source->declines());
    for (const partition::Partition& partition : prepared.partitioning.partitions) {
      taken_names.push_back(partition.name);
    }
    add_bodies(prepared, graph);
    for (PreparedGraph& body : prepared.bodies) {
      EPHOST_RETURN_IF_ERROR(partition(body, cached, taken_names));
    }
    return Status::ok_status();
  }

  // Compiles. Where a provider fails, the model is partitioned again without it at these nodes, so
  // that the next ones in order of priority get them. What was made already is used again.
  Status compile_with_fallback() {
    // Enough for each provider to fail at what the ones before it left, twice.
    const size_t most_rounds = 2 * prepared_.providers.size() + 1;
    MadeComputations made;
    size_t reported = 0;
    for (size_t round = 1;; ++round) {
      EPHOST_RETURN_IF_ERROR(check_partitioning());
      for (; reported < prepared_.failures.size(); ++reported) {
        report_fallback(prepared_.failures[reported]);
      }
      EPHOST_RETURN_IF_ERROR(timed("order", [&] { return order(); }));
      EPHOST_RETURN_IF_ERROR(timed("compile", [&] {
        return make_computations(prepared_, config_.disable_ep_fallback, made);
      }));
      if (prepared_.failures.size() == reported) return Status::ok_status();
      if (round == most_rounds) {
        return Status(prepared_.failures.back().reason)
            .with_context("falling back, attempt " + std::to_string(round));
      }
      EPHOST_RETURN_IF_ERROR(timed("partition", [&] { return partition(); }));
    }
  }

  void report_fallback(const CompileFailure& failure) const {
    const std::string what = failure.partition.empty()
                                 ? graph::describe_node(*failure.graph, failure.nodes.front())
                                 : "the nodes of partition " + quote(failure.partition);
    log_warning(failure.reason.message() + "; " + what + " went from " +
                prepared_.providers[failure.provider]->name() + " to the next providers");
  }

  // The failure by which the node lost its first owner, or null.
  [[nodiscard]] const CompileFailure* find_failure(const graph::Graph& graph,
                                                   graph::NodeId node) const {
    const auto failure = std::find_if(
        prepared_.failures.begin(), prepared_.failures.end(), [&](const CompileFailure& candidate) {
          return candidate.graph == &graph &&
                 std::binary_search(candidate.nodes.begin(), candidate.nodes.end(), node);
        });
    return failure == prepared_.failures.end() ? nullptr : &*failure;
  }

  // Where a provider failed and no other one takes its nodes, the failure is the reason.
  [[nodiscard]] Status check_cover(const graph::Graph& graph,
                                   const partition::Partitioning& partitioning) const {
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (partitioning.owner[id] != partition::kUnassigned) continue;
      const CompileFailure* failure = find_failure(graph, id);
      if (failure == nullptr) continue;
      return Status(failure->reason)
          .with_context("looking for another provider of " + graph::describe_node(graph, id) +
                        ", which there is not");
    }
    return partition::check_cover(graph, partitioning);
  }

  // The bodies of the nodes that the host took.
  void add_bodies(PreparedGraph& prepared, graph::Graph& graph) const {
    prepared.bodies.clear();
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (prepared.partitioning.owner[id] != prepared_.providers.size()) continue;
      uint32_t index = 0;
      graph::for_each_subgraph(graph.nodes[id],
                               [&](graph::Graph& subgraph, const std::string& attribute) {
                                 PreparedGraph& body = prepared.bodies.emplace_back();
                                 body.graph = &subgraph;
                                 body.attribute = attribute;
                                 body.path = graph::body_path(prepared.path, graph, id, attribute);
                                 body.place = prepared.place;
                                 body.place.push_back({id, index++});
                               });
    }
  }

  Status check_partitioning() {
    for (const PreparedGraph* prepared : prepared_.graphs()) {
      Status status = check_partitioning(*prepared);
      if (!prepared->path.empty()) {
        status = std::move(status).with_context("preparing " + quote(prepared->path));
      }
      EPHOST_RETURN_IF_ERROR(status);
    }
    return Status::ok_status();
  }

  Status check_partitioning(const PreparedGraph& prepared) {
    const graph::Graph& graph = prepared_.graph_of(prepared);
    const partition::Partitioning& partitioning = prepared.partitioning;
    EPHOST_RETURN_IF_ERROR(check_cover(graph, partitioning));
    if (config_.disable_model_compile && !partitioning.partitions.empty()) {
      const partition::Partition& first = partitioning.partitions.front();
      return Status(StatusCode::kModelRequiresCompilation,
                    "partition " + quote(first.name) + " of " +
                        partitioning.providers[first.provider] +
                        " needs compilation, which session.disable_model_compile=1 forbids; create "
                        "a context model with compile_model and load that");
    }
    if (!config_.disable_cpu_fallback) return Status::ok_status();
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      if (partitioning.providers[partitioning.owner[id]] != kCpuProvider) continue;
      Status refusal(StatusCode::kFail,
                     graph::describe_node(graph, id) + " would run on " +
                         std::string(kCpuProvider) +
                         ", which session.disable_cpu_ep_fallback=1 forbids; allow "
                         "it, or add a provider that takes the node");
      const CompileFailure* failure = find_failure(graph, id);
      if (failure == nullptr) return refusal;
      return std::move(refusal).with_context("standing in, as " + failure->reason.message());
    }
    return Status::ok_status();
  }

  Status order() {
    for (PreparedGraph* prepared : prepared_.graphs()) {
      const graph::Graph& graph = prepared_.graph_of(*prepared);
      EPHOST_ASSIGN_OR_RETURN(prepared->execution,
                              plan::plan_execution(graph, prepared->partitioning));
#ifndef NDEBUG
      EPHOST_RETURN_IF_ERROR(
          plan::check_execution(graph, prepared->partitioning, prepared->execution));
#endif
    }
    return Status::ok_status();
  }

  // Frees what only compiled partitions read and their providers gave up. The host's own memory
  // goes; mapped files are given back by the kernel when it needs the room.
  void release_dropped_constants() {
    for (PreparedGraph* prepared : prepared_.graphs()) {
      release_dropped_constants(prepared_.graph_of(*prepared), prepared->partitioning);
    }
  }

  static void release_dropped_constants(graph::Graph& graph,
                                        const partition::Partitioning& partitioning) {
    std::vector<bool> needed(graph.values.size(), true);
    const std::vector<partition::Partition>& partitions = partitioning.partitions;
    for (const partition::Partition& partition : partitions) {
      if (!partition.drop_constants) continue;
      for (const graph::ValueId id : partition.constants) needed[id] = false;
    }
    for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
      const uint32_t owner = partitioning.partition_of[id];
      if (owner != partition::kNoPartition && partitions[owner].drop_constants) continue;
      for (const graph::ValueId input : graph.nodes[id].inputs) {
        if (input != graph::kNoValue) needed[input] = true;
      }
      for (const graph::ValueId input : graph.nodes[id].implicit_inputs) needed[input] = true;
    }
    for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
      const graph::Value& value = graph.values[id];
      if (needed[id] || !value.is_constant() || value.is_graph_output) continue;
      graph.initializers[value.initializer].data = {};
      graph.initializers[value.initializer].strings = nullptr;
    }
  }

  Status plan() {
    for (PreparedGraph* prepared : prepared_.graphs()) EPHOST_RETURN_IF_ERROR(plan(*prepared));
    return Status::ok_status();
  }

  Status plan(PreparedGraph& prepared) {
    const graph::Graph& graph = prepared_.graph_of(prepared);
    std::vector<plan::StepTraits> traits;
    for (const std::optional<bridge::Computation>& computation : prepared.computations) {
      plan::StepTraits& step = traits.emplace_back();
      if (!computation) continue;
      step = {computation->may_inplace(), computation->aliases(), computation->workspace_bytes(),
              0};
    }
    EPHOST_ASSIGN_OR_RETURN(
        prepared.allocation,
        plan::plan_allocation(graph, prepared.execution, traits, {options_.mem_reuse()}));
    plan::MemoryOptions memory_options;
    memory_options.enable_mem_pattern = options_.mem_pattern();
    EPHOST_ASSIGN_OR_RETURN(prepared.pattern,
                            plan::plan_memory(prepared.allocation, {}, memory_options));
#ifndef NDEBUG
    EPHOST_RETURN_IF_ERROR(
        plan::check_allocation(graph, prepared.execution, traits, prepared.allocation));
    EPHOST_RETURN_IF_ERROR(plan::check_memory(prepared.allocation, prepared.pattern));
#endif
    return Status::ok_status();
  }

  const Environment& environment_;
  const SessionOptions& options_;
  const PipelineHooks& hooks_;
  bool defers_sums_;
  bool has_wrong_sum_ = false;
  std::shared_ptr<std::atomic<bool>> is_running_ = std::make_shared<std::atomic<bool>>(true);
  SessionConfig config_;
  context::LoadOptions load_options_;
  onnx_io::ImportReport import_report_;  // until the providers are there
  PreparedModel prepared_;
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
  Pipeline pipeline(environment, options, hooks, true);
  Result<PreparedModel> prepared = pipeline.run(source, until);
  if (prepared.ok() || !pipeline.has_wrong_sum()) return prepared;
  // With sums first: there may be a superseded file that is right, or else a better reason.
  return Pipeline(environment, options, hooks, false).run(source, until);
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
