#include "host/layers/layer.h"

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/adopt.h"

namespace ephost::layers {
namespace {

struct LayeredPlugin : plugin::LoadedPlugin {
  std::shared_ptr<const plugin::LoadedPlugin> below;
  std::shared_ptr<Layer> layer;
  std::shared_ptr<const eph_provider_api> table;  // first to be destroyed
};

Status check_kept(std::string_view what, eph_string before, eph_string after, const Layer& layer,
                  const plugin::LoadedPlugin& below) {
  const std::string_view stated(before.data, static_cast<size_t>(before.size));
  if (after.size == before.size && after.data != nullptr &&
      std::string_view(after.data, static_cast<size_t>(after.size)) == stated) {
    return {};
  }
  return Status(
      StatusCode::kEpFail,
      formatted("the layer {} changes the {} of {}, which is {}; leave the layer out, and "
                "report this to its vendor",
                quote(layer.name()), what, below.manifest.provider, quote(stated)));
}

// A copy of what `layer` made of the provider.
Result<eph_provider_api> adopt_table(const eph_provider_api* table, const Layer& layer,
                                     const plugin::LoadedPlugin& below) {
  EPHOST_ASSIGN_OR_RETURN(
      const eph_provider_api adopted,
      plugin::adopt_provider(table, {layer.name(), "decorate", below.manifest.provider}));
  const eph_provider_api& inner = below.provider;
  EPHOST_RETURN_IF_ERROR(check_kept("type name", inner.type_name, adopted.type_name, layer, below));
  EPHOST_RETURN_IF_ERROR(check_kept("short name", inner.name, adopted.name, layer, below));
  EPHOST_RETURN_IF_ERROR(check_kept("vendor", inner.vendor, adopted.vendor, layer, below));
  return adopted;
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> add_layer(
    std::shared_ptr<const plugin::LoadedPlugin> below, std::shared_ptr<Layer> layer) {
  auto layered = std::make_shared<LayeredPlugin>();
  static_cast<plugin::LoadedPlugin&>(*layered) = *below;
  EPHOST_ASSIGN_OR_RETURN(layered->table, layer->decorate(*below));
  EPHOST_ASSIGN_OR_RETURN(layered->provider, adopt_table(layered->table.get(), *layer, *below));
  layered->provider_self = layered->table.get();
  layered->layers.insert(layered->layers.begin(), std::string(layer->name()));
  if (const std::string ingredient = layer->cache_ingredient(); !ingredient.empty()) {
    layered->cache_ingredients.insert(layered->cache_ingredients.begin(), ingredient);
  }
  layered->layer = std::move(layer);
  layered->below = std::move(below);
  return std::shared_ptr<const plugin::LoadedPlugin>(std::move(layered));
}

}  // namespace

Result<std::shared_ptr<const plugin::LoadedPlugin>> with_layers(
    std::shared_ptr<const plugin::LoadedPlugin> plugin,
    std::span<const std::shared_ptr<Layer>> layers) {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    EPHOST_ASSIGN_OR_RETURN(plugin, add_layer(std::move(plugin), *layer));
  }
  return plugin;
}

}  // namespace ephost::layers
