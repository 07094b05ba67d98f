#include "host/session/pipeline/compilation.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/outside_constants.h"
#include "host/bridge/provider.h"
#include "host/graph/extract.h"

namespace ephost::session {
namespace {

using CachedByPlace =
    std::map<std::pair<const graph::Graph*, graph::NodeId>, const context::CachedPartition*>;

CachedByPlace cached_by_place(const PreparedModel& prepared) {
  CachedByPlace cached;
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    cached.emplace(std::pair(partition.place.graph, partition.place.node), &partition);
  }
  return cached;
}

eph_ep_context to_abi_context(const context::EpContextNode& node, const graph::Blob& payload) {
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  context.payload = {payload.bytes.data(), payload.bytes.size()};
  context.partition_name = bridge::to_abi(node.partition_name);
  context.source = bridge::to_abi(node.source);
  context.sdk_version = bridge::to_abi(node.sdk_version);
  context.hardware_architecture = bridge::to_abi(node.hardware_architecture);
  context.notes = bridge::to_abi(node.notes);
  context.max_size = node.max_size;
  context.main_context = node.main_context ? 1 : 0;
  return context;
}

// Null if the payload names none.
std::shared_ptr<const bridge::OutsideConstants> constants_of(
    const context::CachedPartition& partition) {
  if (partition.constants.empty()) return nullptr;
  std::vector<std::string> names;
  for (const context::NamedConstant& constant : partition.attributes.constants) {
    names.push_back(constant.name);
  }
  return std::make_shared<const bridge::OutsideConstants>(std::move(names), partition.constants);
}

// What a step's computation is made from.
MadeComputations::Origin origin_of(const graph::Graph& graph, const PreparedGraph& prepared,
                                   const plan::Step& step) {
  if (step.partition == plan::kNoPartition) return {step.provider, &graph, {step.node}, ""};
  const partition::Partition& partition = prepared.partitioning.partitions[step.partition];
  return {step.provider, &graph, partition.nodes, partition.name};
}

// The token of the claim that the step's partition was made from; 0 for a single node.
uint64_t token_of(const PreparedGraph& prepared, const plan::Step& step) {
  if (step.partition == plan::kNoPartition) return 0;
  return prepared.partitioning.partitions[step.partition].token;
}

// Makes the computations of one provider.
class ProviderCompilation {
 public:
  ProviderCompilation(PreparedModel& prepared, std::shared_ptr<const bridge::ModelView> model,
                      const CachedByPlace& cached, uint32_t provider, bool stop_at_failure,
                      MadeComputations& made)
      : prepared_(prepared),
        model_(std::move(model)),
        cached_(cached),
        provider_(*prepared.providers[provider]),
        index_(provider),
        stop_at_failure_(stop_at_failure),
        made_(made) {}

  Status run() {
    for (PreparedGraph* graph : prepared_.graphs()) EPHOST_RETURN_IF_ERROR(visit(*graph));
    EPHOST_ASSIGN_OR_RETURN(const bool has_restored, restore_reused());
    return has_restored ? compile() : Status::ok_status();
  }

 private:
  // What is passed to one call of `compile`.
  struct Batch {
    std::vector<bridge::CompileRequest> requests;
    std::vector<MadeComputations::Origin> origins;  // beside requests

    void add(bridge::CompileRequest request, MadeComputations::Origin origin) {
      requests.push_back(std::move(request));
      origins.push_back(std::move(origin));
    }
  };

  Status visit(const PreparedGraph& prepared) {
    const graph::Graph& graph = prepared_.graph_of(prepared);
    std::vector<std::optional<bridge::Computation>>& kernels = made_.kernels[{index_, &graph}];
    kernels.resize(graph.nodes.size());
    std::optional<bridge::GraphView> whole;  // created with the first kernel
    for (const plan::Step& step : prepared.execution.steps) {
      if (step.provider != index_) continue;
      EPHOST_RETURN_IF_ERROR(prepared_.cancellation.check());
      const context::CachedPartition* cached = find_cached(graph, step);
      if (step.partition != plan::kNoPartition || cached != nullptr) {
        request(origin_of(graph, prepared, step), cached, token_of(prepared, step));
      } else if (!kernels[step.node]) {
        if (!whole) {
          whole.emplace(graph, model_, bridge::GraphView::role_of(graph, prepared_.model));
        }
        Result<bridge::Computation> made = provider_.create_kernel(*whole, step.node);
        if (made.ok()) {
          kernels[step.node] = std::move(made).value();
        } else {
          count_failure("kernel", made.status());
          EPHOST_RETURN_IF_ERROR(fail(graph, {step.node}, "", std::move(made).status()));
        }
      }
    }
    return Status::ok_status();
  }

