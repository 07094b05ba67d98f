#include "host/layers/layer.h"

#include <string>
#include <utility>

namespace ephost::layers {
namespace {

struct LayeredPlugin : plugin::LoadedPlugin {
  std::shared_ptr<const plugin::LoadedPlugin> below;
  std::shared_ptr<Layer> layer;
  std::shared_ptr<const eph_provider_api> table;  // first to be destroyed
};

std::shared_ptr<const plugin::LoadedPlugin> add_layer(
    std::shared_ptr<const plugin::LoadedPlugin> below, std::shared_ptr<Layer> layer) {
  auto layered = std::make_shared<LayeredPlugin>();
  static_cast<plugin::LoadedPlugin&>(*layered) = *below;
  layered->table = layer->decorate(*below);
  layered->provider = *layered->table;
  layered->provider_self = layered->table.get();
  layered->layers.insert(layered->layers.begin(), std::string(layer->name()));
  layered->layer = std::move(layer);
  layered->below = std::move(below);
  return layered;
}

}  // namespace

std::shared_ptr<const plugin::LoadedPlugin> with_layers(
    std::shared_ptr<const plugin::LoadedPlugin> plugin,
    std::span<const std::shared_ptr<Layer>> layers) {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    plugin = add_layer(std::move(plugin), *layer);
  }
  return plugin;
}

}  // namespace ephost::layers
