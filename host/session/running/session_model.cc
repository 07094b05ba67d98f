#include "host/session/running/session_model.h"

#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/runtime/values/device_value.h"
#include "host/session/config/session_config.h"
#include "host/session/model/node_counts.h"

namespace ephost::session {

Result<std::unique_ptr<SessionModel>> SessionModel::create(EnvironmentState& environment,
                                                           const ModelSource& source,
                                                           const SessionSettings& settings,
                                                           const PipelineHooks& hooks) {
  auto made = std::make_unique<SessionModel>();
  EPHOST_ASSIGN_OR_RETURN(made->base, Executable::create(environment, source, settings, hooks));
  const PreparedModel& prepared = made->base->prepared;
  made->fallbacks = fallbacks_of(prepared);
  made->node_counts = count_nodes(prepared);
  made->providers = describe_providers(prepared);
  if (prepared.metrics != nullptr) {
    made->meter = &prepared.metrics->runs_of(made->base->working_providers);
  }
  return made;
}

Status SessionModel::add_specializer(EnvironmentState& environment, const SessionSettings& settings,
                                     const Log& log, Deadline deadline) {
  correction =
      std::make_unique<ShapeCorrection>(environment, settings, log, base->prepared.read_source);
  return specialize(environment, settings, log, deadline);
}

Status SessionModel::specialize(EnvironmentState& environment, const SessionSettings& settings,
                                const Log& log, Deadline deadline) {
  EPHOST_ASSIGN_OR_RETURN(specializer,
                          Specializer::create(*base, environment, settings, log, deadline));
  if (specializer != nullptr) return Status::ok_status();
  base->prepared.source.reset();
  if (!settings.config.shape_profiles.empty() && !base->is_bound_to_profiles) {
    log_warning(
        formatted("{} has no effect: no provider of the session wishes for fixed extents "
                  "of this model, or compiles it for ranges of them",
                  kShapeProfilesKey));
  }
  return Status::ok_status();
}

Status SessionModel::run(std::span<const runtime::Value* const> inputs,
                         std::span<runtime::Value> outputs, const RunOptions& options) {
  if (correction == nullptr) return run_as_planned(inputs, outputs, options);
  for (std::shared_ptr<SessionModel> corrected = correction->model();;) {
    SessionModel& now = corrected != nullptr ? *corrected : *this;
    Status status = now.run_as_planned(inputs, outputs, options);
    if (status.ok() || is_circumstance(status)) return status;
    if (runtime::changes_inputs(inputs, outputs)) return status;
    EPHOST_ASSIGN_OR_RETURN(std::shared_ptr<SessionModel> other,
                            correction->correct(*this, now, status, options));
    if (other == nullptr) return status;
    corrected = std::move(other);
  }
}

Status SessionModel::run_as_planned(std::span<const runtime::Value* const> inputs,
                                    std::span<runtime::Value> outputs, const RunOptions& options) {
  if (specializer != nullptr) return specializer->run(inputs, outputs, options);
  return base->run(inputs, outputs, options);
}

void SessionModel::shrink() {
  if (specializer != nullptr) {
    specializer->shrink();
  } else {
    base->shrink();
  }
  if (correction == nullptr) return;
  if (const std::shared_ptr<SessionModel> corrected = correction->model()) corrected->shrink();
}

Status SessionModel::change_options(const OptionList& options) {
  EPHOST_RETURN_IF_ERROR(specializer != nullptr ? specializer->change_options(options)
                                                : base->runs.change_options(options));
  return correction != nullptr ? correction->change_options(options) : Status::ok_status();
}

}  // namespace ephost::session
