#include "host/session/plugin_loader.h"

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/trust/policy.h"

namespace ephost::session {
namespace {

Status while_loading(const manifest::FoundPlugin& plugin, Status status) {
  if (status.ok()) return status;
  return std::move(status).with_context(
      formatted("loading {} from {}, as {} says", quote(plugin.manifest.subject()),
                quote(plugin.library.native()), quote(plugin.manifest.file.native())));
}

}  // namespace

Result<worker::IsolationOptions> PluginLoader::options_for(
    const manifest::Manifest& manifest) const {
  worker::IsolationOptions options = least_;
  const SignaturePolicy signatures =
      trust::strictest(environment_.registry.verifier().policy(),
                       config_ == nullptr ? SignaturePolicy::kOff : config_->signatures);
  options.listed_only = signatures == SignaturePolicy::kRequire;
  EPHOST_ASSIGN_OR_RETURN(const manifest::Isolation of_environment,
                          trust::isolation_of_environment());
  options.level = manifest::stricter(options.level, of_environment);
  options.level = manifest::stricter(options.level, environment_.isolation);
  options.level = manifest::stricter(options.level, manifest.isolation);
  if (config_ == nullptr) return options;
  const IsolationConfig& config = config_->isolation;
  options.calls = config.calls;
  options.limits = config.limits;
  options.level = manifest::stricter(options.level, config.level);
  for (const auto& [provider, level] : config.of_providers) {
    if (equal_ignoring_case(provider, manifest.name) ||
        equal_ignoring_case(provider, manifest.provider)) {
      options.level = manifest::stricter(options.level, level);
    }
  }
  return options;
}

Result<std::filesystem::path> library_of(const plugin::LoadedPlugin& plugin) {
  if (plugin.library != nullptr) return plugin.library->path();
  EPHOST_ASSIGN_OR_RETURN(manifest::FoundPlugin found, manifest::read_plugin(plugin.manifest.file));
  return std::move(found.library);
}

std::optional<plugin::Quarantine> PluginLoader::stricter_quarantine() const {
  if (config_ == nullptr) return std::nullopt;
  const auto policy = trust::strictest(environment_.quarantine, config_->quarantine);
  if (policy == environment_.quarantine) return std::nullopt;
  return make_quarantine(policy);
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> PluginLoader::load(
    const manifest::FoundPlugin& plugin) {
  const std::optional<plugin::Quarantine> stricter = stricter_quarantine();
  if (stricter) EPHOST_RETURN_IF_ERROR(while_loading(plugin, stricter->check(plugin)));
  EPHOST_ASSIGN_OR_RETURN(worker::IsolationOptions options, options_for(plugin.manifest));
  const SignaturePolicy signatures =
      config_ == nullptr ? SignaturePolicy::kOff : config_->signatures;
  if (options.level == manifest::Isolation::kNone ||
      plugin.manifest.kind == manifest::Kind::kLayer) {
    if (workers_ != nullptr) loaded_.push_back({plugin.manifest, nullptr});
    return environment_.registry.load(plugin, signatures);
  }
  EPHOST_RETURN_IF_ERROR(while_loading(plugin, environment_.registry.check(plugin, signatures)));
  options.on_failure = [quarantine = stricter.value_or(environment_.registry.quarantine())](
                           const manifest::FoundPlugin& failed, std::string_view what) {
    quarantine.record(failed, what);
  };
  if (workers_ != nullptr) {
    options.health = workers_->health_of(plugin.manifest);
    loaded_.push_back({plugin.manifest, options.health});
  }
  return environment_.workers.load(plugin, options);
}

void PluginLoader::note_workers(bool was_created) {
  if (was_created && loaded_.size() > 1) loaded_.erase(loaded_.begin(), loaded_.end() - 1);
  for (Loaded& one : loaded_) {
    if (one.health != nullptr) workers_->add(one.manifest, std::move(one.health));
  }
  loaded_.clear();
}

}  // namespace ephost::session
