// The steps between a partitioned model and its computations: which provider restores which cached
// partition, what is compiled, which kernels are made. Called by the pipeline only.
#pragma once

#include <ephost/status.h>

#include <vector>

#include "host/bridge/computation.h"
#include "host/graph/graph.h"
#include "host/session/pipeline.h"

namespace ephost::session {

// For each provider the EPContext nodes whose `source` its manifest accepts, ascending.
// NOT_IMPLEMENTED for a node that no provider of the session accepts.
[[nodiscard]] Result<std::vector<std::vector<graph::NodeId>>> match_sources(
    const PreparedModel& prepared);

// Asks each provider about the compatibility strings of its sources. INVALID_GRAPH where one cannot
// load what it finds; a preference for recompilation is logged, or INVALID_GRAPH with
// `fail_on_suboptimal`.
[[nodiscard]] Status check_compatibility(PreparedModel& prepared, bool fail_on_suboptimal);

// One computation for each step of `prepared.execution`: each provider compiles or restores all its
// partitions in one call, and makes the kernels of its single nodes.
[[nodiscard]] Result<std::vector<bridge::Computation>> make_computations(PreparedModel& prepared);

}  // namespace ephost::session
