// Removes what no graph output depends on.
#pragma once

#include <cstdint>

#include "host/graph/graph.h"

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

}  // namespace ephost::optimize
