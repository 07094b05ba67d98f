// Removal of what no graph output depends on.
#pragma once

#include <cstdint>
#include <functional>

#include "host/graph/graph.h"
#include "host/graph/rewrite.h"

namespace ephost::optimize {

enum class DeadCode {
  kAll,
  kOutputless,  // only nodes without outputs, and values that only they use
};

// Removes nodes none of whose outputs reach a graph output, and unused values, initializers and
// captured values. Subgraphs are processed first, as they may capture less afterwards. Graph inputs
// and outputs stay. The graph must be connected and sorted, and stays so. Returns the number of
// nodes removed, including those in subgraphs of remaining nodes.
uint64_t remove_dead_code(graph::Graph& graph, DeadCode what = DeadCode::kAll);

// Removes the nodes without outputs for which `is_free` returns true, and values that nothing uses.
// Looks at one level of the graph, and changes no subgraph except what it calls values of this one.
graph::Renumbering remove_bare_nodes(graph::Graph& graph,
                                     const std::function<bool(graph::NodeId)>& is_free);

}  // namespace ephost::optimize
