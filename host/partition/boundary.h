// The boundary of a partition: its input values, output values and constants. Used by partition.cc
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/partition/partition.h"

namespace ephost::partition {

// Keeps one mark per value across all partitions of a graph, so that each partition costs only its
// own edges.
class BoundaryFinder {
 public:
  explicit BoundaryFinder(const Graph& graph) : graph_(graph), seen_in_(graph.values.size(), 0) {}

  // Fills inputs, outputs and constants of `partition` from its nodes. `partition_of` gives the
  // partition of each node of the graph; `index` is this partition's.
  void find(std::span<const uint32_t> partition_of, uint32_t index, Partition& partition);

 private:
  bool mark_seen(ValueId value);

  const Graph& graph_;
  std::vector<uint32_t> seen_in_;  // by value: the round in which it was last seen
  uint32_t round_ = 0;
};

}  // namespace ephost::partition
