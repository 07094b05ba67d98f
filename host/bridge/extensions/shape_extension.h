// Host side of ephost.shapes/1: the profiles of open extents that a provider is told, and its
// wishes for extents to be fixed, checked and copied. Called when a session is created, by the
// stage that partitions.
#pragma once

#include <ephost/ext/shapes.h>
#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/graph_view.h"
#include "host/graph/graph.h"

namespace ephost::bridge {

// The extents that the user expects of one open dimension of an input, or the numbers of one of its
// elements.
struct ExtentRange {
  std::string input;
  std::string symbol;  // empty if the dimension has no name
  uint32_t axis = 0;   // or the number of the element
  int64_t least = 1;
  int64_t best = 1;
  int64_t greatest = 1;
  bool is_value = false;  // of an element
};
using ShapeProfile = std::vector<ExtentRange>;

// Nodes that a provider would take if extents were fixed.
struct ShapeWish {
  std::vector<graph::NodeId> nodes;
  std::vector<uint32_t> symbols;  // indices into Model::symbols; none: all extents
};

class ShapeExtension {
 public:
  // For a provider that does not offer the extension.
  ShapeExtension() = default;
  // Borrows the handle and the name of the provider.
  ShapeExtension(const eph_shapes_provider_api& api, eph_provider* provider, std::string_view owner)
      : api_(api), provider_(provider), owner_(owner) {}

  // Whether profiles limit the shapes that the provider's claims hold for.
  [[nodiscard]] bool takes_profiles() const { return api_ && api_->set_profiles != nullptr; }
  // Does nothing unless takes_profiles() and there are profiles.
  [[nodiscard]] Status set_profiles(std::span<const ShapeProfile> profiles) const;

  // The wishes for a graph of `model`; none without the extension, or if all types of the graph
  // are static. EP_FAIL, or what the provider fails with, if it names what does not exist.
  [[nodiscard]] Result<std::vector<ShapeWish>> wishes(const GraphView& graph,
                                                      const graph::Model& model) const;

 private:
  std::optional<eph_shapes_provider_api> api_;
  eph_provider* provider_ = nullptr;
  std::string_view owner_;
};

// Whether a tensor of the graph has an extent that is not known.
[[nodiscard]] bool has_open_extents(const graph::Graph& graph);

}  // namespace ephost::bridge
