#include "host/session/environment/plugin_loader.h"

#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/names.h"
#include "host/plugin/loading/library.h"
#include "host/session/environment/environment_state.h"
#include "host/trust/policy.h"
#include "host/worker/process/worker_process.h"

namespace ephost::session {
namespace {

Status while_loading(const manifest::FoundPlugin& plugin, Status status) {
  if (status.ok()) return status;
  return std::move(status).with_context(
      formatted("loading {} from {}, as {} says", quote(plugin.manifest.subject()),
                quote(plugin.library.native()), quote(plugin.manifest.file.native())));
}

void grant(const GrantedFiles& granted, const manifest::Manifest& manifest,
           std::vector<std::filesystem::path>& files) {
  files = granted.all;
  for (const auto& [provider, paths] : granted.of_providers) {
    if (!manifest::names_provider(provider, manifest.provider, manifest.name)) continue;
    files.insert(files.end(), paths.begin(), paths.end());
  }
}

}  // namespace

Result<worker::IsolationOptions> PluginLoader::options_for(
    const manifest::Manifest& manifest) const {
  worker::IsolationOptions options = least_;
  options.listed_only = trust::strictest(environment_.registry.verifier().policy(), signatures()) ==
                        SignaturePolicy::kRequire;
  EPHOST_ASSIGN_OR_RETURN(const manifest::Isolation of_environment,
                          trust::isolation_of_environment());
  options.level = manifest::stricter(options.level, of_environment);
  options.level = manifest::stricter(options.level, environment_.isolation);
  options.level = manifest::stricter(options.level, manifest.isolation);
  if (config_ == nullptr) return options;
  const IsolationConfig& config = config_->isolation;
  if (!is_inspection_) options.calls = config.calls;
  options.limits = config.limits;
  grant(config.readable, manifest, options.files.readable);
  grant(config.writable, manifest, options.files.writable);
  options.level = manifest::stricter(options.level, config.level);
  for (const auto& [provider, level] : config.of_providers) {
    if (manifest::names_provider(provider, manifest.provider, manifest.name)) {
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

SignaturePolicy PluginLoader::signatures() const {
  return config_ == nullptr ? SignaturePolicy::kOff : config_->signatures;
}

trust::QuarantinePolicy PluginLoader::quarantine_policy() const {
  if (config_ == nullptr) return environment_.quarantine;
  return trust::strictest(environment_.quarantine, config_->quarantine);
}

void PluginLoader::record_failures(worker::IsolationOptions& options) const {
  const trust::QuarantinePolicy policy = quarantine_policy();
  const auto limit = options.calls.probe;
  const bool counts_limits =
      !is_inspection_ || limit.count() == 0 || limit >= worker::CallLimits().probe;
  options.failure_key =
      trust::quarantine_policy_text(policy) + (counts_limits ? "" : ", not of short limits");
  options.on_failure = [quarantine = make_quarantine(policy), counts_limits](
                           const manifest::FoundPlugin& failed, const worker::Ending& ending) {
    if (ending.is_applications) return;
    if (ending.kind == worker::Ending::Kind::kKilled && !counts_limits) return;
    quarantine.record(failed, worker::describe(ending));
  };
}

Status PluginLoader::check_quarantine(const manifest::FoundPlugin& plugin,
                                      plugin::Quarantined quarantined) const {
  const trust::QuarantinePolicy policy = quarantine_policy();
  if (policy == environment_.quarantine) return {};
  return make_quarantine(policy).check(plugin, quarantined);
}

Status PluginLoader::check(const manifest::FoundPlugin& plugin) const {
  EPHOST_RETURN_IF_ERROR(check_quarantine(plugin, plugin::Quarantined::kRefused));
  return environment_.registry.check(plugin, signatures());
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> PluginLoader::load(
    const manifest::FoundPlugin& plugin, plugin::Quarantined quarantined) {
  EPHOST_RETURN_IF_ERROR(while_loading(plugin, check_quarantine(plugin, quarantined)));
  EPHOST_ASSIGN_OR_RETURN(worker::IsolationOptions options, options_for(plugin.manifest));
  if (options.level == manifest::Isolation::kNone ||
      plugin.manifest.kind == manifest::Kind::kLayer) {
    if (workers_ != nullptr) loaded_.push_back({plugin.manifest, nullptr});
    return environment_.registry.load(plugin, signatures(), quarantined);
  }
  EPHOST_RETURN_IF_ERROR(
      while_loading(plugin, environment_.registry.check(plugin, signatures(), quarantined)));
  record_failures(options);
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
