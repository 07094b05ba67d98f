#include "host/session/facade/session_state.h"

#include <chrono>
#include <utility>

#include "host/base/format.h"
#include "host/base/memory/system_memory.h"
#include "host/base/text.h"
#include "host/runtime/values/readable_inputs.h"
#include "host/session/environment/session_log.h"
#include "host/session/model/node_counts.h"
#include "host/session/plugins/device_memories.h"

namespace ephost::session {
namespace {

std::string known_names(std::span<const ValueDescription> descriptions) {
  std::vector<std::string> names;
  for (const ValueDescription& description : descriptions) names.push_back(description.name);
  return join(names, ", ");
}

// Counts one run: as failed, unless it is told otherwise before it ends.
class CountedRun {
 public:
  explicit CountedRun(RunMeter& meter) : meter_(meter), start_(Metrics::Clock::now()) {
    meter_.begin();
  }
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;
  ~CountedRun() { meter_.end(outcome_, Metrics::Clock::now() - start_, bytes_); }

  void note(const Status& status, std::span<const runtime::Value* const> inputs,
            std::span<const runtime::Value> outputs) {
    outcome_ = outcome_of(status);
    if (!status.ok()) return;
    for (const runtime::Value* input : inputs) {
      if (input != nullptr) bytes_.inputs += input->extent().size();
    }
    for (const runtime::Value& output : outputs) bytes_.outputs += output.extent().size();
  }

 private:
  RunMeter& meter_;
  Metrics::Clock::time_point start_;
  RunOutcome outcome_ = RunOutcome::kFailed;
  RunMeter::Bytes bytes_;
};

}  // namespace

Status SessionState::run(std::span<const runtime::Value* const> run_inputs,
                         std::span<runtime::Value> run_outputs, const RunOptions& options) {
  Metrics* const metrics = environment->metrics.get();
  if (metrics == nullptr) return run_model(run_inputs, run_outputs, options);
  CountedRun counted(*model()->meter);
  Status status = run_model(run_inputs, run_outputs, options);
  counted.note(status, run_inputs, run_outputs);
  if (!status.ok()) {
    metrics->add(Family::kFailures, {"run", std::string(status_code_name(status.code()))});
  }
  return status;
}

Status SessionState::run_model(std::span<const runtime::Value* const> run_inputs,
                               std::span<runtime::Value> run_outputs, const RunOptions& options) {
  const RunLog scope(log, options);
  runtime::ReadableInputs readable;
  EPHOST_ASSIGN_OR_RETURN(run_inputs, readable.make(run_inputs, max_dense_bytes));
  if (recovery != nullptr) return recovery->run(run_inputs, run_outputs, options);
  return created->run(run_inputs, run_outputs, options);
}

void SessionState::count() {
  Metrics* const metrics = environment->metrics.get();
  if (metrics == nullptr) return;
  gauges = GaugeShare(*metrics);
  gauges.add(Family::kLiveSessions, {}, 1);
  uint64_t bytes = 0;
  for (const PreparedGraph* graph : prepared().graphs()) {
    for (const graph::Tensor& constant : prepared().graph_of(*graph).initializers) {
      bytes += constant.data.bytes.size();
    }
  }
  gauges.add(Family::kWeightBytes, {}, bytes);
}

Status SessionState::change_options(const OptionList& options) {
  if (recovery != nullptr) return recovery->change_options(options);
  return created->change_options(options);
}

Result<size_t> SessionState::input_slot(std::string_view name) const {
  const auto found = input_index.find(name);
  if (found != input_index.end()) return found->second;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("the model has no input {}; its inputs are {}", quote(name), known_names(inputs)));
}

Result<size_t> SessionState::output_slot(std::string_view name) const {
  const auto found = output_index.find(name);
  if (found != output_index.end()) return found->second;
  return Status(StatusCode::kInvalidArgument,
                formatted("the model has no output {}; its outputs are {}", quote(name),
                          known_names(outputs)));
}

Result<std::filesystem::path> SessionState::end_profiling() {
  const std::shared_ptr<SessionModel> now = model();
  Profiler* const profiler = now->base->prepared.profiler.get();
  if (profiler == nullptr || !profiler->is_recording()) {
    return Status(StatusCode::kInvalidArgument,
                  "the session records no profile; ask for one with "
                  "GivenOptions::enable_profiling, and end it once");
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

SessionState::SessionState(EnvironmentState& kept, Log own)
    : environment(kept.shared_from_this()), log(std::move(own)) {
  async_runs.emplace(environment->tasks);
}

SessionState::~SessionState() {
  async_runs.reset();
  if (created == nullptr && recovery == nullptr) return;  // the creation failed
  const Profiler* const profiler = prepared().profiler.get();
  if (profiler == nullptr || !profiler->is_recording()) return;
  if (const auto written = end_profiling(); !written.ok()) {
    log_warning(written.status().to_string());
  }
}

void SessionState::shrink() {
  model()->shrink();
  return_freed_memory();
}

Status SessionState::check_output_file(const std::filesystem::path& file, std::string role) const {
  OperationFiles files = model()->base->prepared.files;
  return files.add_output(file, std::move(role));
}

std::vector<Specialization> SessionState::specializations() const {
  const std::shared_ptr<SessionModel> now = model();
  return now->specializer != nullptr ? now->specializer->list() : std::vector<Specialization>();
}

uint64_t SessionState::host_node_count() const {
  const std::shared_ptr<SessionModel> now = model();
  const auto count = now->node_counts.find(std::string(kHostName));
  return count == now->node_counts.end() ? 0 : count->second;
}

std::vector<PlannedMemory> SessionState::planned_memory() const {
  std::vector<PlannedMemory> blocks;
  const std::shared_ptr<SessionModel> now = model();
  for (const plan::MemoryBlock& block : now->base->program->pattern().blocks) {
    blocks.push_back({block.location, block.bytes, block.lower_bound});
  }
  return blocks;
}

namespace {

std::vector<MemoryInfo> memory_of(const runtime::Program& program, size_t count,
                                  std::span<const runtime::DeviceEnd> ends) {
  std::vector<MemoryInfo> memory(count);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].on_device == graph::kNoValue) continue;
    const uint32_t location = program.allocation().values[ends[i].on_device].location;
    memory[i] = describe_memory(program.devices()[location - 1].memory);
  }
  return memory;
}

}  // namespace

std::vector<MemoryInfo> SessionState::input_memory() const {
  const std::shared_ptr<SessionModel> now = model();
  return memory_of(*now->base->program, inputs.size(), now->base->program->device_ends().inputs);
}

std::vector<MemoryInfo> SessionState::output_memory() const {
  const std::shared_ptr<SessionModel> now = model();
  return memory_of(*now->base->program, outputs.size(), now->base->program->device_ends().outputs);
}

}  // namespace ephost::session
