#include "host/session/environment/early_loader.h"

#include <system_error>

#include "host/base/log.h"

namespace ephost::session {

EarlyLoader::EarlyLoader(EnvironmentState& environment, const SessionConfig* config,
                         ProviderWorkers* workers, const manifest::FoundPlugin& first)
    : loader_(environment, config, workers), manifest_(first.manifest.file) {
  const auto options = loader_.options_for(first.manifest);
  if (!options.ok() || options->level == manifest::Isolation::kNone) return;
  try {
    first_ = std::async(std::launch::async, [this, first, log = LogScope::current()] {
      const LogScope scope(log);
      return loader_.load(first);
    });
  } catch (const std::system_error&) {
    // No thread is to be had: it is loaded when it is asked for.
  }
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> EarlyLoader::load(
    const manifest::FoundPlugin& plugin, plugin::Quarantined quarantined) {
  if (first_.valid() && plugin.manifest.file == manifest_) return first_.get();
  return loader_.load(plugin, quarantined);
}

}  // namespace ephost::session
