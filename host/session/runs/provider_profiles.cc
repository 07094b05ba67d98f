#include "host/session/runs/provider_profiles.h"

#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"

namespace ephost::session {

void ProviderProfiles::start(const std::vector<std::shared_ptr<bridge::Provider>>& providers) {
  for (const std::shared_ptr<bridge::Provider>& provider : providers) {
    if (!provider->can_profile()) continue;
    if (const Status started = provider->start_profiling(); !started.ok()) {
      log_warning(formatted("the profile goes without events of {}: {}", provider->name(),
                            started.message()));
    } else {
      recording_.push_back(provider);
    }
  }
}

void ProviderProfiles::stop(Profiler& profiler) {
  for (const std::shared_ptr<bridge::Provider>& provider : std::exchange(recording_, {})) {
    bridge::ProviderEvents events = provider->stop_profiling();
    if (!events.problem.ok()) {
      log_error(formatted("events of {} are missing from the profile: {}", provider->name(),
                          events.problem.message()));
    }
    profiler.add_foreign(provider->name(), std::move(events.events));
  }
}

}  // namespace ephost::session
