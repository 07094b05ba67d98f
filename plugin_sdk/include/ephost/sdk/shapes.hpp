// shapes.hpp: a provider's wishes for open extents, and the profiles of sessions (ephost.shapes/1).
#pragma once

#include <ephost/ext/shapes.h>

#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string_view>
#include <vector>

namespace eph {

// The answer of get_shape_wishes.
class ShapeWishes {
 public:
  explicit ShapeWishes(eph_shape_wishes* wishes) : wishes_(wishes) {}

  // Nodes that the provider would take if these symbols had fixed extents; without symbols: if all
  // extents were fixed.
  void add(ArrayView<uint32_t> nodes, const std::vector<std::string_view>& symbols = {}) {
    std::vector<eph_string> names;
    for (const std::string_view symbol : symbols) names.push_back(to_abi(symbol));
    detail::ThrowingError error;
    error.check(
        wishes_->api->add(wishes_, nodes.data(), nodes.size(), names.data(), names.size(), &error));
  }

 private:
  eph_shape_wishes* wishes_;
};

}  // namespace eph
