#include "host/session/facade/session.h"

#include <malloc.h>

#include <chrono>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/runtime/values/readable_inputs.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"
#include "host/session/facade/session_creation.h"
#include "host/session/facade/session_state.h"
#include "host/session/model/node_counts.h"

namespace ephost {
namespace {

std::string known_names(std::span<const ValueDescription> descriptions) {
  std::vector<std::string> names;
  for (const ValueDescription& description : descriptions) names.push_back(description.name);
  return join(names, ", ");
}

// Counts one run: as failed, unless it is told otherwise before it ends.
class CountedRun {
 public:
  explicit CountedRun(session::RunMeter& meter)
      : meter_(meter), start_(session::Metrics::Clock::now()) {
    meter_.begin();
  }
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;
  ~CountedRun() { meter_.end(outcome_, session::Metrics::Clock::now() - start_, bytes_); }

  void note(const Status& status, std::span<const Value* const> inputs,
            std::span<const Value> outputs) {
    outcome_ = session::outcome_of(status);
    if (!status.ok()) return;
    for (const Value* input : inputs) {
      if (input != nullptr) bytes_.inputs += input->bytes().size();
    }
    for (const Value& output : outputs) bytes_.outputs += output.bytes().size();
  }

 private:
  session::RunMeter& meter_;
  session::Metrics::Clock::time_point start_;
  session::RunOutcome outcome_ = session::RunOutcome::kFailed;
  session::RunMeter::Bytes bytes_;
};

}  // namespace

Status Session::State::run(std::span<const Value* const> run_inputs, std::span<Value> run_outputs,
                           const RunOptions& options) {
  session::Metrics* const metrics = environment.state().metrics.get();
  if (metrics == nullptr) return run_model(run_inputs, run_outputs, options);
  CountedRun counted(*model()->meter);
  Status status = run_model(run_inputs, run_outputs, options);
  counted.note(status, run_inputs, run_outputs);
  if (!status.ok()) {
    metrics->add(session::Family::kFailures, {"run", std::string(status_code_name(status.code()))});
  }
  return status;
}

Status Session::State::run_model(std::span<const Value* const> run_inputs,
                                 std::span<Value> run_outputs, const RunOptions& options) {
  const session::RunLog scope(log, options);
  runtime::ReadableInputs readable;
  EPHOST_ASSIGN_OR_RETURN(run_inputs, readable.make(run_inputs, max_dense_bytes));
  if (recovery != nullptr) return recovery->run(run_inputs, run_outputs, options);
  return created->run(run_inputs, run_outputs, options);
}

void Session::State::count() {
  session::Metrics* const metrics = environment.state().metrics.get();
  if (metrics == nullptr) return;
  gauges = session::GaugeShare(*metrics);
  gauges.add(session::Family::kLiveSessions, {}, 1);
  uint64_t bytes = 0;
  for (const session::PreparedGraph* graph : prepared().graphs()) {
    for (const graph::Tensor& constant : prepared().graph_of(*graph).initializers) {
      bytes += constant.data.bytes.size();
    }
  }
  gauges.add(session::Family::kWeightBytes, {}, bytes);
}

Status Session::State::change_options(const OptionList& options) {
  if (recovery != nullptr) return recovery->change_options(options);
  return created->change_options(options);
}

Result<size_t> Session::State::input_slot(std::string_view name) const {
  const auto found = input_index.find(name);
  if (found != input_index.end()) return found->second;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("the model has no input {}; its inputs are {}", quote(name), known_names(inputs)));
}

Result<size_t> Session::State::output_slot(std::string_view name) const {
  const auto found = output_index.find(name);
  if (found != output_index.end()) return found->second;
  return Status(StatusCode::kInvalidArgument,
                formatted("the model has no output {}; its outputs are {}", quote(name),
                          known_names(outputs)));
}

Result<std::vector<Value>> Session::State::run(std::span<const NamedValue> named,
                                               std::span<const std::string> output_names,
                                               const RunOptions& options) {
  std::vector<const Value*> slots(inputs.size(), nullptr);
  for (const NamedValue& input : named) {
    EPHOST_ASSIGN_OR_RETURN(const size_t slot, input_slot(input.name));
    slots[slot] = &input.value;
  }
  std::vector<size_t> wanted;
  for (const std::string& name : output_names) {
    EPHOST_ASSIGN_OR_RETURN(const size_t slot, output_slot(name));
    wanted.push_back(slot);
  }
  std::vector<Value> values(outputs.size());
  EPHOST_RETURN_IF_ERROR(run(slots, values, options));
  if (output_names.empty()) return values;
  std::vector<Value> selected;
  for (const size_t slot : wanted) selected.push_back(values[slot]);
  return selected;
}