  // Null unless the step is an EPContext node.
  [[nodiscard]] const context::CachedPartition* find_cached(const graph::Graph& graph,
                                                            const plan::Step& step) const {
    if (cached_.empty() || step.partition != plan::kNoPartition) return nullptr;
    const auto cached = cached_.find(std::pair(&graph, step.node));
    return cached == cached_.end() ? nullptr : cached->second;
  }

  void request(MadeComputations::Origin origin, const context::CachedPartition* cached,
               uint64_t token) {
    if (made_.compiled.contains(origin)) return;
    const auto& [provider, graph, nodes, partition] = origin;
    const ReusedContext* reused = prepared_.reused.find(partition);
    if (cached == nullptr && reused != nullptr) return request_reused(std::move(origin), *reused);
    const eph_ep_context* context = nullptr;
    std::shared_ptr<const bridge::OutsideConstants> constants;
    if (cached != nullptr) {
      const graph::Blob& payload = prepared_.context.payloads[cached->payload].bytes;
      provider_.retain(payload);
      eph_ep_context& abi = contexts_.emplace_back(to_abi_context(cached->attributes, payload));
      constants = constants_of(*cached);
      if (constants) {
        abi.constants = constants->list().data();
        abi.constant_count = constants->list().size();
      }
      context = &abi;
    }
    const std::string& name = cached != nullptr ? cached->attributes.partition_name : partition;
    graphs_.push_back(graph::extract_subgraph(*graph, nodes, name).graph);
    views_.emplace_back(graphs_.back(), model_, bridge::GraphView::Role::kWhole);
    batch_.add({&views_.back(), graphs_.back().name, context, token, constants}, std::move(origin));
  }

  // The provider gets the node that a context model would have in the partition's place.
  void request_reused(MadeComputations::Origin origin, const ReusedContext& reused) {
    const auto& [provider, graph, nodes, partition] = origin;
    const graph::Blob& payload = prepared_.reused.payloads[reused.payload].bytes;
    provider_.retain(payload);
    if (!context_model_) {
      graph::Model& model = context_model_.emplace();
      model.ir_version = prepared_.model.ir_version;
      model.opset_imports = prepared_.model.opset_imports;
      model.opset_imports.emplace(context::kEpContextDomain, context::kEpContextVersion);
      model.symbols = prepared_.model.symbols;
      context_view_ = std::make_shared<const bridge::ModelView>(model);
    }
    graphs_.push_back(context::make_ep_context_graph(
        graph::extract_subgraph(*graph, nodes, partition).graph, reused.attributes));
    views_.emplace_back(graphs_.back(), context_view_, bridge::GraphView::Role::kWhole);
    contexts_.push_back(to_abi_context(reused.attributes, payload));
    reused_batch_.add({&views_.back(), graphs_.back().name, &contexts_.back()}, std::move(origin));
  }

  // False if the provider refuses a context.
  Result<bool> restore_reused() {
    if (reused_batch_.requests.empty()) return true;
    Result<std::vector<bridge::Computation>> all = call(reused_batch_.requests);
    if (all.ok()) {
      keep(reused_batch_, std::move(*all));
      return true;
    }
    if (is_cancellation(all.status())) return all.status();
    log_warning("cache store: " + all.status().message() +
                "; what was to be taken over from an older entry is compiled");
    std::erase_if(prepared_.reused.partitions,
                  [this](const auto& reused) { return reused.second.provider == index_; });
    return false;
  }

  void keep(const Batch& batch, std::vector<bridge::Computation> computations) {
    for (size_t i = 0; i < batch.requests.size(); ++i) {
      made_.compiled.emplace(batch.origins[i], std::move(computations[i]));
    }
  }

  // Compiles or restores, and counts it.
  Result<std::vector<bridge::Computation>> call(std::span<const bridge::CompileRequest> requests) {
    Metrics* const metrics = prepared_.metrics;
    if (metrics == nullptr) return provider_.compile(requests);
    const bool restores = std::ranges::none_of(
        requests, [](const auto& request) { return request.ep_context == nullptr; });
    const std::string action = restores ? "restore" : "compile";
    const auto start = Metrics::Clock::now();
    auto made = provider_.compile(requests);
    metrics->observe(Family::kProviderSeconds, {provider_.name(), action},
                     Metrics::Clock::now() - start);
    if (made.ok()) metrics->add(Family::kPartitions, {provider_.name(), action}, requests.size());
    if (!made.ok()) count_failure(action, made.status());
    return made;
  }

  void count_failure(std::string action, const Status& reason) const {
    if (prepared_.metrics == nullptr || is_cancellation(reason)) return;
    prepared_.metrics->add(
        Family::kProviderFailures,
        {provider_.name(), std::move(action), std::string(status_code_name(reason.code()))});
  }

