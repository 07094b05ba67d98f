#include "host/session/running/specializer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/session/caching/session_cache.h"
#include "host/session/contexts/profile_contexts.h"
#include "host/session/creation/retries.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/model/node_counts.h"

namespace ephost::session {
namespace {

// How metrics call it.
constexpr std::string_view kOperation = "specialization";

// Models with more extents than this cost an allocation in each run.
constexpr size_t kFewExtents = 32;

// The settings of a session without what only its own model is for.
SessionSettings settings_of_specializations(SessionSettings settings) {
  settings.config.context_enable = false;
  settings.config.share_contexts = false;
  settings.config.stop_share_contexts = false;
  settings.config.optimized_model_file_path.clear();
  settings.config.profile_file.clear();
  return settings;
}

}  // namespace

SessionSettings settings_of_later_models(SessionSettings settings) {
  settings = settings_of_specializations(std::move(settings));
  settings.options.progress = {};
  settings.options.cancelled = nullptr;
  settings.options.read_context_data = {};
  return settings;
}

SessionSettings settings_of_replacements(const SessionSettings& settings) {
  SessionSettings later = settings_of_later_models(settings);
  later.config.profile_file = settings.config.profile_file;
  return later;
}

Specializer::Specializer(Executable& base, EnvironmentState& environment,
                         const SessionSettings& settings, InputExtents inputs, const Log& log,
                         Deadline deadline)
    : base_(base),
      environment_(environment.shared_from_this()),
      creation_(Creation{settings_of_specializations(settings), deadline}),
      settings_(settings_of_later_models(settings)),
      mode_(settings.config.specialize),
      runs_before_(settings.config.runs_before),
      inputs_(std::move(inputs)),
      log_(log),
      table_(static_cast<size_t>(settings.config.max_specializations)) {
  background_.emplace(environment_->tasks);
}

Result<std::unique_ptr<Specializer>> Specializer::create(Executable& base,
                                                         EnvironmentState& environment,
                                                         const SessionSettings& settings,
                                                         const Log& log, Deadline deadline) {
  const PreparedModel& prepared = base.prepared;
  const SessionConfig& config = settings.config;
  const bool wants = config.specialize != SpecializeMode::kOff && config.max_specializations > 0 &&
                     prepared.shape_wishes.any() &&
                     (prepared.source || !prepared.stored_specializations.empty());
  if (!wants) return std::unique_ptr<Specializer>();
  InputExtents inputs(prepared.model, prepared.shape_wishes);
  if (inputs.size() == 0) return std::unique_ptr<Specializer>();
  std::unique_ptr<Specializer> made(
      new Specializer(base, environment, settings, std::move(inputs), log, deadline));
  EPHOST_RETURN_IF_ERROR(made->load_stored(config));
  EPHOST_RETURN_IF_ERROR(made->make_profiles());
  made->creation_.reset();  // what it refers to may end now
  return made;
}

Specializer::~Specializer() {
  is_closing_ = true;
  background_.reset();
}

Status Specializer::load_stored(const SessionConfig& config) {
  const PreparedModel& prepared = base_.prepared;
  if (prepared.stored_specializations.empty()) return Status::ok_status();
  if (!prepared.stored_folder) {
    return Status(
        StatusCode::kInvalidGraph,
        "the context model refers to specialised models beside it, and comes from memory, "
        "so that their folder is not known; set ep.context_file_path, or "
        "session.shapes.specialize=off");
  }
  const KnownChecksums known(config.known_checksums_dir);
  size_t left = static_cast<size_t>(config.max_specializations);
  for (const auto& [name, stated] : prepared.stored_specializations) {
    if (left-- == 0) {
      log_warning(
          formatted("the context model refers to {} specialised models, and "
                    "session.shapes.max_specializations={} keeps fewer; the others are "
                    "not loaded",
                    prepared.stored_specializations.size(), config.max_specializations));
      break;
    }
    EPHOST_RETURN_IF_ERROR(
        metered(base_.prepared.metrics, Family::kSpecializations, Family::kSpecializationSeconds,
                kOperation,
                [&, &name = name, &stated = stated] { return load_one(name, stated, known); })
            .with_context("loading the specialised model " + quote(name)));
  }
  return Status::ok_status();
}

Status Specializer::load_one(const std::string& name, const context::ContentChecksum& stated,
                             const KnownChecksums& known) {
  const auto start = std::chrono::steady_clock::now();
  Cancellation cancellation(creation_->settings.options.cancelled);
  if (creation_->deadline) cancellation.end_at(*creation_->deadline);
  EPHOST_ASSIGN_OR_RETURN(
      const ModelSource source,
      open_specialized_model(*base_.prepared.stored_folder, name, stated, known, cancellation));
  const PipelineHooks hooks{.runs = true,
                            .base = &base_.prepared,
                            .deadline = creation_->deadline,
                            .workers = make_workers()};
  auto created = Executable::create(*environment_, source, creation_->settings, hooks);
  EPHOST_RETURN_IF_ERROR(take_workers(hooks.workers));
  EPHOST_ASSIGN_OR_RETURN(const std::shared_ptr<Executable> made, std::move(created));
  const graph::Model& model = made->prepared.model;
  EPHOST_RETURN_IF_ERROR(check_interface(base_.prepared.model, model));
  std::vector<int64_t> extents(inputs_.size());
  const std::string missing = inputs_.fill(
      extents, [&](const std::string& input, const std::string&, uint32_t axis) -> const int64_t* {
        for (const graph::ValueId id : model.graph.inputs) {
          const graph::Value& value = model.graph.values[id];
          if (value.name != input || !value.type.shape) continue;
          const int64_t& extent = (*value.type.shape)[axis];
          return graph::is_static_dim(extent) ? &extent : nullptr;
        }
        return nullptr;
      });
  if (!missing.empty()) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("it leaves {} open, which the providers of this session want fixed; "
                            "compile the model again with these providers",
                            quote(missing)));
  }
  if (made->prepared.profiler && made->prepared.profiler->is_recording()) {
    made->profiles.start(made->prepared.providers);
  }
  {
    const std::lock_guard lock(mutex_);
    if (table_.find(extents) != nullptr) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("another one has the same extents, {}; compile the model again",
                              inputs_.describe(extents)));
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return publish(extents, made, taken.count());
}

