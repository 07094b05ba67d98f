// A layer decorates providers: it implements eph_provider_api over another table, and neither host
// nor plugin knows that it is there. Called by the session, which applies the layers that the user
// asked for to a plugin before it creates providers of it.
#pragma once

#include <ephost/plugin_abi.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "host/plugin/registry.h"

namespace ephost::layers {

class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // The table of the provider of `plugin` with this layer over it. Both live as long as the table;
  // the functions of the table may be called like those of the plugin.
  [[nodiscard]] virtual std::shared_ptr<const eph_provider_api> decorate(
      const plugin::LoadedPlugin& plugin) = 0;
};

// The names of the layers that the host has.
inline constexpr std::array<std::string_view, 2> kLayerNames = {"trace", "validate"};

// The plugin with layers over it, the first one nearest to the host; the plugin itself if there are
// none.
[[nodiscard]] std::shared_ptr<const plugin::LoadedPlugin> with_layers(
    std::shared_ptr<const plugin::LoadedPlugin> plugin,
    std::span<const std::shared_ptr<Layer>> layers);

}  // namespace ephost::layers
