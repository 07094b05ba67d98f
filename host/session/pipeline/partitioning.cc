#include "host/session/pipeline/partitioning.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/bridge/claim_source.h"
#include "host/graph/body_path.h"
#include "host/graph/subgraphs.h"
#include "host/session/pipeline/compilation.h"
#include "host/session/pipeline/host_claims.h"

namespace ephost::session {
namespace {

class Partitioner {
 public:
  Partitioner(PreparedModel& prepared, const std::string& name_prefix,
              std::vector<std::string> taken_names)
      : prepared_(prepared),
        model_(std::make_shared<const bridge::ModelView>(prepared.model)),
        name_prefix_(name_prefix),
        taken_names_(std::move(taken_names)) {}

  Status run() {
    prepared_.shape_wishes = {};
    EPHOST_ASSIGN_OR_RETURN(cached_, match_sources(prepared_));
    return partition(prepared_.main);
  }

 private:
  // Partitions one graph, and the bodies of its nodes that only the host takes.
  Status partition(PreparedGraph& prepared) {
    graph::Graph& graph = prepared_.graph_of(prepared);
    static const std::vector<graph::NodeId> kNone;
    std::vector<std::unique_ptr<bridge::ProviderClaims>> claims;
    std::vector<partition::ClaimSource*> sources;
    for (size_t i = 0; i < prepared_.providers.size(); ++i) {
      const auto nodes = cached_[i].find(&graph);
      const std::vector<graph::NodeId>& own = nodes == cached_[i].end() ? kNone : nodes->second;
      claims.push_back(std::make_unique<bridge::ProviderClaims>(
          *prepared_.providers[i], model_, prepared_.is_context_model() ? &own : nullptr));
      sources.push_back(claims.back().get());
    }
    HostClaims host;
    if (HostClaims::may_claim(graph)) sources.push_back(&host);
    partition::PartitionOptions partition_options;
    partition_options.name_prefix = name_prefix_;
    partition_options.taken_names = taken_names_;
    std::vector<partition::Exclusion> exclusions;
    for (const CompileFailure& failure : prepared_.failures) {
      if (failure.graph != &graph) continue;
      exclusions.push_back({failure.provider, failure.nodes, failure.reason.message()});
    }
    partition_options.exclusions = exclusions;
    partition_options.cancellation = prepared_.cancellation;
    EPHOST_ASSIGN_OR_RETURN(prepared.partitioning,
                            partition::partition_graph(graph, sources, partition_options));
    prepared.declines.clear();
    for (const auto& source : claims) prepared.declines.push_back(source->declines());
    for (const auto& source : claims) {
      if (is_cancellation(source->failure())) return source->failure();
      warn_of_failure(*source);
    }
    for (size_t i = 0; i < claims.size(); ++i) note_wishes(i, *claims[i], graph);
    for (const partition::Partition& partition : prepared.partitioning.partitions) {
      taken_names_.push_back(partition.name);
    }
    add_bodies(prepared, graph);
    for (PreparedGraph& body : prepared.bodies) {
      EPHOST_RETURN_IF_ERROR(partition(body));
    }
    return Status::ok_status();
  }

  // Reported once for each provider, although the model may be partitioned several times.
  void warn_of_failure(const bridge::ProviderClaims& source) const {
    const std::string name(source.provider_name());
    if (source.failure().ok() || !prepared_.without_capability.insert(name).second) return;
    log_warning(source.failure().message() + "; it gets no nodes, the next providers do");
  }

  void note_wishes(size_t provider, const bridge::ProviderClaims& source,
                   const graph::Graph& graph) const {
    const std::string name(source.provider_name());
    if (!source.wish_failure().ok() && prepared_.without_wishes.insert(name).second) {
      log_warning(source.wish_failure().message() + "; its wishes have no effect");
    }
    ShapeWishes& wishes = prepared_.shape_wishes;
    for (const bridge::ShapeWish& wish : source.shape_wishes()) {
      wishes.all = wishes.all || wish.symbols.empty();
      wishes.symbols.insert(wish.symbols.begin(), wish.symbols.end());
      wishes.nodes.push_back({provider, &graph, wish.nodes});
    }
  }

