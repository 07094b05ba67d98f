// The invariants of a graph, checked independently of how it was built: after import, after
// functions were inlined, before a context model is written, in builds with assertions before any
// export, and in tests.
#pragma once

#include <ephost/status.h>

#include <string>
#include <utility>

#include "host/graph/graph.h"

namespace ephost::graph {

// The maximum nesting depth of graphs (the main graph is level 1). The importer refuses deeper
// models, so that all code may recurse over subgraphs.
inline constexpr uint32_t kMaxNesting = 64;

// Returns OK if all of this holds in `graph` and all subgraphs: ids are in range; value names are
// unique; each value has at most one source (node output, graph input, initializer, enclosing
// graph), and every value that is used has exactly one, except that a graph input may have an
// initializer as its default; initializers have as many bytes as their shape needs; nodes are in
// topological order; captured values exist in the enclosing graph; and what `connect` derives is up
// to date. Otherwise returns INVALID_GRAPH with the place.
[[nodiscard]] Status check_graph(const Graph& graph);

// INVALID_GRAPH with this message.
[[nodiscard]] inline Status invalid_graph(std::string message) {
  return {StatusCode::kInvalidGraph, std::move(message)};
}

}  // namespace ephost::graph
