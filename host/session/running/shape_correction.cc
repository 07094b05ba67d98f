#include "host/session/running/shape_correction.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/base/threads/patient_lock.h"
#include "host/onnx_io/inference/infer.h"
#include "host/runtime/frame/run_control.h"
#include "host/session/environment/environment_state.h"
#include "host/session/running/session_model.h"
#include "host/session/running/specializer.h"

namespace ephost::session {
namespace {

// After so many corrections, no shape inside the model is believed any more.
constexpr int kFewCorrections = 3;

Status open_again(const ReadSource& read, ModelSource& source) {
  source.path = read.path;
  source.bytes = read.bytes;
  EPHOST_RETURN_IF_ERROR(read.check_unchanged());
  if (read.bytes) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(read.path));
  source.file = std::make_shared<const MappedFile>(std::move(file));
  return Status::ok_status();
}

}  // namespace

ShapeCorrection::ShapeCorrection(EnvironmentState& environment, const SessionSettings& settings,
                                 const Log& log, const ReadSource& read)
    : environment_(environment.shared_from_this()),
      settings_(settings_of_replacements(settings)),
      log_(log),
      read_(read) {}

std::shared_ptr<SessionModel> ShapeCorrection::model() const {
  if (!exists_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(mutex_);
  return model_;
}

Result<std::shared_ptr<SessionModel>> ShapeCorrection::correct(const SessionModel& base,
                                                               const SessionModel& wrong,
                                                               const Status& failure,
                                                               const RunOptions& run) {
  const PreparedModel& planned = wrong.base->prepared;
  std::set<std::string> open_shapes = planned.contradictions->values();
  if (open_shapes.empty()) return std::shared_ptr<SessionModel>();
  // A pass may have given a value what is known about another one, which it replaces.
  const bool is_known = std::ranges::includes(planned.open_shapes, open_shapes);
  open_shapes.insert(planned.open_shapes.begin(), planned.open_shapes.end());
  if (is_known) open_shapes.insert(onnx_io::kEveryShape);
  if (open_shapes == planned.open_shapes) return std::shared_ptr<SessionModel>();
  const runtime::RunControl control{.cancelled = run.cancelled, .deadline = run.deadline};
  Status end;
  std::unique_lock lock(making_, std::defer_lock);
  if (!lock_until_over(lock, [&] { return !(end = control.check()).ok(); })) return end;
  if (std::shared_ptr<SessionModel> now = model(); now != nullptr && now.get() != &wrong) {
    return now;
  }
  if (++corrections_ > kFewCorrections) open_shapes.insert(onnx_io::kEveryShape);
  log_warning(formatted("{}; the session continues without this shape, and makes its plan again",
                        planned.contradictions->last().message()));
  auto made = make(base, std::move(open_shapes), run);
  if (!made.ok()) {
    if (is_circumstance(made.status())) {
      return std::move(made).status().with_context("making the plan again after: " +
                                                   failure.message());
    }
    return Status(failure).with_context("making the plan again without the shape failed: " +
                                        made.status().message());
  }
  const std::lock_guard publishing(mutex_);
  model_ = *made;
  exists_.store(true, std::memory_order_release);
  return made;
}

Result<std::shared_ptr<SessionModel>> ShapeCorrection::make(const SessionModel& base,
                                                            std::set<std::string> open_shapes,
                                                            const RunOptions& run) {
  ModelSource source;
  EPHOST_RETURN_IF_ERROR(open_again(read_, source));
  SessionSettings settings = settings_;
  settings.options.cancelled = run.cancelled;
  const PreparedModel& planned = base.base->prepared;
  std::shared_ptr<ProviderWorkers> workers;
  if (planned.workers != nullptr) {
    workers = std::make_shared<ProviderWorkers>(planned.workers->config());
  }
  // No cache store: what it has was compiled with the wrong shapes.
  const PipelineHooks hooks{.runs = true,
                            .base = &planned,
                            .deadline = run.deadline,
                            .replaces_base = true,
                            .workers = workers,
                            .lost = planned.lost,
                            .open_shapes = std::move(open_shapes)};
  auto created = SessionModel::create(*environment_, source, settings, hooks);
  if (workers != nullptr) {
    if (!created.ok()) {
      planned.workers->add_ended(*workers, false);
    } else {
      workers->forget_idle();
      planned.workers->add(workers);
    }
  }
  if (!created.ok()) return created.status();
  const std::shared_ptr<SessionModel> made = std::move(created).value();
  const PreparedModel& prepared = made->base->prepared;
  if (prepared.profiler && prepared.profiler->is_recording()) {
    made->base->profiles.start(prepared.providers);
  }
  EPHOST_RETURN_IF_ERROR(made->specialize(*environment_, settings, log_, run.deadline));
  if (!changes_.empty()) EPHOST_RETURN_IF_ERROR(made->change_options(changes_));
  return made;
}

Status ShapeCorrection::change_options(const OptionList& options) {
  const std::lock_guard lock(making_);
  if (const std::shared_ptr<SessionModel> now = model()) {
    EPHOST_RETURN_IF_ERROR(now->change_options(options));
  }
  for (const auto& option : options) {
    std::erase_if(changes_, [&](const auto& known) { return known.first == option.first; });
    changes_.push_back(option);
  }
  return Status::ok_status();
}

}  // namespace ephost::session
