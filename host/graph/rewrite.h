// Structural edits that keep ids dense: removal with renumbering, and replacing sets of nodes by
// one node each (partitions by EPContext nodes). They work on one graph level; the subgraphs of
// kept nodes move along, and their captures are renumbered.
#pragma once

#include <ephost/status.h>

#include <vector>

#include "host/graph/graph.h"

namespace ephost::graph {

// The new id for each old id; kNoNode and kNoValue for removed ones.
struct Renumbering {
  std::vector<NodeId> nodes;
  std::vector<ValueId> values;
};

// Keeps the nodes and values whose flags are set (one flag for each), in their order, and drops
// initializers and annotations whose value was removed. Constants that an annotation of a kept
// value names are kept too. Everything that kept nodes and the lists of graph inputs and outputs
// refer to must be kept. The result is connected.
Renumbering compact(Graph& graph, const std::vector<bool>& keep_nodes,
                    std::vector<bool> keep_values);

// `replacement` takes the place of `nodes`; its inputs and outputs are values of the graph.
struct Group {
  std::vector<NodeId> nodes;
  Node replacement;
};

// Replaces each group by its node, which takes the position of the group's first node before the
// result is sorted topologically. Values that only replaced nodes used or produced, including
// constants, are removed. Groups must not overlap. Returns INVALID_GRAPH, with `graph` unchanged,
// if a group is not convex (its node would close a cycle) or if a value that is still used lost its
// producer. In the returned numbering, each node of a group maps to the id of its replacement.
[[nodiscard]] Result<Renumbering> replace_nodes(Graph& graph, std::vector<Group> groups);

}  // namespace ephost::graph
