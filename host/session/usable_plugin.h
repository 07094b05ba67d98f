// Loads the plugin of a provider: the highest version that works. What is wrong with a plugin must
// not take down another version of it, so the next one is tried, with a warning that names the
// first. Called by the pipeline and by the commands that ask one provider something.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <utility>
#include <vector>

#include "host/manifest/choose.h"
#include "host/plugin/registry.h"

namespace ephost::session {

// The candidates that were tried and cannot be used, with what is known of those that the search
// skipped.
class UnusablePlugins {
 public:
  explicit UnusablePlugins(const manifest::Candidates& candidates) : candidates_(candidates) {}

  void add(const manifest::FoundPlugin& plugin, Status reason);
  // Logs a warning for each, and for each skipped one of a higher version than `taken`.
  void warn(const manifest::FoundPlugin& taken) const;
  // When none is left. Names each with its reason; has the code of the first.
  [[nodiscard]] Status error() const;

 private:
  struct Unusable {
    const manifest::FoundPlugin* plugin;
    Status reason;
  };
  const manifest::Candidates& candidates_;
  std::vector<Unusable> unusable_;
};

// What `make` makes of the first candidate that can be loaded and for which it succeeds. A failure
// with INVALID_ARGUMENT (such as a wrong option) or MODEL_LOAD_CANCELED is the caller's own and
// ends the search: an older version is no remedy for it. `make`: Result<...>(std::shared_ptr<const
// plugin::LoadedPlugin>).
template <class Make>
auto with_usable_plugin(plugin::Registry& registry, const manifest::Candidates& candidates,
                        Make make) {
  using Made = decltype(make(std::shared_ptr<const plugin::LoadedPlugin>()));
  UnusablePlugins unusable(candidates);
  for (const manifest::FoundPlugin& plugin : candidates.plugins) {
    auto loaded = registry.load(plugin);
    if (!loaded.ok()) {
      unusable.add(plugin, loaded.status());
      continue;
    }
    Made made = make(std::move(*loaded));
    const StatusCode code = made.status().code();
    if (made.ok() || code == StatusCode::kInvalidArgument ||
        code == StatusCode::kModelLoadCanceled) {
      unusable.warn(plugin);
      return made;
    }
    unusable.add(plugin, made.status());
  }
  return Made(unusable.error());
}

}  // namespace ephost::session