  Status compile() {
    const std::vector<bridge::CompileRequest>& requests = batch_.requests;
    if (requests.empty()) return Status::ok_status();
    Result<std::vector<bridge::Computation>> all = call(requests);
    if (all.ok()) {
      keep(batch_, std::move(*all));
      return Status::ok_status();
    }
    if (requests.size() == 1 || is_cancellation(all.status())) {
      return keep_request(0, std::move(all).status());
    }
    if (all.status().code() == StatusCode::kDeviceLost) {
      for (size_t i = 0; i < requests.size(); ++i) {
        EPHOST_RETURN_IF_ERROR(keep_request(i, all.status()));
      }
      return Status::ok_status();
    }
    log_warning(all.status().message() + "; each of them is tried alone");
    for (size_t i = 0; i < requests.size(); ++i) {
      EPHOST_RETURN_IF_ERROR(prepared_.cancellation.check());
      auto one = call({&requests[i], 1});
      EPHOST_RETURN_IF_ERROR(one.ok() ? keep_request(i, std::move(one->front()))
                                      : keep_request(i, std::move(one).status()));
    }
    return Status::ok_status();
  }

  Status keep_request(size_t i, Result<bridge::Computation> made) {
    if (made.ok()) {
      made_.compiled.emplace(batch_.origins[i], std::move(made).value());
      return Status::ok_status();
    }
    const auto& [provider, graph, nodes, partition] = batch_.origins[i];
    Status reason = std::move(made).status();
    if (batch_.requests[i].ep_context != nullptr && !is_circumstance(reason)) {
      reason = Status(
          StatusCode::kInvalidGraph,
          formatted("{}: {}", graph::describe_node(*graph, nodes.front()), reason.message()));
    }
    return fail(*graph, nodes, batch_.requests[i].name, std::move(reason));
  }

  // Records why there is no computation.
  Status fail(const graph::Graph& graph, std::vector<graph::NodeId> nodes, std::string_view name,
              Status reason) {
    if (stop_at_failure_ || is_cancellation(reason)) return reason;
    prepared_.failures.push_back(
        {index_, &graph, std::move(nodes), std::string(name), std::move(reason)});
    return Status::ok_status();
  }

  PreparedModel& prepared_;
  std::shared_ptr<const bridge::ModelView> model_;
  const CachedByPlace& cached_;
  bridge::Provider& provider_;
  uint32_t index_;
  bool stop_at_failure_;
  MadeComputations& made_;
  // The requests point into these; the elements of a deque do not move.
  std::deque<graph::Graph> graphs_;
  std::deque<bridge::GraphView> views_;
  std::deque<eph_ep_context> contexts_;
  // What the views of reused contexts see of a model.
  std::optional<graph::Model> context_model_;
  std::shared_ptr<const bridge::ModelView> context_view_;
  Batch batch_;
  Batch reused_batch_;
};

// The failure that bars the provider from the node, or null.
const CompileFailure* find_failure(const PreparedModel& prepared, size_t provider,
                                   const context::NodePlace& place) {
  for (const CompileFailure& failure : prepared.failures) {
    if (failure.provider == provider && failure.graph == place.graph &&
        std::binary_search(failure.nodes.begin(), failure.nodes.end(), place.node)) {
      return &failure;
    }
  }
  return nullptr;
}

// The provider that restores the partition.
Result<size_t> match_source(const PreparedModel& prepared,
                            const context::CachedPartition& partition) {
  const CompileFailure* failed = nullptr;
  for (size_t i = 0; i < prepared.providers.size(); ++i) {
    if (!accepts(*prepared.providers[i], partition.attributes.source)) continue;
    const CompileFailure* failure = find_failure(prepared, i, partition.place);
    if (failure == nullptr) return i;
    if (failed == nullptr) failed = failure;
  }
  if (failed != nullptr) return failed->reason;
  std::vector<std::string> names;
  for (const auto& candidate : prepared.providers) names.push_back(candidate->name());
  return Status(
      StatusCode::kNotImplemented,
      formatted("{} was made by source {}, which none of the session's providers ({}) accepts; "
                "add the provider that made it",
                graph::describe_node(*partition.place.graph, partition.place.node),
                quote(partition.attributes.source), join(names, ", ")));
}

// Lets the provider judge the text of a payload.
Status check_payload(const bridge::Provider& provider, const std::string& source,
                     const std::string& text, bool fail_on_suboptimal) {
  EPHOST_ASSIGN_OR_RETURN(const bridge::Compatibility verdict, provider.validate(text));
  const std::string found =
      formatted("the context of {} was made for {}; ", quote(source), quote(text));
  switch (verdict) {
    case bridge::Compatibility::kOptimal:
      return Status::ok_status();
    case bridge::Compatibility::kNotApplicable:
      return Status(StatusCode::kInvalidGraph,
                    found + formatted("{} does not know this text as one of its own, although its "
                                      "manifest accepts the source; use the plugin that made the "
                                      "context, or compile the model again",
                                      provider.name()));
    case bridge::Compatibility::kUnsupported:
      return Status(StatusCode::kInvalidGraph,
                    found + provider.name() +
                        " here cannot load it; compile the model again on this machine");
    case bridge::Compatibility::kPreferRecompilation:
      break;
  }
  const std::string advice =
      found + provider.name() + " here would do better with a new one; compile the model again";
  if (fail_on_suboptimal) return Status(StatusCode::kInvalidGraph, advice);
  log_warning(advice);
  return Status::ok_status();
}

// Nothing for a step that the host runs itself.
std::optional<bridge::Computation> take(const graph::Graph& graph, const PreparedGraph& prepared,
                                        const plan::Step& step, MadeComputations& made) {
  if (step.partition == plan::kNoPartition) {
    const auto kernels = made.kernels.find({step.provider, &graph});
    if (kernels != made.kernels.end() && kernels->second[step.node]) {
      return std::move(kernels->second[step.node]);
    }
  }
  if (made.compiled.empty()) return std::nullopt;
  const auto compiled = made.compiled.find(origin_of(graph, prepared, step));
  if (compiled == made.compiled.end()) return std::nullopt;
  return std::move(compiled->second);
}

}  // namespace

Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared) {
  std::vector<CachedNodes> cached(prepared.providers.size());
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    EPHOST_ASSIGN_OR_RETURN(const size_t provider, match_source(prepared, partition));
    cached[provider][partition.place.graph].push_back(partition.place.node);
  }
  return cached;
}

