#include "host/session/layers/plugin_layer.h"

#include <ephost/ext/layer.h>

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/error_sink.h"
#include "host/bridge/extensions/host_services.h"
#include "host/plugin/calls/call.h"
#include "host/plugin/loading/load_lock.h"
#include "host/session/environment/environment_state.h"

namespace ephost::session {
namespace {

// What the tables of a layer use as long as they live.
struct Lent {
  explicit Lent(std::shared_ptr<const plugin::LoadedPlugin> loaded)
      : plugin(std::move(loaded)),
        directory(plugin->manifest.directory()),
        host(plugin->manifest.name, plugin_log(), bridge::ProgressHooks{}) {
    config.struct_size = sizeof(config);
    config.host = &host;
    config.directory = bridge::to_abi(directory);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::shared_ptr<const plugin::LoadedPlugin> plugin;
  std::string directory;
  bridge::HostServices host;
  eph_layer_config config = {};
};

class PluginLayer : public layers::Layer {
 public:
  explicit PluginLayer(std::shared_ptr<const plugin::LoadedPlugin> plugin)
      : lent_(std::make_shared<const Lent>(std::move(plugin))) {}

  [[nodiscard]] std::string_view name() const override { return lent_->plugin->manifest.name; }

  [[nodiscard]] std::string cache_ingredient() const override {
    const manifest::Manifest& manifest = lent_->plugin->manifest;
    return formatted("{} {}", manifest.name, manifest.version.to_string());
  }

  [[nodiscard]] Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& provider) override {
    const plugin::LoadedPlugin& layer = *lent_->plugin;
    const std::string& decorated = provider.manifest.provider;
    const auto lock = plugin::lock_loading();
    bridge::ErrorSink error;
    const eph_provider_api* table = nullptr;
    EPHOST_ASSIGN_OR_RETURN(const int32_t code,
                            plugin::call({name(), "decorate", decorated}, layer.layer.decorate,
                                         layer.layer_self, provider.provider_self, &lent_->config,
                                         &table, static_cast<eph_error*>(&error)));
    const Status made =
        error.to_status(code, formatted("the layer {}", quote(name())), "decorating " + decorated);
    if (!made.ok()) {
      return Status(made.code(), made.message() + "; leave the layer out of this session");
    }
    if (table == nullptr) return std::shared_ptr<const eph_provider_api>();
    return std::shared_ptr<const eph_provider_api>(
        table, [lent = lent_, decorated](const eph_provider_api* made_table) {
          const auto releasing = plugin::lock_loading();
          const plugin::LoadedPlugin& from = *lent->plugin;
          plugin::call_release({from.manifest.name, "release", decorated}, from.layer.release,
                               from.layer_self, made_table);
        });
  }

 private:
  std::shared_ptr<const Lent> lent_;
};

}  // namespace

std::shared_ptr<layers::Layer> make_plugin_layer(
    std::shared_ptr<const plugin::LoadedPlugin> plugin) {
  return std::make_shared<PluginLayer>(std::move(plugin));
}

}  // namespace ephost::session
