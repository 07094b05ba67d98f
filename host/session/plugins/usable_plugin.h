// Loading of the plugin of a provider or layer: the highest version that works. If one version is
// broken, the next one is tried, and a warning names the broken one. Called by the pipeline and by
// commands that query a single provider.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session_options.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/base/status_kinds.h"
#include "host/manifest/choose.h"
#include "host/plugin/loaded_plugin.h"
#include "host/plugin/quarantine.h"

namespace ephost::session {

// Collects the candidates that were tried without success, and knows those that the search skipped.
class UnusablePlugins {
 public:
  explicit UnusablePlugins(const manifest::Candidates& candidates) : candidates_(candidates) {}

  void add(const manifest::FoundPlugin& plugin, Status reason);
  // Whether the plugin was refused with EP_FAIL, as one is that is quarantined.
  [[nodiscard]] bool was_refused(const manifest::FoundPlugin& plugin) const;
  // Logs a warning for each, and for each skipped one of a higher version than `taken`.
  void warn(const manifest::FoundPlugin& taken) const;
  // The error if no candidate is left. Names each with its reason; has the code of the first.
  [[nodiscard]] Status error() const;

 private:
  struct Unusable {
    const manifest::FoundPlugin* plugin;
    Status reason;
  };
  const manifest::Candidates& candidates_;
  std::vector<Unusable> unusable_;
};

// Calls `make` with one loaded candidate after the other and returns its first success.
// INVALID_ARGUMENT (such as a wrong option) and a cancellation end the search, because an
// older version would not help. `make`: Result<...>(std::shared_ptr<const plugin::LoadedPlugin>).
// `loader`: a PluginLoader, or a plugin::Registry for layers; or whatever else has a `load` that
// takes a FoundPlugin, and whose results `make` takes.
// The CPU provider runs what no other one does. So where all of its versions are refused, those
// that are quarantined are tried again, and used with a warning.
template <class Loader, class Make>
auto with_usable_plugin(Loader&& loader, const manifest::Candidates& candidates, Make make) {
  using Loaded = std::remove_cvref_t<decltype(*loader.load(candidates.plugins.front()))>;
  using Made = decltype(make(Loaded()));
  // Nothing: the next candidate is to be tried.
  const auto attempt = [&](const manifest::FoundPlugin& plugin, auto loaded,
                           UnusablePlugins& unusable) {
    std::optional<Made> made;
    if (!loaded.ok()) {
      unusable.add(plugin, loaded.status());
      return made;
    }
    made = make(std::move(*loaded));
    const StatusCode code = made->status().code();
    if (made->ok() || code == StatusCode::kInvalidArgument || is_cancellation(code)) {
      unusable.warn(plugin);
      return made;
    }
    unusable.add(plugin, made->status());
    made.reset();
    return made;
  };
  UnusablePlugins unusable(candidates);
  for (const manifest::FoundPlugin& plugin : candidates.plugins) {
    if (auto made = attempt(plugin, loader.load(plugin), unusable)) return *std::move(made);
  }
  if constexpr (requires(const manifest::FoundPlugin& plugin) {
                  loader.load(plugin, plugin::Quarantined::kUsed);
                }) {
    UnusablePlugins ignored(candidates);
    for (const manifest::FoundPlugin& plugin : candidates.plugins) {
      if (candidates.provider() != kCpuProvider || !unusable.was_refused(plugin)) continue;
      auto loaded = loader.load(plugin, plugin::Quarantined::kUsed);
      if (auto made = attempt(plugin, std::move(loaded), ignored)) return *std::move(made);
    }
  }
  return Made(unusable.error());
}

}  // namespace ephost::session
