// Removes what no graph output depends on.
#pragma once

#include <cstdint>

#include "host/graph/graph.h"

namespace ephost::optimize {

enum class DeadCode {
  kAll,
  kOutputless,  // only nodes that have no output left, and values that are not used without them
};

// Removes nodes none of whose outputs reach a graph output, and values, initializers and captured
// values that nothing uses; subgraphs first, as they may capture less afterwards. Graph inputs and
// outputs stay. The graph must be connected and sorted and stays so. Returns the number of nodes
// removed, in subgraphs of remaining nodes too.
uint64_t remove_dead_code(graph::Graph& graph, DeadCode what = DeadCode::kAll);

}  // namespace ephost::optimize
