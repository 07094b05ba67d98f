#include "host/session/compilation.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
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

// What the computation of a step is made of.
MadeComputations::key_type key_of(const graph::Graph& graph, const PreparedGraph& prepared,
                                  const plan::Step& step) {
  if (step.partition == plan::kNoPartition) return {step.provider, &graph, {step.node}, ""};
  const partition::Partition& partition = prepared.partitioning.partitions[step.partition];
  return {step.provider, &graph, partition.nodes, partition.name};
}

// Makes the computations of one provider.
class ProviderCompilation {
 public:
  ProviderCompilation(PreparedModel& prepared, const CachedByPlace& cached, uint32_t provider,
                      bool stop_at_failure, MadeComputations& made)
      : prepared_(prepared),
        cached_(cached),
        provider_(*prepared.providers[provider]),
        index_(provider),
        stop_at_failure_(stop_at_failure),
        made_(made) {}

  Status run() {
    for (PreparedGraph* graph : prepared_.graphs()) EPHOST_RETURN_IF_ERROR(visit(*graph));
    return compile();
  }

 private:
  Status visit(const PreparedGraph& prepared) {
    const graph::Graph& graph = prepared_.graph_of(prepared);
    std::optional<bridge::GraphView> whole;  // made for the first kernel
    for (const plan::Step& step : prepared.execution.steps) {
      if (step.provider != index_) continue;
      const auto key = key_of(graph, prepared, step);
      if (made_.contains(key)) continue;
      const auto cached = cached_.find(std::pair(&graph, step.node));
      if (step.partition != plan::kNoPartition) {
        add_request(key, std::get<std::string>(key), nullptr);
      } else if (cached != cached_.end()) {
        provider_.retain(prepared_.context.payloads[cached->second->payload].bytes);
        contexts_.push_back(to_abi_context(prepared_, *cached->second));
        add_request(key, cached->second->attributes.partition_name, &contexts_.back());
      } else {
        if (!whole) whole.emplace(graph, prepared_.model);
        EPHOST_RETURN_IF_ERROR(keep(key, "", provider_.create_kernel(*whole, step.node), false));
      }
    }
    return Status::ok_status();
  }

  void add_request(const MadeComputations::key_type& key, const std::string& name,
                   const eph_ep_context* context) {
    const auto& [provider, graph, nodes, partition] = key;
    graphs_.push_back(graph::extract_subgraph(*graph, nodes, name).graph);
    views_.emplace_back(graphs_.back(), prepared_.model);
    requests_.push_back({&views_.back(), graphs_.back().name, context});
    keys_.push_back(key);
  }

  Status compile() {
    if (requests_.empty()) return Status::ok_status();
    Result<std::vector<bridge::Computation>> all = provider_.compile(requests_);
    if (all.ok()) {
      for (size_t i = 0; i < requests_.size(); ++i) made_.emplace(keys_[i], std::move((*all)[i]));
      return Status::ok_status();
    }
    if (requests_.size() == 1 || is_cancelled(all.status())) {
      return keep_request(0, std::move(all).status());
    }
    log_warning(all.status().message() + "; each of them is tried alone");
    for (size_t i = 0; i < requests_.size(); ++i) {
      auto one = provider_.compile({&requests_[i], 1});
      EPHOST_RETURN_IF_ERROR(one.ok() ? keep_request(i, std::move(one->front()))
                                      : keep_request(i, std::move(one).status()));
    }
    return Status::ok_status();
  }

  Status keep_request(size_t i, Result<bridge::Computation> made) {
    return keep(keys_[i], requests_[i].name, std::move(made), requests_[i].ep_context != nullptr);
  }

  // Takes a computation, or notes why there is none.
  Status keep(const MadeComputations::key_type& key, std::string_view name,
              Result<bridge::Computation> made, bool is_cached) {
    if (made.ok()) {
      made_.emplace(key, std::move(made).value());
      return Status::ok_status();
    }
    Status reason = std::move(made).status();
    if (is_cancelled(reason)) return reason;
    const auto& [provider, graph, nodes, partition] = key;
    if (is_cached) {
      reason = Status(StatusCode::kInvalidGraph,
                      graph::describe_node(*graph, nodes.front()) + ": " + reason.message());
    }
    if (stop_at_failure_) return reason;
    prepared_.failures.push_back({index_, graph, nodes, std::string(name), std::move(reason)});
    return Status::ok_status();
  }

  static bool is_cancelled(const Status& status) {
    return status.code() == StatusCode::kModelLoadCanceled;
  }

  PreparedModel& prepared_;
  const CachedByPlace& cached_;
  bridge::Provider& provider_;
  uint32_t index_;
  bool stop_at_failure_;
  MadeComputations& made_;
  // What the requests point to; deques keep addresses.
  std::deque<graph::Graph> graphs_;
  std::deque<bridge::GraphView> views_;
  std::deque<eph_ep_context> contexts_;
  std::vector<bridge::CompileRequest> requests_;
  std::vector<MadeComputations::key_type> keys_;  // beside requests_
};

// Why the provider cannot have the node again, or null.
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

// The provider that is to restore the partition.
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
  return Status(StatusCode::kNotImplemented,
                graph::describe_node(*partition.place.graph, partition.place.node) +
                    " was made by source " + quote(partition.attributes.source) +
                    ", which none of the session's providers (" + join(names, ", ") +
                    ") accepts; add the provider that made it");
}

}  // namespace

bridge::Provider* find_accepting(const PreparedModel& prepared, std::string_view source) {
  for (const auto& provider : prepared.providers) {
    if (accepts(*provider, source)) return provider.get();
  }
  return nullptr;
}

Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared) {
  std::vector<CachedNodes> cached(prepared.providers.size());
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    EPHOST_ASSIGN_OR_RETURN(const size_t provider, match_source(prepared, partition));
    cached[provider][partition.place.graph].push_back(partition.place.node);
  }
  return cached;
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

Status make_computations(PreparedModel& prepared, bool stop_at_failure, MadeComputations& made) {
  const CachedByPlace cached = cached_by_place(prepared);
  const size_t known_failures = prepared.failures.size();
  for (uint32_t provider = 0; provider < prepared.providers.size(); ++provider) {
    EPHOST_RETURN_IF_ERROR(
        ProviderCompilation(prepared, cached, provider, stop_at_failure, made).run());
    if (prepared.failures.size() > known_failures) return Status::ok_status();
  }
  for (PreparedGraph* graph : prepared.graphs()) {
    graph->computations.clear();
    for (const plan::Step& step : graph->execution.steps) {
      const auto found = made.find(key_of(prepared.graph_of(*graph), *graph, step));
      std::optional<bridge::Computation>& computation = graph->computations.emplace_back();
      if (found != made.end()) computation = std::move(found->second);
    }
  }
  return Status::ok_status();
}

}  // namespace ephost::session