Status check_compatibility(const PreparedModel& prepared, bool fail_on_suboptimal) {
  std::set<std::pair<std::string_view, std::string_view>> judged;
  for (const context::CachedPayload& payload : prepared.context.payloads) {
    const std::string& text = prepared.context.compatibility_of(payload);
    if (text.empty() || !judged.emplace(payload.source, text).second) continue;
    const bridge::Provider* provider = find_accepting(prepared, payload.source);
    if (provider == nullptr) continue;
    EPHOST_RETURN_IF_ERROR(check_payload(*provider, payload.source, text, fail_on_suboptimal));
  }
  return Status::ok_status();
}

Status make_computations(PreparedModel& prepared, bool stop_at_failure, MadeComputations& made) {
  const auto model = std::make_shared<const bridge::ModelView>(prepared.model);
  const CachedByPlace cached = cached_by_place(prepared);
  const size_t known_failures = prepared.failures.size();
  const size_t known_reused = prepared.reused.partitions.size();
  for (uint32_t provider = 0; provider < prepared.providers.size(); ++provider) {
    EPHOST_RETURN_IF_ERROR(
        ProviderCompilation(prepared, model, cached, provider, stop_at_failure, made).run());
    const bool is_complete = prepared.failures.size() == known_failures &&
                             prepared.reused.partitions.size() == known_reused;
    if (!is_complete) return Status::ok_status();
  }
  for (PreparedGraph* graph : prepared.graphs()) {
    graph->computations.clear();
    graph->computations.reserve(graph->execution.steps.size());
    for (const plan::Step& step : graph->execution.steps) {
      graph->computations.push_back(take(prepared.graph_of(*graph), *graph, step, made));
    }
  }
  return Status::ok_status();
}

void drop_reused_contexts(PreparedModel& prepared, MadeComputations& made) {
  std::erase_if(made.compiled, [&](const auto& computation) {
    const std::string& partition = std::get<3>(computation.first);
    return prepared.reused.find(partition) != nullptr;
  });
  prepared.reused = {};
}

void take_computations(PreparedModel& prepared, MadeComputations& made) {
  const CachedByPlace cached = cached_by_place(prepared);
  for (PreparedGraph* one : prepared.graphs()) {
    const graph::Graph& graph = prepared.graph_of(*one);
    for (size_t i = 0; i < one->computations.size(); ++i) {
      const plan::Step& step = one->execution.steps[i];
      std::optional<bridge::Computation>& computation = one->computations[i];
      if (!computation) continue;
      if (step.partition == plan::kNoPartition && !cached.contains({&graph, step.node})) {
        auto& kernels = made.kernels[{step.provider, &graph}];
        kernels.resize(graph.nodes.size());
        kernels[step.node] = std::move(computation);
      } else {
        made.compiled.emplace(origin_of(graph, *one, step), *std::move(computation));
      }
    }
    one->computations.clear();
  }
}

}  // namespace ephost::session