Status Specializer::make_profiles() {
  EPHOST_ASSIGN_OR_RETURN(const auto all, best_extents(base_.prepared.shape_profiles, inputs_));
  for (const std::vector<int64_t>& extents : all) {
    {
      const std::lock_guard lock(mutex_);
      Table::Entry& entry = table_.find_or_add(extents);
      if (entry.state == Table::State::kReady) continue;  // it was loaded
      entry.state = Table::State::kMaking;
    }
    const Limits limits = {.cancelled = creation_->settings.options.cancelled,
                           .deadline = creation_->deadline};
    EPHOST_RETURN_IF_ERROR(
        make(extents, limits, creation_->settings)
            .status()
            .with_context("specialising the model for " + inputs_.describe(extents)));
  }
  return Status::ok_status();
}

Status Specializer::run(std::span<const runtime::Value* const> inputs,
                        std::span<runtime::Value> outputs, const RunOptions& options) {
  std::array<int64_t, kFewExtents> few;
  std::vector<int64_t> many;
  if (inputs_.size() > few.size()) many.resize(inputs_.size());
  const std::span<int64_t> extents =
      many.empty() ? std::span(few).first(inputs_.size()) : std::span(many);
  if (inputs_.read(inputs, extents)) return run_chosen(extents, inputs, outputs, options);
  return base_.run(inputs, outputs, options);
}

Status Specializer::run_chosen(std::span<const int64_t> extents,
                               std::span<const runtime::Value* const> inputs,
                               std::span<runtime::Value> outputs, const RunOptions& options) {
  Choice choice = choose(extents);
  if (choice.makes && mode_ == SpecializeMode::kInRun) {
    Result<std::shared_ptr<Executable>> made =
        make(extents, {.cancelled = options.cancelled, .deadline = options.deadline}, settings_);
    if (made.ok()) {
      choice.executable = std::move(made).value();
      const std::lock_guard lock(mutex_);
      if (Table::Entry* const entry = table_.find(extents)) ++entry->runs;
    }
  } else if (choice.makes) {
    start_in_background(extents);
  }
  if (choice.executable != nullptr) return choice.executable->run(inputs, outputs, options);
  return base_.run(inputs, outputs, options);
}