Result<std::filesystem::path> Session::State::end_profiling() {
  const std::shared_ptr<session::SessionModel> now = model();
  Profiler* const profiler = now->base->prepared.profiler.get();
  if (profiler == nullptr || !profiler->is_recording()) {
    return Status(StatusCode::kInvalidArgument,
                  "the session records no profile; ask for one with "
                  "SessionOptions::enable_profiling, and end it once");
  }
  profiler->stop();
  now->base->profiles.stop(*profiler);
  if (now->specializer != nullptr) now->specializer->stop_profiling();
  if (const auto corrected = now->correction->model()) {
    corrected->base->profiles.stop(*profiler);
    if (corrected->specializer != nullptr) corrected->specializer->stop_profiling();
  }
  EPHOST_RETURN_IF_ERROR(profiler->write());
  return profiler->file();
}

Session::State::State(Environment kept, Log own)
    : environment(std::move(kept)), log(std::move(own)) {
  async_runs.emplace(environment.state().tasks);
}

Session::State::~State() {
  async_runs.reset();
  if (created == nullptr && recovery == nullptr) return;  // the creation failed
  const Profiler* const profiler = prepared().profiler.get();
  if (profiler == nullptr || !profiler->is_recording()) return;
  if (const auto written = end_profiling(); !written.ok()) {
    log_warning(written.status().to_string());
  }
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;

Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    Session ended(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

Session::~Session() {
  if (state_ == nullptr) return;
  const Log log = state_->log;
  const LogScope scope(log);
  state_.reset();
}

Result<Session> Session::create(const Environment& environment,
                                const std::filesystem::path& model_path,
                                const SessionOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(auto state,
                          session::create_session_state(environment, {model_path, {}}, options));
  return Session(std::move(state));
}

Result<Session> Session::create(const Environment& environment, ModelBytes model,
                                const SessionOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(auto state,
                          session::create_session_state(environment, {{}, model.bytes}, options));
  return Session(std::move(state));
}

Status Session::set_ep_dynamic_options(const OptionList& options) {
  const LogScope scope(state_->log);
  return session::without_exceptions("changing options of providers",
                                     [&] { return state_->change_options(options); });
}

Status Session::shrink() {
  const LogScope scope(state_->log);
  return session::without_exceptions("shrinking a session", [&]() -> Status {
    state_->model()->shrink();
    // What was freed lies between what is in use; glibc returns it to the system when asked.
    ::malloc_trim(0);
    return Status::ok_status();
  });
}

Result<std::filesystem::path> Session::end_profiling() {
  const LogScope scope(state_->log);
  return session::without_exceptions("writing the profile",
                                     [&] { return state_->end_profiling(); });
}

const std::vector<ValueDescription>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueDescription>& Session::outputs() const { return state_->outputs; }
const std::vector<ValueDescription>& Session::overridable_initializers() const {
  return state_->overridable_initializers;
}
const ModelMetadata& Session::model_metadata() const { return state_->metadata; }
std::vector<MemoryInfo> Session::memory_info_for_inputs() const {
  return std::vector<MemoryInfo>(state_->inputs.size());
}
std::vector<MemoryInfo> Session::memory_info_for_outputs() const {
  return std::vector<MemoryInfo>(state_->outputs.size());
}
const std::vector<Phase>& Session::phases() const { return state_->phases; }
std::vector<Fallback> Session::fallbacks() const { return state_->model()->fallbacks; }
std::vector<Specialization> Session::specializations() const {
  const std::shared_ptr<session::SessionModel> model = state_->model();
  return model->specializer != nullptr ? model->specializer->list() : std::vector<Specialization>();
}
const CacheUse& Session::cache_use() const { return state_->cache_use; }

std::vector<SessionProvider> Session::providers() const { return state_->model()->providers; }

uint64_t Session::host_node_count() const {
  const std::shared_ptr<session::SessionModel> model = state_->model();
  const auto count = model->node_counts.find(std::string(session::kHostName));
  return count == model->node_counts.end() ? 0 : count->second;
}

std::vector<PlannedMemory> Session::planned_memory() const {
  std::vector<PlannedMemory> blocks;
  const std::shared_ptr<session::SessionModel> model = state_->model();
  for (const plan::MemoryBlock& block : model->base->program->pattern().blocks) {
    blocks.push_back({block.location, block.bytes, block.lower_bound});
  }
  return blocks;
}

Status Session::check_output_file(const std::filesystem::path& file, std::string role) const {
  return session::without_exceptions("checking an output file", [&] {
    OperationFiles files = state_->model()->base->prepared.files;
    return files.add_output(file, std::move(role));
  });
}

Result<std::vector<Value>> Session::run(std::span<const NamedValue> inputs,
                                        std::span<const std::string> output_names,
                                        const RunOptions& options) {
  return session::without_exceptions("running a session",
                                     [&] { return state_->run(inputs, output_names, options); });
}

}  // namespace ephost
