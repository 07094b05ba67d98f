// The model of a session as its runs use it: as it is, and specialised for shapes.
//
// Four things stand for "a model that runs", each with another life:
//
//   Executable    one program with its frames; never changes, and is dropped as a whole
//   Specializer   chooses the executable of a run by its shapes, and makes those that are missing
//   SessionModel  the base, its specializer, and the model without shapes that turned out to be
//                 wrong: everything that goes when a worker ends, and what is reported of it
//   Recovery      puts another SessionModel in the place of one whose worker has ended
//
// The first is all that a model of fixed shapes needs, and runs go through nothing else there: a
// session has a Specializer only for open extents that a provider wants fixed, and a Recovery only
// for providers in workers that are to be replaced.
#pragma once

#include <ephost/status.h>
#include <ephost/types/fallback.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/log.h"
#include "host/session/config/cancellation.h"
#include "host/session/creation/executable.h"
#include "host/session/environment/environment.h"
#include "host/session/metrics/run_meter.h"
#include "host/session/running/shape_correction.h"
#include "host/session/running/specializer.h"

namespace ephost::session {

// Members are destroyed in reverse order.
struct SessionModel {
  // Takes the model through the pipeline.
  [[nodiscard]] static Result<std::unique_ptr<SessionModel>> create(EnvironmentState& environment,
                                                                    const ModelSource& source,
                                                                    const SessionSettings& settings,
                                                                    const PipelineHooks& hooks);
  // Makes what serves runs of the shapes that the profiles and the runs have, where that is of use.
  // To be called once, before the first run. `log` is that of the session; `deadline`, of a run
  // that needs the model, ends it.
  [[nodiscard]] Status add_specializer(EnvironmentState& environment,
                                       const SessionSettings& settings, const Log& log,
                                       Deadline deadline = {});

  // The same for a model that takes the place of one whose shapes are wrong.
  [[nodiscard]] Status specialize(EnvironmentState& environment, const SessionSettings& settings,
                                  const Log& log, Deadline deadline);

  // Runs the model, specialised or not; one that a run finds to have been planned for wrong shapes
  // is replaced. May be called by several threads at once.
  [[nodiscard]] Status run(std::span<const runtime::Value* const> inputs,
                           std::span<runtime::Value> outputs, const RunOptions& options);
  // As Session::set_ep_dynamic_options.
  [[nodiscard]] Status change_options(const OptionList& options);

  // As Session::shrink.
  void shrink();

  // The model as it is.
  std::unique_ptr<Executable> base;
  // Makes others of it for the shapes of runs; null if there is no use for them.
  std::unique_ptr<Specializer> specializer;
  std::vector<Fallback> fallbacks;
  std::map<std::string, uint64_t> node_counts;  // by the name of the provider, or of the host
  std::vector<SessionProvider> providers;
  RunMeter* meter = nullptr;  // of the environment; null: runs are not counted
  // Null for a model that is itself a correction.
  std::unique_ptr<ShapeCorrection> correction;

 private:
  [[nodiscard]] Status run_as_planned(std::span<const runtime::Value* const> inputs,
                                      std::span<runtime::Value> outputs, const RunOptions& options);
};

}  // namespace ephost::session
