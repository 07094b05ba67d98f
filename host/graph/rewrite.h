// Structural edits that keep ids dense: removal with renumbering, and replacing sets of nodes by
// one node each (partitions by EPContext nodes). They work on one graph level; subgraphs of kept
// nodes go along and what they capture is renumbered.
#pragma once

#include <vector>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::graph {

// New id by old id; kNoNode and kNoValue for what was removed.
struct Renumbering {
  std::vector<NodeId> nodes;
  std::vector<ValueId> values;
};

// Keeps the nodes and values whose flag is set (one flag for each), in their order, and drops
// initializers whose value went. What kept nodes and the lists of graph inputs and outputs refer to
// must be kept. The result is connected.
Renumbering compact(Graph& graph, const std::vector<bool>& keep_nodes,
                    const std::vector<bool>& keep_values);

// `replacement` stands for `nodes`; its inputs and outputs are values of the graph.
struct Group {
  std::vector<NodeId> nodes;
  Node replacement;
};

// Replaces each group by its node, which takes the place of the group's first node before the
// result is sorted topologically. Values that only replaced nodes used or produced, constants among
// them, are removed. Groups must not overlap. INVALID_GRAPH, with `graph` unchanged, if a group
// isn't convex, that is, if its node would close a cycle; also if a value that is still used lost
// its producer. Nodes of the returned numbering: the replacement's id for each node of its group.
[[nodiscard]] Result<Renumbering> replace_nodes(Graph& graph, std::vector<Group> groups);

}  // namespace ephost::graph
