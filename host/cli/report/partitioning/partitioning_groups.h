// Groups of the nodes of a partitioned graph, for the picture of it: each partition is one,
// and so are nodes with kernels of the same provider that lie between the same partitions.
#pragma once

#include <ephost/partition_model.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ephost::cli {

struct NodeGroup {
  std::string provider;   // empty: no provider takes the nodes
  std::string partition;  // empty: kernels
};

struct NodeGroups {
  std::vector<NodeGroup> groups;  // by their first node
  std::vector<uint32_t> of_node;  // index into `groups`
  // Pairs of different groups between which values go, with the number of pairs of nodes.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> edges;
};

[[nodiscard]] NodeGroups group_nodes(const GraphPartitioning& graph);

}  // namespace ephost::cli
