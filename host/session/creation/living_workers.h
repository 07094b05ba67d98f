// What is made of a session's providers, made again until their workers live.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <string>
#include <vector>

#include "host/base/status_kinds.h"
#include "host/session/plugins/provider_workers.h"

namespace ephost::session {

// What may be done about lost providers in one attempt of a caller, such as a run: each may be
// restarted once.
class LossPolicy {
 public:
  // EP_FAIL, with the reason of the loss, if nothing can be done about one of them: it was
  // restarted already, or it is the CPU provider, which no session does without.
  [[nodiscard]] Status check(const std::vector<LostProvider>& dead);

 private:
  std::vector<std::string> restarted_;
};

// Says what becomes of them in the log, and adds those whose policy is `fallback` to `lost`.
void note_losses(const std::vector<LostProvider>& dead, std::vector<LostProvider>& lost);

// Calls `make(workers)`, which makes something with the providers that are not `lost` and notes
// their workers, until these live afterwards. The failure is its own or that of the policy.
template <class Make>
auto make_with_living_workers(const OnCrashConfig& config, LossPolicy& policy,
                              std::vector<LostProvider>& lost, const Make& make)
    -> decltype(make(std::shared_ptr<ProviderWorkers>())) {
  for (;;) {
    const auto workers = std::make_shared<ProviderWorkers>(config);
    auto made = make(workers);
    const std::vector<LostProvider> dead = workers->lost();
    const bool is_over = dead.empty() || is_cancellation(made.status());
    const Status status = is_over ? Status::ok_status() : policy.check(dead);
    if (!is_over && status.ok()) {
      note_losses(dead, lost);
      continue;
    }
    workers->forget_idle();
    // Where the dead have no nodes, others run these.
    if (is_over || (made.ok() && workers->lost().empty())) return made;
    return status;
  }
}

}  // namespace ephost::session
