// The events of providers and their devices in a session's profile (ephost.profiling/1).
#pragma once

#include <memory>
#include <vector>

#include "host/base/profiler.h"
#include "host/bridge/provider.h"

namespace ephost::session {

class ProviderProfiles {
 public:
  // Asks all providers that can to record. One that fails is left out, with a warning.
  void start(const std::vector<std::shared_ptr<bridge::Provider>>& providers);
  // Ends that, and adds what they recorded to the profile. What cannot be added is left out, with
  // an error in the log. Not during runs.
  void stop(Profiler& profiler);

 private:
  std::vector<std::shared_ptr<bridge::Provider>> recording_;
};

}  // namespace ephost::session
