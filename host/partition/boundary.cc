#include "host/partition/boundary.h"

#include <algorithm>

namespace ephost::partition {

using graph::kNoNode;
using graph::kNoValue;

void BoundaryFinder::find(std::span<const uint32_t> partition_of, uint32_t index,
                          Partition& partition) {
  ++round_;
  const auto is_inside = [&](NodeId node) { return partition_of[node] == index; };
  const auto read = [&](ValueId id) {
    if (id == kNoValue || !mark_seen(id)) return;
    const graph::Value& value = graph_.values[id];
    if (value.is_constant()) {
      partition.constants.push_back(id);
    } else if (value.producer == kNoNode || !is_inside(value.producer)) {
      partition.inputs.push_back(id);
    }
  };
  for (const NodeId node : partition.nodes) {
    std::ranges::for_each(graph_.nodes[node].inputs, read);
    std::ranges::for_each(graph_.nodes[node].implicit_inputs, read);
    for (const ValueId id : graph_.nodes[node].outputs) {
      if (id == kNoValue) continue;
      const graph::Value& value = graph_.values[id];
      if (value.is_graph_output || !std::ranges::all_of(value.consumers, is_inside)) {
        partition.outputs.push_back(id);
      }
    }
  }
}

bool BoundaryFinder::mark_seen(ValueId value) {
  if (seen_in_[value] == round_) return false;
  seen_in_[value] = round_;
  return true;
}

}  // namespace ephost::partition
