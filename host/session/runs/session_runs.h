// Host side of ephost.run/1 in a session: tells providers when each run begins and ends, passes its
// options to them, and changes dynamic options between runs.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/bridge/provider.h"
#include "host/manifest/options.h"
#include "host/runtime/frame/run_control.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

class SessionRuns {
 public:
  SessionRuns() = default;
  // To be called while the computations are in the prepared model.
  [[nodiscard]] static Result<SessionRuns> create(const PreparedModel& prepared);

  // Calls `body(const runtime::RunControl&)`, which runs the model, between the begin_run and the
  // end_run of the providers. Where no provider has the extension, and the options set nothing
  // for one, nothing else is done. May be called by several threads at once.
  template <class Body>
  [[nodiscard]] Status run(const RunOptions& options, const Body& body) const {
    std::atomic<const std::string*> failed{nullptr};
    const runtime::RunControl control{runtime::next_run_id(), options.cancelled, options.deadline,
                                      metrics_ != nullptr ? &failed : nullptr};
    Status status = listeners_.empty() && options.config_entries.empty()
                        ? body(control)
                        : run_with_providers(options, control, [&] { return body(control); });
    if (failed.load(std::memory_order_relaxed) != nullptr) count_failure(*failed, status);
    return status;
  }

  // As Session::set_ep_dynamic_options. May be called during runs.
  [[nodiscard]] Status change_options(const OptionList& entries) const;

 private:
  using Providers = std::vector<std::shared_ptr<bridge::Provider>>;
  // A provider that has computations in the session, and the extension.
  struct Listener {
    size_t provider = 0;                         // in `providers_`
    std::vector<manifest::TypedOption> options;  // for a run that sets none
  };

  // The entries by provider, without the prefix that names it.
  [[nodiscard]] Result<std::vector<OptionList>> sort_by_provider(const OptionList& entries) const;
  // The options of a run for each listener; empty for one whose options are the defaults.
  [[nodiscard]] Result<std::vector<std::vector<manifest::TypedOption>>> options_of_run(
      const OptionList& entries) const;
  [[nodiscard]] Status run_with_providers(const RunOptions& options,
                                          const runtime::RunControl& control,
                                          const std::function<Status()>& body) const;
  // Ends the run for the first `count` listeners.
  void end(size_t count, uint64_t run_id, Status& status) const;

  void count_failure(const std::string& provider, const Status& status) const;

  Metrics* metrics_ = nullptr;  // may be null
  Providers providers_;         // of the session, in priority order
  // Providers that the session has lost, whose options have no effect any more.
  std::vector<LostProvider> lost_;
  std::vector<Listener> listeners_;
};

}  // namespace ephost::session
