// The invariants of a graph, checked independently of how it was built: after import, after each
// pass in debug builds, and in tests.
#pragma once

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::graph {

// Graphs nest at most this deep (the main graph is level 1): the importer refuses more, so that
// everything may recurse over subgraphs.
inline constexpr uint32_t kMaxNesting = 64;

// OK when, in `graph` and all subgraphs: ids are in range; value names are unique; each value has
// at most one source (node output, graph input, initializer, enclosing graph) and every used one
// has exactly one, except that a graph input may have an initializer as its default; initializers
// hold as many bytes as their shape needs; nodes are in topological order; captured values exist in
// the enclosing graph; and what `connect` derives is up to date. INVALID_GRAPH names the place.
[[nodiscard]] Status check_graph(const Graph& graph);

}  // namespace ephost::graph
