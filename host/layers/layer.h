// A layer decorates providers: it implements eph_provider_api over another table, and neither host
// nor plugin knows that it is there. Called by the session, which applies the layers that the user
// asked for to a plugin before it creates providers of it.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/plugin/loaded_plugin.h"

namespace ephost::layers {

class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // What compiled models depend on besides the provider: name and version of a layer that may
  // change them. Empty for one that only looks.
  [[nodiscard]] virtual std::string cache_ingredient() const { return {}; }

  // The table of the provider of `plugin` with this layer over it. Both live as long as the table;
  // the functions of the table may be called like those of the plugin.
  [[nodiscard]] virtual Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& plugin) = 0;
};

// The plugin with layers over it, the first one nearest to the host; the plugin itself if there are
// none. The tables of layers are adopted like those of plugins: EP_FAIL for one that lacks what the
// host needs, or that names another provider.
[[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> with_layers(
    std::shared_ptr<const plugin::LoadedPlugin> plugin,
    std::span<const std::shared_ptr<Layer>> layers);

}  // namespace ephost::layers
