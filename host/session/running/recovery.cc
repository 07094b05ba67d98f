#include "host/session/running/recovery.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/base/threads/patient_lock.h"
#include "host/runtime/frame/run_control.h"
#include "host/runtime/values/device_value.h"
#include "host/session/caching/session_cache.h"
#include "host/session/environment/environment_state.h"
#include "host/session/running/specializer.h"

namespace ephost::session {
namespace {

const ProviderWorkers& workers_of(const SessionModel& model) {
  return *model.base->prepared.workers;
}

runtime::RunControl control_of(const RunOptions& options) {
  return {.cancelled = options.cancelled, .deadline = options.deadline};
}

// Whether a failure to make the model again is about the model and the providers that are left,
// rather than about what the machine, or a worker, lacked at that time.
bool is_for_good(const Status& failure) {
  return failure.code() == StatusCode::kInvalidGraph ||
         failure.code() == StatusCode::kNotImplemented ||
         failure.code() == StatusCode::kModelRequiresCompilation;
}

std::string reasons_of(const std::vector<LostProvider>& dead) {
  std::vector<std::string> reasons;
  for (const LostProvider& one : dead) reasons.push_back(one.reason.message());
  return join(reasons, "; ");
}

}  // namespace

Recovery::Recovery(std::shared_ptr<SessionModel> model, EnvironmentState& environment,
                   const SessionSettings& settings, const Log& log)
    : environment_(environment.shared_from_this()),
      settings_(settings_of_replacements(settings)),
      log_(log) {
  PreparedModel& prepared = model->base->prepared;
  source_ = *std::move(prepared.origin);
  prepared.origin.reset();
  lost_ = prepared.lost;
  lacks_payloads_ = prepared.is_context_model() && settings.options.read_context_data;
  model_ = std::move(model);
}

std::shared_ptr<SessionModel> Recovery::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

Status Recovery::run(std::span<const runtime::Value* const> inputs,
                     std::span<runtime::Value> outputs, const RunOptions& options) {
  LossPolicy policy;
  std::shared_ptr<SessionModel> model = this->model();
  for (;;) {
    if (!workers_of(*model).lost().empty()) {
      EPHOST_ASSIGN_OR_RETURN(model, replace(model, policy, options));
    }
    Status status = model->run(inputs, outputs, options);
    const bool is_final = status.ok() || is_circumstance(status) || control_of(options).is_over() ||
                          runtime::changes_inputs(inputs, outputs);
    if (is_final || workers_of(*model).lost().empty()) return status;
  }
}

Recovery::Made Recovery::replace(const std::shared_ptr<SessionModel>& dead, LossPolicy& policy,
                                 const RunOptions& options) {
  const std::vector<LostProvider> lost = workers_of(*dead).lost();
  EPHOST_RETURN_IF_ERROR(policy.check(lost));
  const runtime::RunControl control = control_of(options);
  Status end;
  const auto is_over = [&] {
    end = control.check().with_context("making the session again after: " + reasons_of(lost));
    return !end.ok();
  };
  std::unique_lock lock(making_, std::defer_lock);
  if (!lock_until_over(lock, is_over)) return end;
  if (std::shared_ptr<SessionModel> now = model(); now != dead) return now;
  EPHOST_RETURN_IF_ERROR(refusal_);
  const auto start = Profiler::Clock::now();
  note_losses(lost, lost_);
  Made made = make_again(*dead, policy, options);
  if (!made.ok()) {
    if (is_over()) return end;
    Status failure = std::move(made).status().with_context("continuing after: " + reasons_of(lost));
    // With a new worker, a provider that failed may succeed.
    const bool may_succeed =
        !is_for_good(failure) || workers_of(*dead).config().has(OnCrash::kRestart);
    if ((lacks_payloads_ || !may_succeed) && !is_circumstance(failure)) refusal_ = failure;
    return failure;
  }
  record(**made, lost, start);
  const std::lock_guard publishing(mutex_);
  model_ = *made;
  return made;
}

Recovery::Made Recovery::make_again(const SessionModel& dead, LossPolicy& policy,
                                    const RunOptions& options) {
  if (lacks_payloads_) {
    return Status(StatusCode::kEpFail,
                  "the payloads of the context model came from a function of the application that "
                  "is called at the creation of a session alone; create another session");
  }
  LostWorker lost_worker(workers_of(dead).config(), policy, lost_);
  EPHOST_ASSIGN_OR_RETURN(
      std::shared_ptr<SessionModel> made,
      with_retries([&] { return make(dead, lost_worker.workers(), options); }, lost_worker));
  if (!changes_.empty()) EPHOST_RETURN_IF_ERROR(made->change_options(changes_));
  return made;
}

Recovery::Made Recovery::make(const SessionModel& dead,
                              const std::shared_ptr<ProviderWorkers>& workers,
                              const RunOptions& run) {
  SessionSettings settings = settings_;
  settings.options.cancelled = run.cancelled;
  const EnvironmentState& environment = *environment_;
  SessionCache cache = SessionCache::create(source_, settings, environment.host_version,
                                            environment.registry.verifier().policy(), run.deadline);
  const auto create = [&] {
    PipelineHooks hooks{.runs = true,
                        .base = &dead.base->prepared,
                        .deadline = run.deadline,
                        .replaces_base = true,
                        .workers = workers,
                        .lost = lost_};
    cache.add_to(hooks);
    return SessionModel::create(*environment_, source_, settings, hooks);
  };
  DamagedEntry damaged(cache);
  auto made = with_retries(create, damaged);
  cache.count(environment.metrics.get());
  if (!made.ok()) return std::move(made).status();
  const std::shared_ptr<SessionModel> model = std::move(made).value();
  PreparedModel& prepared = model->base->prepared;
  model->base->cache_entries = cache.take_entries();
  if (prepared.profiler && prepared.profiler->is_recording()) {
    model->base->profiles.start(prepared.providers);
  }
  EPHOST_RETURN_IF_ERROR(model->add_specializer(*environment_, settings, log_, run.deadline));
  return model;
}

void Recovery::record(const SessionModel& made, const std::vector<LostProvider>& dead,
                      Profiler::Clock::time_point start) const {
  std::string placement;
  for (const auto& [provider, nodes] : made.node_counts) {
    if (!placement.empty()) placement += ", ";
    placement += formatted("{} on {}", nodes, provider);
  }
  const std::chrono::duration<double> taken = Profiler::Clock::now() - start;
  log_info(
      formatted("the session was made again in {:.3f} s; nodes: {}", taken.count(), placement));
  const PreparedModel& prepared = made.base->prepared;
  if (prepared.profiler) {
    prepared.profiler->add("session", "recovery", start,
                           {{"reason", reasons_of(dead)}, {"nodes", placement}});
  }
  if (prepared.metrics == nullptr) return;
  for (const LostProvider& one : dead) {
    if (one.policy != OnCrash::kFallback) continue;
    prepared.metrics->add(Family::kFallbacks,
                          {one.name, std::string(status_code_name(one.reason.code()))});
  }
}

Status Recovery::change_options(const OptionList& options) {
  LossPolicy policy;
  for (;;) {
    std::shared_ptr<SessionModel> now = model();
    if (!workers_of(*now).lost().empty()) {
      EPHOST_ASSIGN_OR_RETURN(now, replace(now, policy, {}));
    }
    const std::lock_guard lock(making_);
    if (model() != now) continue;
    const Status status = now->change_options(options);
    if (status.ok()) {
      for (const auto& option : options) {
        std::erase_if(changes_, [&](const auto& known) { return known.first == option.first; });
        changes_.push_back(option);
      }
    }
    if (status.ok() || workers_of(*now).lost().empty()) return status;
  }
}

}  // namespace ephost::session