  // The bodies of the nodes that the host runs.
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

  PreparedModel& prepared_;
  std::shared_ptr<const bridge::ModelView> model_;
  const std::string& name_prefix_;
  std::vector<std::string> taken_names_;
  std::vector<CachedNodes> cached_;  // by provider
};

// The failure of the node's first owner, or null.
const CompileFailure* find_failure(const PreparedModel& model, const graph::Graph& graph,
                                   graph::NodeId node) {
  const auto failure = std::find_if(
      model.failures.begin(), model.failures.end(), [&](const CompileFailure& candidate) {
        return candidate.graph == &graph &&
               std::binary_search(candidate.nodes.begin(), candidate.nodes.end(), node);
      });
  return failure == model.failures.end() ? nullptr : &*failure;
}

// If a provider failed and no other one takes its nodes, its failure is the reason.
Status check_cover(const PreparedModel& model, const graph::Graph& graph,
                   const partition::Partitioning& partitioning) {
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (partitioning.owner[id] != partition::kUnassigned) continue;
    const CompileFailure* failure = find_failure(model, graph, id);
    if (failure == nullptr) continue;
    return Status(failure->reason)
        .with_context(formatted("looking for another provider of {}, which there is not",
                                graph::describe_node(graph, id)));
  }
  return partition::check_cover(graph, partitioning);
}

Status check_graph(const PreparedModel& model, const PreparedGraph& prepared,
                   const SessionConfig& config) {
  const graph::Graph& graph = model.graph_of(prepared);
  const partition::Partitioning& partitioning = prepared.partitioning;
  EPHOST_RETURN_IF_ERROR(check_cover(model, graph, partitioning));
  for (const partition::Partition& partition : partitioning.partitions) {
    if (!config.disable_model_compile || model.reused.find(partition.name) != nullptr) continue;
    return Status(
        StatusCode::kModelRequiresCompilation,
        formatted("partition {} of {} needs compilation, which session.disable_model_compile=1 "
                  "forbids; create a context model with compile_model and load that",
                  quote(partition.name), partitioning.providers[partition.provider]));
  }
  if (!config.disable_cpu_fallback) return Status::ok_status();
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (partitioning.providers[partitioning.owner[id]] != kCpuProvider) continue;
    Status refusal(StatusCode::kFail,
                   formatted("{} would run on {}, which session.disable_cpu_ep_fallback=1 forbids; "
                             "allow it, or add a provider that takes the node",
                             graph::describe_node(graph, id), kCpuProvider));
    const CompileFailure* failure = find_failure(model, graph, id);
    if (failure == nullptr) return refusal;
    return std::move(refusal).with_context("standing in, as " + failure->reason.message());
  }
  return Status::ok_status();
}

}  // namespace

Status partition_model(PreparedModel& prepared, const std::string& name_prefix,
                       std::vector<std::string> taken_names) {
  return Partitioner(prepared, name_prefix, std::move(taken_names)).run();
}

Status check_partitioning(const PreparedModel& prepared, const SessionConfig& config) {
  for (const PreparedGraph* graph : prepared.graphs()) {
    Status status = check_graph(prepared, *graph, config);
    if (!graph->path.empty()) {
      status = std::move(status).with_context("preparing " + quote(graph->path));
    }
    EPHOST_RETURN_IF_ERROR(status);
  }
  return Status::ok_status();
}

void report_fallback(const PreparedModel& prepared, const CompileFailure& failure) {
  const std::string what = failure.partition.empty()
                               ? graph::describe_node(*failure.graph, failure.nodes.front())
                               : "the nodes of partition " + quote(failure.partition);
  log_warning(formatted("{}; {} went from {} to the next providers", failure.reason.message(), what,
                        prepared.providers[failure.provider]->name()));
}

}  // namespace ephost::session
