// The extents that the providers of a session wish to be fixed (ephost.shapes/1). Filled in by the
// stage that partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::session {

// The nodes that one provider would take, or would run better, if extents were fixed.
struct WishedNodes {
  size_t provider = 0;
  const graph::Graph* graph = nullptr;  // only while the model is being prepared
  std::vector<graph::NodeId> nodes;     // not taken by providers of higher priority
};

struct ShapeWishes {
  bool all = false;            // some provider wishes for all extents
  std::set<uint32_t> symbols;  // indices into Model::symbols
  std::vector<WishedNodes> nodes;

  [[nodiscard]] bool any() const { return !nodes.empty(); }
  [[nodiscard]] bool wants(uint32_t symbol) const { return all || symbols.contains(symbol); }
};

}  // namespace ephost::session
