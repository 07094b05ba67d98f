#include "host/session/facade/session_creation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/session/caching/session_cache.h"
#include "host/session/config/cancellation.h"
#include "host/session/config/lock_wait.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/context_generation.h"
#include "host/session/contexts/group_seat.h"
#include "host/session/creation/retries.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"

namespace ephost::session {
namespace {

ValueDescription describe(const graph::Model& model, graph::ValueId id) {
  const graph::Value& value = model.graph.values[id];
  ValueDescription description;
  description.name = value.name;
  description.type = graph::to_string(value.type, model.symbols);
  description.has_default = value.initializer != graph::kNoInitializer;
  description.is_optional = value.type.kind == graph::ValueKind::kOptional;
  const graph::ValueType& content =
      description.is_optional && value.type.nested ? *value.type.nested : value.type;
  if (content.kind == graph::ValueKind::kSequence) description.kind = ValueKind::kSequence;
  if (content.kind == graph::ValueKind::kMap) description.kind = ValueKind::kMap;
  description.element_type = graph::content_element(content);
  description.has_shape = content.shape.has_value();
  if (!content.shape) return description;
  for (const int64_t dim : *content.shape) {
    description.shape.push_back(graph::is_static_dim(dim) ? dim : -1);
    description.dim_names.push_back(
        graph::is_symbolic_dim(dim) ? model.symbols[graph::dim_symbol(dim)] : std::string());
  }
  return description;
}

void describe_all(const graph::Model& model, std::span<const graph::ValueId> ids,
                  std::vector<ValueDescription>& out,
                  std::unordered_map<std::string_view, size_t>& index) {
  out.reserve(ids.size());
  for (const graph::ValueId id : ids) out.push_back(describe(model, id));
  for (size_t i = 0; i < out.size(); ++i) index.emplace(out[i].name, i);
}

// What the creation of a session does besides preparing the model: it writes the context model, and
// shares contexts with other sessions of the group.
class ContextTasks {
 public:
  // Checks the output options, before the model is read.
  Status set_up(EnvironmentState& environment, const ModelSource& source,
                const SessionSettings& settings, Attempt& attempt, PipelineHooks& hooks) {
    const SessionConfig& config = settings.config;
    EPHOST_ASSIGN_OR_RETURN(std::optional<context::WriteOptions> output,
                            session_write_options(source, config));
    const Cancellation cancellation = cancellation_of(settings);
    const context::LockWait wait = lock_wait(config, cancellation);
    if (config.share_contexts || config.stop_share_contexts) {
      seat_.emplace(environment.groups, config.share_contexts_group, config.stop_share_contexts,
                    wait);
      hooks.seat = &*seat_;
    }
    hooks.runs = true;
    if (!output) return Status::ok_status();
    hooks.writes_context = true;
    output->file_system = environment.output_file_system;
    if (seat_) {
      EPHOST_RETURN_IF_ERROR(seat_->check_output(*output));
      hooks.after_import = [this, output](const PreparedModel& prepared) {
        context::WriteOptions checked = *output;
        checked.files = prepared.files;
        return seat_->check_output(checked);
      };
      hooks.after_compile = [this, output](PreparedModel& prepared) {
        return seat_->add_model(collect_compiled(prepared, *output));
      };
      return Status::ok_status();
    }
    output->lock_wait = wait;
    output->written_before = attempt.written;
    EPHOST_ASSIGN_OR_RETURN(
        generation_, ContextGeneration::create(
                         std::move(*output), ContextGeneration::WithoutNodes::kWarn, cancellation));
    hooks.after_import = [this](const PreparedModel& prepared) {
      return generation_->check(prepared);
    };
    hooks.after_compile = [this, &attempt](PreparedModel& prepared) -> Status {
      EPHOST_RETURN_IF_ERROR(check_workers(prepared));
      EPHOST_RETURN_IF_ERROR(generation_->write(prepared));
      const auto& files = generation_->written().files;
      attempt.written.insert(attempt.written.end(), files.begin(), files.end());
      return Status::ok_status();
    };
    return Status::ok_status();
  }

  // Called when the session is complete.
  Status finish() { return seat_ ? seat_->commit() : Status::ok_status(); }

