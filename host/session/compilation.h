// The steps between a partitioned model and its computations: which provider restores which cached
// partition, what is compiled, which kernels are made. Called by the pipeline only.
#pragma once

#include <ephost/status.h>

#include <map>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/session/pipeline.h"

namespace ephost::session {

// EPContext nodes by the graph that they are in, ascending.
using CachedNodes = std::map<const graph::Graph*, std::vector<graph::NodeId>>;

// The first provider whose manifest accepts the source; null if there is none.
[[nodiscard]] bridge::Provider* find_accepting(const PreparedModel& prepared,
                                               std::string_view source);

// For each provider the EPContext nodes whose `source` its manifest accepts, in all graphs of the
// model. NOT_IMPLEMENTED for a node that no provider of the session accepts.
[[nodiscard]] Result<std::vector<CachedNodes>> match_sources(const PreparedModel& prepared);

// Asks each provider about the compatibility strings of its sources. INVALID_GRAPH where one cannot
// load what it finds; a preference for recompilation is logged, or INVALID_GRAPH with
// `fail_on_suboptimal`.
[[nodiscard]] Status check_compatibility(PreparedModel& prepared, bool fail_on_suboptimal);

// Fills PreparedGraph::computations of all graphs: each provider compiles or restores all its
// partitions of the whole model in one call, and makes the kernels of its single nodes.
[[nodiscard]] Status make_computations(PreparedModel& prepared);

}  // namespace ephost::session
