// A layer that a plugin ships (ephost.layer/1), as one of the layers of a session. Called by
// SessionLayers.
#pragma once

#include <memory>

#include "host/layers/layer.h"
#include "host/plugin/loaded_plugin.h"

namespace ephost::session {

// `plugin` has a manifest of a layer. It stays loaded as long as the layer and the tables that it
// makes; each table is released when the last provider with it is gone. Logs to the log of the
// calling thread. Decorating fails with the plugin's code, and names layer and provider.
[[nodiscard]] std::shared_ptr<layers::Layer> make_plugin_layer(
    std::shared_ptr<const plugin::LoadedPlugin> plugin);

}  // namespace ephost::session
