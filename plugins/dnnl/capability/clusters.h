// clusters.h: groups the units that a provider can take into sets that can each be fused: no path
// leaves a set and comes back. Pure graph theory over indices; knows nothing of ONNX or oneDNN.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ephost_dnnl {

inline constexpr uint32_t kNoCluster = UINT32_MAX;

struct UnitGraph {
  // Whether each unit can be taken. Units are numbered so that every edge goes upwards.
  std::vector<bool> is_supported;
  // From the unit that makes a value to one that reads it; repetitions are harmless.
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

// The cluster of each unit, kNoCluster for those that can't be taken. Clusters are connected,
// numbered from 0 in the order of their first units, and maximal: no two that an edge joins could
// be one. Contracting all of them together leaves a graph without cycles.
[[nodiscard]] std::vector<uint32_t> find_clusters(const UnitGraph& graph);

}  // namespace ephost_dnnl
