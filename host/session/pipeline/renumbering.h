// Renumbering of what the pipeline has found out about the nodes of a graph when the graph changes.
// Called after functions were inlined, and after the nodes of the CPU provider were refined.
#pragma once

#include <span>

#include "host/graph/rewrite.h"
#include "host/optimize/function_inlining.h"
#include "host/session/model/prepared_graph.h"
#include "host/session/model/prepared_model.h"
#include "host/session/pipeline/compilation.h"

namespace ephost::session {

// Renumbers the nodes of `graph` in failures, cached partitions and computations. What was made of
// a node that was replaced or removed is dropped.
void renumber_nodes(const graph::Graph& graph, std::span<const optimize::InlinedRange> ranges,
                    PreparedModel& prepared, MadeComputations& made);

// Renumbers the owners of nodes, the partitions, of which no node was removed, and the places of
// bodies. Decisions about claims and declined nodes are forgotten.
void renumber_owners(PreparedGraph& prepared, const graph::Renumbering& numbers);

}  // namespace ephost::session
