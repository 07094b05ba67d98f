#include "host/session/plugin_loader.h"

#include <cstdlib>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/trust/policy.h"

namespace ephost::session {

Result<worker::IsolationOptions> PluginLoader::options_for(
    const manifest::Manifest& manifest) const {
  worker::IsolationOptions options;
  const SignaturePolicy signatures =
      trust::strictest(environment_.registry.verifier().policy(),
                       config_ == nullptr ? SignaturePolicy::kOff : config_->signatures);
  options.listed_only = signatures == SignaturePolicy::kRequire;
  if (const char* const variable = ::secure_getenv("EPHOST_ISOLATION");
      variable != nullptr && *variable != '\0') {
    const auto level = manifest::parse_isolation(variable);
    if (!level) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("EPHOST_ISOLATION cannot be {}; use \"none\", \"worker\" or "
                              "\"sandbox\"",
                              quote(variable)));
    }
    options.level = *level;
  }
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

Result<std::shared_ptr<const plugin::LoadedPlugin>> PluginLoader::load(
    const manifest::FoundPlugin& plugin) {
  EPHOST_ASSIGN_OR_RETURN(worker::IsolationOptions options, options_for(plugin.manifest));
  const SignaturePolicy signatures =
      config_ == nullptr ? SignaturePolicy::kOff : config_->signatures;
  if (options.level == manifest::Isolation::kNone ||
      plugin.manifest.kind == manifest::Kind::kLayer) {
    return environment_.registry.load(plugin, signatures);
  }
  EPHOST_RETURN_IF_ERROR(environment_.registry.check(plugin, signatures));
  options.on_failure = [quarantine = environment_.registry.quarantine()](
                           const manifest::FoundPlugin& failed, std::string_view what) {
    quarantine.record(failed, what);
  };
  return environment_.workers.load(plugin, options);
}

}  // namespace ephost::session
