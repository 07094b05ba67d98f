// The steps between a partitioned model and its computations: which provider restores which cached
// partition, what is compiled, which kernels are made. Called by the pipeline only.
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
#include "host/session/pipeline/prepared_model.h"

namespace ephost::session {

// EPContext nodes by the graph that they are in, ascending.
using CachedNodes = std::map<const graph::Graph*, std::vector<graph::NodeId>>;

// The first provider whose manifest accepts the source; null if there is none.
[[nodiscard]] bridge::Provider* find_accepting(const PreparedModel& prepared,
                                               std::string_view source);

// For each provider the EPContext nodes that it is to restore, in all graphs of the model: the
// first one whose manifest accepts a node's `source` and which has not failed at it gets it.
// NOT_IMPLEMENTED for a node that no provider of the session accepts, INVALID_GRAPH for one that
// all of those failed at.
[[nodiscard]] Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared);

// Asks each provider about the compatibility strings of its sources. INVALID_GRAPH where one cannot
// load what it finds; a preference for recompilation is logged, or INVALID_GRAPH with
// `fail_on_suboptimal`.
[[nodiscard]] Status check_compatibility(PreparedModel& prepared, bool fail_on_suboptimal);

// Computations by what they were made of. They outlast a partitioning that failed elsewhere.
struct MadeComputations {
  // Provider, graph, nodes and name of the partition; the name of an EPContext node's is empty.
  using Origin = std::tuple<uint32_t, const graph::Graph*, std::vector<graph::NodeId>, std::string>;
  std::map<Origin, bridge::Computation> compiled;
  // By provider and graph, then by node.
  std::map<std::pair<uint32_t, const graph::Graph*>,
           std::vector<std::optional<bridge::Computation>>>
      kernels;
};

// Fills PreparedGraph::computations of all graphs from `made`, after making what it does not have:
// each provider makes the kernels of its single nodes, and compiles or restores all its partitions
// of the whole model in one call; if that fails, each in a call of its own.
//
// What the first provider that fails, in order of priority, fails at is added to
// PreparedModel::failures; the providers after it are not called then, and no computations are
// filled in. The reason is INVALID_GRAPH for an EPContext node. MODEL_LOAD_CANCELED of a provider
// is the function's own failure, and so is anything with `stop_at_failure`, or
// PreparedModel::cancellation.
[[nodiscard]] Status make_computations(PreparedModel& prepared, bool stop_at_failure,
                                       MadeComputations& made);

}  // namespace ephost::session
