// The stage that makes the computations of a partitioned model: providers restore cached
// partitions, compile the others and create kernels. Called by the pipeline only.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/bridge/computation.h"
#include "host/graph/graph.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// EPContext nodes by the graph that they are in, ascending.
using CachedNodes = std::map<const graph::Graph*, std::vector<graph::NodeId>>;

// The EPContext nodes that each provider restores, in all graphs of the model. A node goes to the
// first provider whose manifest accepts its `source` and that has not failed at it. NOT_IMPLEMENTED
// if no provider of the session accepts a node, INVALID_GRAPH if all that accept it have failed.
[[nodiscard]] Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared);

// Lets the providers judge the compatibility strings of the payloads for the session's devices.
// INVALID_GRAPH if a provider cannot load a payload, or does not know its text. That it prefers
// recompilation is logged, or INVALID_GRAPH with `fail_on_suboptimal`.
[[nodiscard]] Status check_compatibility(const PreparedModel& prepared, bool fail_on_suboptimal);

// Computations by what they were made from. They are kept when another node makes the model be
// partitioned again.
struct MadeComputations {
  // Provider, graph, nodes and name of the partition; the name of an EPContext node's is empty.
  using Origin = std::tuple<uint32_t, const graph::Graph*, std::vector<graph::NodeId>, std::string>;
  std::map<Origin, bridge::Computation> compiled;
  // By provider and graph, then by node.
  std::map<std::pair<uint32_t, const graph::Graph*>,
           std::vector<std::optional<bridge::Computation>>>
      kernels;
};

// Fills in PreparedGraph::computations of all graphs from `made`, and makes those that are missing:
// each provider creates kernels for its single nodes, and compiles or restores its partitions of
// the whole model in one call. If that fails, it gets one call for each partition.
//
// What PreparedModel::reused names is restored in a call of its own. If a provider refuses that,
// its partitions are removed from there, the providers after it are not called, and no computations
// are filled in.
//
// If a provider fails, its failures are added to PreparedModel::failures, the providers after it
// are not called, and no computations are filled in. The reason is INVALID_GRAPH for an EPContext
// node, unless it says nothing about the node (host/base/status_kinds.h). With `stop_at_failure`
// the function itself fails instead; it also does if the preparation is cancelled or a provider
// returns one of their codes.
[[nodiscard]] Status make_computations(PreparedModel& prepared, bool stop_at_failure,
                                       MadeComputations& made);

// Forgets PreparedModel::reused and the computations that were restored from there. To be called
// before the model is partitioned again, as a name may then belong to other nodes.
void drop_reused_contexts(PreparedModel& prepared, MadeComputations& made);

// The reverse of the end of make_computations: moves the computations of all graphs into `made`.
void take_computations(PreparedModel& prepared, MadeComputations& made);

}  // namespace ephost::session
