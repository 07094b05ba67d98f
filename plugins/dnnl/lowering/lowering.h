// lowering.h: from a graph of ONNX nodes to a recipe. A node is lowered alone, or together with
// others that form a known pattern (GELU, layer normalisation written out in primitives). The same
// code answers whether a node can be taken: get_capability lowers it into a scratch recipe.
//
// Recipes have static shapes. Every function takes an `open_extent` that stands for the open
// extents before the last one; with 0, values with open extents are not supported. What it returns
// then is an example: only where recipe/row_products.h accepts it does it hold for every extent.
#pragma once

#include <cstdint>
#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl {

// A group of nodes that is lowered as one.
struct Unit {
  enum class Kind : uint8_t { kNode, kGelu, kLayerNormalization };
  Kind kind = Kind::kNode;
  std::vector<uint32_t> nodes;  // ascending; the unit's only result is output 0 of the last
  // Patterns only: value indices, and epsilon of a layer normalisation.
  uint32_t input = EPH_NONE;
  uint32_t scale = EPH_NONE;
  uint32_t bias = EPH_NONE;
  float epsilon = 0;
};

// Splits the graph's nodes into units, ordered by their last nodes.
[[nodiscard]] std::vector<Unit> find_units(const eph::GraphView& graph, int64_t open_extent = 0);

// The recipe of one unit, with the values that it reads as inputs. Throws Unsupported.
[[nodiscard]] LoweredPartition lower_unit(const eph::GraphView& graph, const Unit& unit,
                                          int64_t open_extent = 0);

// The recipe of units in order, the result of the last of which is its only output. Throws
// Unsupported.
[[nodiscard]] LoweredPartition lower_units(const eph::GraphView& graph,
                                           const std::vector<Unit>& units, int64_t open_extent = 0);

// The recipe of a whole partition. Throws Failure naming the node that cannot be lowered: then the
// graph isn't one that get_capability has claimed.
[[nodiscard]] LoweredPartition lower_partition(const eph::GraphView& graph,
                                               int64_t open_extent = 0);

}  // namespace ephost_dnnl
