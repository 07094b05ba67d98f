// What crosses the border of a partition: the values it takes in, hands out and finds constant.
// Used by partition.cc only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"

namespace ephost::partition {

// Keeps a mark a value over all partitions of one graph, so that each costs only its own edges.
class BoundaryFinder {
 public:
  explicit BoundaryFinder(const Graph& graph) : graph_(graph), seen_in_(graph.values.size(), 0) {}

  // Fills inputs, outputs and constants of `partition` from its nodes. `partition_of` says for each
  // node of the graph which partition it is in; `index` is this one's.
  void find(std::span<const uint32_t> partition_of, uint32_t index, Partition& partition);

 private:
  bool first_sight(ValueId value);

  const Graph& graph_;
  std::vector<uint32_t> seen_in_;  // by value: the round in which it was last seen
  uint32_t round_ = 0;
};

}  // namespace ephost::partition
