#include "host/session/compilation.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"
#include "host/graph/extract.h"

namespace ephost::session {
namespace {

bool accepts(const bridge::Provider& provider, std::string_view source) {
  const std::vector<std::string>& sources = provider.plugin().manifest.context_sources;
  // A node without a source is taken by the first provider that makes contexts at all.
  if (source.empty()) return !sources.empty();
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

using CachedByPlace =
    std::map<std::pair<const graph::Graph*, graph::NodeId>, const context::CachedPartition*>;

CachedByPlace cached_by_place(const PreparedModel& prepared) {
  CachedByPlace cached;
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    cached.emplace(std::pair(partition.place.graph, partition.place.node), &partition);
  }
  return cached;
}

eph_ep_context to_abi_context(const PreparedModel& prepared,
                              const context::CachedPartition& partition) {
  const context::EpContextNode& node = partition.attributes;
  const std::span<const std::byte> bytes = prepared.context.payloads[partition.payload].bytes.bytes;
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  context.payload = {bytes.data(), bytes.size()};
  context.partition_name = bridge::to_abi(node.partition_name);
  context.source = bridge::to_abi(node.source);
  context.sdk_version = bridge::to_abi(node.sdk_version);
  context.hardware_architecture = bridge::to_abi(node.hardware_architecture);
  context.notes = bridge::to_abi(node.notes);
  context.max_size = node.max_size;
  context.main_context = node.main_context ? 1 : 0;
  return context;
}

// Makes the computations of one provider.
class ProviderCompilation {
 public:
  ProviderCompilation(PreparedModel& prepared, const CachedByPlace& cached, uint32_t provider)
      : prepared_(prepared),
        cached_(cached),
        provider_(*prepared.providers[provider]),
        index_(provider) {}

  Status run() {
    for (PreparedGraph* graph : prepared_.graphs()) EPHOST_RETURN_IF_ERROR(visit(*graph));
    return compile();
  }

 private:
  Status visit(PreparedGraph& prepared) {
    const graph::Graph& graph = prepared_.graph_of(prepared);
    const std::vector<plan::Step>& steps = prepared.execution.steps;
    std::optional<bridge::GraphView> whole;  // made for the first kernel
    for (size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].provider != index_) continue;
      std::optional<bridge::Computation>& computation = prepared.computations[step];
      const auto cached = cached_.find(std::pair(&graph, steps[step].node));
      if (steps[step].partition != plan::kNoPartition) {
        const partition::Partition& partition =
            prepared.partitioning.partitions[steps[step].partition];
        add_request(graph, partition.nodes, partition.name, nullptr, computation);
      } else if (cached != cached_.end()) {
        provider_.retain(prepared_.context.payloads[cached->second->payload].bytes);
        contexts_.push_back(to_abi_context(prepared_, *cached->second));
        add_request(graph, {steps[step].node}, cached->second->attributes.partition_name,
                    &contexts_.back(), computation);
      } else {
        if (!whole) whole.emplace(graph, prepared_.model);
        EPHOST_ASSIGN_OR_RETURN(computation, provider_.create_kernel(*whole, steps[step].node));
      }
    }
    return Status::ok_status();
  }

  void add_request(const graph::Graph& graph, std::vector<graph::NodeId> nodes,
                   const std::string& name, const eph_ep_context* context,
                   std::optional<bridge::Computation>& computation) {
    graphs_.push_back(graph::extract_subgraph(graph, nodes, name).graph);
    views_.emplace_back(graphs_.back(), prepared_.model);
    requests_.push_back({&views_.back(), graphs_.back().name, context});
    targets_.push_back(&computation);
  }

  Status compile() {
    if (requests_.empty()) return Status::ok_status();
    EPHOST_ASSIGN_OR_RETURN(std::vector<bridge::Computation> compiled,
                            provider_.compile(requests_));
    for (size_t i = 0; i < compiled.size(); ++i) *targets_[i] = std::move(compiled[i]);
    return Status::ok_status();
  }

  PreparedModel& prepared_;
  const CachedByPlace& cached_;
  bridge::Provider& provider_;
  uint32_t index_;
  // What the requests point to; deques keep addresses.
  std::deque<graph::Graph> graphs_;
  std::deque<bridge::GraphView> views_;
  std::deque<eph_ep_context> contexts_;
  std::vector<bridge::CompileRequest> requests_;
  std::vector<std::optional<bridge::Computation>*> targets_;  // beside requests_
};

}  // namespace

bridge::Provider* find_accepting(const PreparedModel& prepared, std::string_view source) {
  for (const auto& provider : prepared.providers) {
    if (accepts(*provider, source)) return provider.get();
  }
  return nullptr;
}

Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared) {
  std::map<const bridge::Provider*, CachedNodes> cached;
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    const bridge::Provider* provider = find_accepting(prepared, partition.attributes.source);
    if (provider == nullptr) {
      std::vector<std::string> names;
      for (const auto& candidate : prepared.providers) names.push_back(candidate->name());
      return Status(StatusCode::kNotImplemented,
                    graph::describe_node(*partition.place.graph, partition.place.node) +
                        " was made by source " + quote(partition.attributes.source) +
                        ", which none of the session's providers (" + join(names, ", ") +
                        ") accepts; add the provider that made it");
    }
    cached[provider][partition.place.graph].push_back(partition.place.node);
  }
  std::vector<CachedNodes> in_order;
  for (const auto& provider : prepared.providers) {
    in_order.push_back(std::move(cached[provider.get()]));
  }
  return in_order;
}

Status check_compatibility(PreparedModel& prepared, bool fail_on_suboptimal) {
  for (const auto& [source, text] : prepared.context.compatibility) {
    for (const auto& provider : prepared.providers) {
      if (!accepts(*provider, source)) continue;
      EPHOST_ASSIGN_OR_RETURN(const bridge::Compatibility level,
                              provider->validate_compatibility(text));
      if (level == bridge::Compatibility::kOptimal) break;
      const std::string found = "the context of " + quote(source) + " was made for " + quote(text) +
                                "; " + provider->name() + " here ";
      if (level == bridge::Compatibility::kUnsupported) {
        return Status(StatusCode::kInvalidGraph,
                      found + "cannot load it; compile the model again on this machine");
      }
      const std::string advice = found + "would do better with a new one; compile the model again";
      if (fail_on_suboptimal) return Status(StatusCode::kInvalidGraph, advice);
      log_warning(advice);
      break;
    }
  }
  return Status::ok_status();
}

Status make_computations(PreparedModel& prepared) {
  for (PreparedGraph* graph : prepared.graphs()) {
    graph->computations =
        std::vector<std::optional<bridge::Computation>>(graph->execution.steps.size());
  }
  const CachedByPlace cached = cached_by_place(prepared);
  for (uint32_t provider = 0; provider < prepared.providers.size(); ++provider) {
    EPHOST_RETURN_IF_ERROR(ProviderCompilation(prepared, cached, provider).run());
  }
  return Status::ok_status();
}

}  // namespace ephost::session
