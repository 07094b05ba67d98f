// Recovery of a session when the worker of one of its providers has ended: the model is made again
// with a new worker, or without the provider (session.on_crash). Only sessions whose providers are
// isolated and have such a policy have one.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "host/base/log.h"
#include "host/session/config/session_config.h"
#include "host/session/creation/retries.h"
#include "host/session/environment/environment.h"
#include "host/session/model/model_source.h"
#include "host/session/running/session_model.h"

namespace ephost::session {

// Safe from any thread.
class Recovery {
 public:
  // `model` was made in the environment with `settings`, of which those for the creation alone need
  // not last; it has a PreparedModel::origin, which is taken. `log` is that of the session.
  Recovery(std::shared_ptr<SessionModel> model, EnvironmentState& environment,
           const SessionSettings& settings, const Log& log);
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  // The model as it is now.
  [[nodiscard]] std::shared_ptr<SessionModel> model() const;

  // As SessionModel::run. If a worker ended before or meanwhile, one of the runs that need the
  // model makes it again, and each is repeated, but for those that change their inputs. Flag and
  // deadline of a run apply to all of that.
  [[nodiscard]] Status run(std::span<const runtime::Value* const> inputs,
                           std::span<runtime::Value> outputs, const RunOptions& options);

  // As SessionModel::change_options, of this model and of those that take its place.
  [[nodiscard]] Status change_options(const OptionList& options);

 private:
  using Made = Result<std::shared_ptr<SessionModel>>;

  // What is to run instead of `dead`.
  [[nodiscard]] Made replace(const std::shared_ptr<SessionModel>& dead, LossPolicy& policy,
                             const RunOptions& options);
  [[nodiscard]] Made make_again(const SessionModel& dead, LossPolicy& policy,
                                const RunOptions& options);
  [[nodiscard]] Made make(const SessionModel& dead, const std::shared_ptr<ProviderWorkers>& workers,
                          const RunOptions& options);
  void record(const SessionModel& made, const std::vector<LostProvider>& dead,
              Profiler::Clock::time_point start) const;

  const std::shared_ptr<EnvironmentState> environment_;
  const SessionSettings settings_;
  ModelSource source_;
  const Log log_;
  bool lacks_payloads_ = false;  // a function gave them that was for the creation alone

  std::timed_mutex making_;         // held while the model is made again, and while options change
  std::vector<LostProvider> lost_;  // by `fallback`, so far
  Status refusal_;                  // why there will be no other model
  OptionList changes_;              // of options, so far; the last one of a key stands
  mutable std::mutex mutex_;        // guards `model_`
  std::shared_ptr<SessionModel> model_;
};

}  // namespace ephost::session
