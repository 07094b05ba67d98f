// clusters.h: grouping of the units that a provider can take into sets that can each be fused: no
// path leaves a set and enters it again. Works on indices alone; knows nothing of ONNX or oneDNN.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ephost_dnnl {

inline constexpr uint32_t kNoCluster = UINT32_MAX;

struct UnitGraph {
  // Whether each unit can be taken. Units are numbered so that every edge leads to a higher number.
  std::vector<bool> is_supported;
  // Edges from the producer of a value to a consumer; duplicates are harmless.
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

// The cluster of each unit, kNoCluster for those that can't be taken. Clusters are connected,
// numbered from 0 in the order of their first units, and maximal: no two clusters that an edge
// joins could be merged. Contracting all clusters at once gives an acyclic graph.
[[nodiscard]] std::vector<uint32_t> find_clusters(const UnitGraph& graph);

}  // namespace ephost_dnnl