Specializer::Choice Specializer::choose(std::span<const int64_t> extents) {
  const std::lock_guard lock(mutex_);
  Table::Entry& entry = table_.find_or_add(extents);
  ++entry.runs;
  if (entry.state == Table::State::kReady) return {entry.item, false};
  const bool makes = entry.state == Table::State::kSeen &&
                     entry.runs > (runs_before_ << table_.backoff()) &&
                     base_.prepared.source.has_value();
  if (!makes) return {};
  entry.state = Table::State::kMaking;
  return {nullptr, true};
}

void Specializer::start_in_background(std::span<const int64_t> extents) {
  const auto task = [this, wanted = std::vector<int64_t>(extents.begin(), extents.end())] {
    const LogScope scope(log_);
    static_cast<void>(make(wanted, {.cancelled = &is_closing_}, settings_));
  };
  if (const Status started = background_->start(task); !started.ok()) {
    note_failure(extents, started);
  }
}

Result<std::shared_ptr<Executable>> Specializer::make(std::span<const int64_t> extents,
                                                      const Limits& limits,
                                                      const SessionSettings& settings) {
  using Made = Result<std::shared_ptr<Executable>>;
  const auto start = std::chrono::steady_clock::now();
  Made made = metered(base_.prepared.metrics, Family::kSpecializations,
                      Family::kSpecializationSeconds, kOperation, [&] {
                        return without_exceptions("specialising a model", [&]() -> Made {
                          return create_executable(extents, limits, settings);
                        });
                      });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const Status status =
      made.ok() ? without_exceptions("specialising a model",
                                     [&] { return publish(extents, *made, taken.count()); })
                : made.status();
  if (status.ok()) return made;
  note_failure(extents, status);
  return status;
}

Result<std::shared_ptr<Executable>> Specializer::create_executable(std::span<const int64_t> extents,
                                                                   const Limits& limits,
                                                                   SessionSettings settings) const {
  if (!base_.prepared.source) {
    return Status(StatusCode::kModelRequiresCompilation,
                  "a context model has no specialisations but those that it lists; compile the "
                  "model again with all profiles");
  }
  inputs_.add_overrides(extents, settings.config.dimension_overrides);
  settings.options.cancelled = limits.cancelled;
  const ModelSource& source = *base_.prepared.source;
  SessionCache cache =
      SessionCache::create(source, settings, environment_->host_version,
                           environment_->registry.verifier().policy(), limits.deadline);
  std::shared_ptr<ProviderWorkers> workers;
  const auto create = [&] {
    workers = make_workers();
    PipelineHooks hooks{
        .runs = true, .base = &base_.prepared, .deadline = limits.deadline, .workers = workers};
    cache.add_to(hooks);
    return Executable::create(*environment_, source, settings, hooks);
  };
  DamagedEntry damaged(cache);
  auto made = with_retries(create, damaged);
  cache.count(base_.prepared.metrics);
  if (!is_cancellation(made.status())) {
    EPHOST_RETURN_IF_ERROR(take_workers(workers));
  }
  if (!made.ok()) return made.status();
  Executable& executable = **made;
  if (executable.prepared.model.graph.inputs.size() != base_.prepared.model.graph.inputs.size()) {
    return Status(StatusCode::kFail, "the specialised model has other inputs; this is a bug");
  }
  executable.cache_entries = cache.take_entries();
  executable.prepared.source.reset();
  if (executable.prepared.profiler && executable.prepared.profiler->is_recording()) {
    executable.profiles.start(executable.prepared.providers);
  }
  return std::shared_ptr<Executable>(std::move(made).value());
}

std::shared_ptr<ProviderWorkers> Specializer::make_workers() const {
  const std::shared_ptr<ProviderWorkers>& of_base = base_.prepared.workers;
  return of_base == nullptr ? nullptr : std::make_shared<ProviderWorkers>(of_base->config());
}

