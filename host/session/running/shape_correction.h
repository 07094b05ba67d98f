// Correction of a session when a run finds that a value comes out with another shape than its plan
// was made for: the model is made again without that shape, so that the providers, the order of the
// steps and the memory are those of a value of unknown size. What was compiled for the wrong shape
// never runs on the right one.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "host/base/log.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"
#include "host/session/model/model_source.h"

namespace ephost::session {

struct SessionModel;

// Safe from any thread.
class ShapeCorrection {
 public:
  // `settings` are those of the session; `read` says what its model was read from.
  ShapeCorrection(EnvironmentState& environment, const SessionSettings& settings, const Log& log,
                  const ReadSource& read);
  ShapeCorrection(const ShapeCorrection&) = delete;
  ShapeCorrection& operator=(const ShapeCorrection&) = delete;

  // What takes the place of the model; null as long as it is right.
  [[nodiscard]] std::shared_ptr<SessionModel> model() const;

  // What is to run after a run of `wrong` failed: made of what `base` was made of, unless another
  // run has made it meanwhile. Null if no run of `wrong` has found a wrong shape, or none that can
  // be left out. Flag and deadline of the run end it.
  [[nodiscard]] Result<std::shared_ptr<SessionModel>> correct(const SessionModel& base,
                                                              const SessionModel& wrong,
                                                              const Status& failure,
                                                              const RunOptions& run);

  // As SessionModel::change_options, of the model and of those that take its place.
  [[nodiscard]] Status change_options(const OptionList& options);

 private:
  [[nodiscard]] Result<std::shared_ptr<SessionModel>> make(const SessionModel& base,
                                                           std::set<std::string> open_shapes,
                                                           const RunOptions& run);

  const std::shared_ptr<EnvironmentState> environment_;
  const SessionSettings settings_;
  const Log log_;
  const ReadSource read_;

  std::timed_mutex making_;  // held while a model is made, and while options change
  OptionList changes_;       // of options, so far; the last one of a key stands
  int corrections_ = 0;
  std::atomic<bool> exists_{false};
  mutable std::mutex mutex_;  // guards `model_`
  std::shared_ptr<SessionModel> model_;
};

}  // namespace ephost::session