 private:
  std::optional<GroupSeat> seat_;
  std::unique_ptr<ContextGeneration> generation_;
};

using Created = Result<std::unique_ptr<SessionState>>;

Created create_state(EnvironmentState& environment, const ModelSource& source,
                     const SessionSettings& settings, const Log& log, Attempt& attempt,
                     SessionCache& cache) {
  auto state = std::make_unique<SessionState>(environment, log);
  PipelineHooks hooks;
  hooks.workers = attempt.workers;
  hooks.lost = attempt.lost;
  ContextTasks tasks;
  EPHOST_RETURN_IF_ERROR(tasks.set_up(environment, source, settings, attempt, hooks));
  cache.add_to(hooks);
  EPHOST_ASSIGN_OR_RETURN(state->created,
                          SessionModel::create(environment, source, settings, hooks));
  Executable& base = *state->created->base;
  PreparedModel& prepared = base.prepared;
  const graph::Graph& graph = prepared.model.graph;
  describe_all(prepared.model, graph.inputs, state->inputs, state->input_index);
  describe_all(prepared.model, graph.outputs, state->outputs, state->output_index);
  std::ranges::copy_if(state->inputs, std::back_inserter(state->overridable_initializers),
                       &ValueDescription::has_default);
  EPHOST_RETURN_IF_ERROR(tasks.finish());
  if (prepared.profiler) base.profiles.start(prepared.providers);
  state->metadata = prepared.metadata;
  state->phases = prepared.phases;
  state->max_dense_bytes = prepared.max_dense_bytes;
  return state;
}

// Uses the cache store if there is one.
Created create_with_cache(EnvironmentState& environment, const ModelSource& source,
                          const SessionSettings& settings, const Log& log, Attempt attempt) {
  SessionCache cache = SessionCache::create(source, settings, environment.host_version,
                                            environment.registry.verifier().policy());
  DamagedEntry damaged(cache);
  auto state = with_retries(
      [&] { return create_state(environment, source, settings, log, attempt, cache); }, damaged);
  cache.count(environment.metrics.get());
  if (!state.ok()) return state;
  (*state)->cache_use = cache.use();
  SessionModel& model = *(*state)->created;
  model.base->cache_entries = cache.take_entries();
  EPHOST_RETURN_IF_ERROR(model.add_specializer(environment, settings, log));
  (*state)->count();
  return state;
}

// Does what session.on_crash says if workers end meanwhile, and prepares for their end later on.
Created create_with_workers(EnvironmentState& environment, const ModelSource& source,
                            const GivenOptions& options) {
  const Log log = session_log(environment, options);
  const LogScope scope(log);
  EPHOST_ASSIGN_OR_RETURN(const SessionSettings settings, SessionSettings::read(options));
  std::vector<context::WrittenFile> written;
  std::vector<LostProvider> lost;
  LossPolicy policy;
  LostWorker lost_worker(settings.config.on_crash, policy, lost);
  const auto attempt = [&] {
    return create_with_cache(environment, source, settings, log,
                             {lost_worker.workers(), lost, written});
  };
  EPHOST_ASSIGN_OR_RETURN(std::unique_ptr<SessionState> state, with_retries(attempt, lost_worker));
  PreparedModel& prepared = state->created->base->prepared;
  if (prepared.workers == nullptr) return state;
  // Specialisations may give nodes to a provider that has none in the model as it is.
  const bool may_need_workers =
      state->created->specializer != nullptr && prepared.workers->has_been_used();
  if (prepared.workers->empty() && !may_need_workers) {
    prepared.origin.reset();
    return state;
  }
  state->recovery =
      std::make_unique<Recovery>(std::move(state->created), environment, settings, log);
  return state;
}

}  // namespace

Result<std::unique_ptr<SessionState>> create_session(EnvironmentState& environment,
                                                     const ModelSource& source,
                                                     const GivenOptions& options) {
  return metered(environment.metrics.get(), Family::kSessions, Family::kSessionSeconds, "session",
                 [&] {
                   return without_exceptions("creating a session", [&] {
                     return create_with_workers(environment, source, options);
                   });
                 });
}

}  // namespace ephost::session