Status Specializer::take_workers(const std::shared_ptr<ProviderWorkers>& workers) const {
  if (workers == nullptr) return Status::ok_status();
  const std::vector<LostProvider> lost = workers->lost();
  if (lost.empty()) {
    workers->forget_idle();
    base_.prepared.workers->add(workers);
    return Status::ok_status();
  }
  base_.prepared.workers->add_ended(*workers, creation_.has_value());
  return lost.front().reason;
}

Status Specializer::publish(std::span<const int64_t> extents,
                            const std::shared_ptr<Executable>& made, double seconds) {
  std::shared_ptr<Executable> dropped;  // destroyed after the locks
  const std::lock_guard changing(changes_mutex_);
  if (!changes_.empty()) EPHOST_RETURN_IF_ERROR(made->runs.change_options(changes_));
  {
    const std::lock_guard lock(mutex_);
    dropped = table_.publish(extents, made, seconds);
  }
  log_info(formatted("the model was specialised for {} in {:.3f} s", inputs_.describe(extents),
                     seconds));
  return Status::ok_status();
}

void Specializer::note_failure(std::span<const int64_t> extents, const Status& failure) {
  // A run that was cancelled, or a session that ends, says nothing about the shape.
  const bool is_cancelled = is_cancellation(failure);
  {
    const std::lock_guard lock(mutex_);
    Table::Entry& entry = table_.find_or_add(extents);
    entry.state = is_cancelled ? Table::State::kSeen : Table::State::kFailed;
    if (!is_cancelled) entry.reason = failure;
  }
  if (is_cancelled) return;
  log_warning(formatted("the model cannot be specialised for {}, and runs with open extents: {}",
                        inputs_.describe(extents), failure.to_string()));
}

Status Specializer::change_options(const OptionList& entries) {
  std::vector<std::shared_ptr<Executable>> dropped;  // destroyed after the locks
  const std::lock_guard changing(changes_mutex_);
  EPHOST_RETURN_IF_ERROR(base_.runs.change_options(entries));
  for (const auto& [key, value] : entries) {
    const auto known = std::ranges::find(changes_, key, &OptionList::value_type::first);
    if (known != changes_.end()) {
      known->second = value;
    } else {
      changes_.emplace_back(key, value);
    }
  }
  for (const std::shared_ptr<Executable>& one : ready()) {
    const Status changed = one->runs.change_options(entries);
    if (changed.ok()) continue;
    log_warning(formatted("a specialisation of the model is dropped: {}", changed.to_string()));
    const std::lock_guard lock(mutex_);
    dropped.push_back(table_.drop(*one));
  }
  return Status::ok_status();
}

std::vector<std::shared_ptr<Executable>> Specializer::ready() const {
  std::vector<std::shared_ptr<Executable>> ready;
  const std::lock_guard lock(mutex_);
  for (const Table::Entry& entry : table_.ready()) ready.push_back(entry.item);
  return ready;
}

void Specializer::shrink() {
  base_.shrink();
  for (const std::shared_ptr<Executable>& one : ready()) one->shrink();
}

void Specializer::stop_profiling() {
  const std::lock_guard lock(mutex_);
  for (const Table::Entry& entry : table_.ready()) {
    entry.item->profiles.stop(*entry.item->prepared.profiler);
  }
}

std::vector<Specialization> Specializer::list() const {
  using State = Table::State;
  std::vector<Specialization> listed;
  const std::lock_guard lock(mutex_);
  for (const std::vector<Table::Entry>* entries : {&table_.ready(), &table_.others()}) {
    for (const Table::Entry& entry : *entries) {
      if (entry.state == State::kSeen) continue;
      Specialization& one = listed.emplace_back();
      for (size_t i = 0; i < entry.extents.size(); ++i) {
        one.extents.push_back({inputs_.names()[i], entry.extents[i]});
      }
      one.state = entry.state == State::kReady    ? SpecializationState::kReady
                  : entry.state == State::kFailed ? SpecializationState::kFailed
                                                  : SpecializationState::kMaking;
      one.runs = entry.state == State::kReady ? entry.runs : 0;
      one.seconds = entry.seconds;
      one.reason = entry.reason.message();
      if (entry.item != nullptr) one.providers = describe_providers(entry.item->prepared);
    }
  }
  return listed;
}

}  // namespace ephost::session
