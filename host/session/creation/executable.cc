#include "host/session/creation/executable.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/values/device_value.h"
#include "host/session/config/session_config.h"
#include "host/session/creation/pipeline.h"
#include "host/session/pipeline/assembly.h"

namespace ephost::session {
namespace {

bool has_profile_bound_computation(const PreparedModel& prepared) {
  if (prepared.shape_profiles.empty()) return false;
  const auto is_bound = [](const std::optional<bridge::Computation>& computation) {
    return computation && computation->provider().takes_shape_profiles();
  };
  return std::ranges::any_of(prepared.graphs(), [&](const PreparedGraph* graph) {
    return std::ranges::any_of(graph->computations, is_bound);
  });
}

// Those with something to compute, in priority order.
std::vector<std::string> find_working_providers(const PreparedModel& prepared) {
  std::vector<std::string> names;
  for (const auto& provider : prepared.providers) {
    const auto is_its_own = [&](const std::optional<bridge::Computation>& computation) {
      return computation && &computation->provider() == provider.get();
    };
    const bool works = std::ranges::any_of(prepared.graphs(), [&](const PreparedGraph* graph) {
      return std::ranges::any_of(graph->computations, is_its_own);
    });
    if (works) names.push_back(provider->name());
  }
  return names;
}

// What a range of a profile is about: an extent of the input, or an element; nothing if it has
// none.
std::optional<int64_t> number_of(const bridge::ExtentRange& range, const runtime::Value& input) {
  if (!range.is_value) {
    const std::vector<int64_t>& shape = input.shape();
    return range.axis < shape.size() ? std::optional(shape[range.axis]) : std::nullopt;
  }
  const auto on_host = runtime::to_host(input);
  if (!on_host.ok() || range.axis >= on_host->element_count()) return std::nullopt;
  if (input.element_type() == ElementType::kInt64) return on_host->elements<int64_t>()[range.axis];
  if (input.element_type() == ElementType::kInt32) return on_host->elements<int32_t>()[range.axis];
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Executable>> Executable::create(EnvironmentState& environment,
                                                       const ModelSource& source,
                                                       const SessionSettings& settings,
                                                       const PipelineHooks& hooks) {
  auto made = std::make_unique<Executable>();
  PreparedModel& prepared = made->prepared;
  EPHOST_ASSIGN_OR_RETURN(prepared,
                          prepare_model(environment, source, settings, Stage::kPlanned, hooks));
  EPHOST_ASSIGN_OR_RETURN(made->runs, SessionRuns::create(prepared));
  made->is_bound_to_profiles = has_profile_bound_computation(prepared);
  if (prepared.metrics != nullptr || prepared.workers != nullptr) {
    const std::vector<std::string> working = find_working_providers(prepared);
    made->working_providers = working.empty() ? "host" : join(working, ",");
    if (prepared.workers != nullptr) {
      prepared.workers->note_working({working.begin(), working.end()});
    }
  }
  const auto start = std::chrono::steady_clock::now();
  if (Status assembled = made->assemble(settings.options); !assembled.ok()) {
    EPHOST_RETURN_IF_ERROR(prepared.cancellation.check());
    return assembled;
  }
  made->offer_idle_frames();
  if (prepared.metrics != nullptr) made->count_memory();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  prepared.phases.push_back({"frame", taken.count()});
  if (prepared.profiler) prepared.profiler->add("session", "frame", start);
  return made;
}

// The program, and a first frame for it.
Status Executable::assemble(const GivenOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(program, assemble_program(prepared, options));
  EPHOST_ASSIGN_OR_RETURN(auto frame, runtime::Frame::create(*program));
  frames.push_back(std::move(frame));
  return Status::ok_status();
}

void Executable::offer_idle_frames() {
  std::vector<const bridge::Device*> devices;
  for (const runtime::DeviceLocation& location : program->devices()) {
    devices.push_back(location.memory.device.get());
  }
  if (!devices.empty()) kept_blocks_.emplace(std::move(devices), [this] { shrink(); });
}

Executable::~Executable() {
  kept_blocks_.reset();
  if (prepared.profiler != nullptr) profiles.stop(*prepared.profiler);
}

void Executable::count_memory() {
  gauges = GaugeShare(*prepared.metrics);
  for (const plan::MemoryBlock& block : program->pattern().blocks) {
    gauges.add(Family::kPlannedBytes, {prepared.location_name(block.location)}, block.bytes);
  }
}

Status Executable::check_profiles(std::span<const runtime::Value* const> inputs) const {
  const graph::Graph& graph = prepared.model.graph;
  const auto is_within = [&](const bridge::ExtentRange& range) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr || graph.values[graph.inputs[i]].name != range.input) continue;
      const std::optional<int64_t> number = number_of(range, *inputs[i]);
      return !number || (range.least <= *number && *number <= range.greatest);
    }
    return true;  // the run itself says what is missing
  };
  const auto holds = [&](const bridge::ShapeProfile& profile) {
    return std::ranges::all_of(profile, is_within);
  };
  if (std::ranges::any_of(prepared.shape_profiles, holds)) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("the inputs lie outside of the session's profiles, and its "
                          "providers have compiled the model for these only; widen {}",
                          kShapeProfilesKey));
}

void Executable::shrink() {
  std::vector<std::unique_ptr<runtime::Frame>> idle;  // destroyed without the lock
  {
    const std::lock_guard lock(frames_mutex);
    idle.swap(frames);
  }
  program->forget_patterns();
}

Status Executable::run(std::span<const runtime::Value* const> inputs,
                       std::span<runtime::Value> outputs, const RunOptions& options) {
  if (is_bound_to_profiles) EPHOST_RETURN_IF_ERROR(check_profiles(inputs));
  std::unique_ptr<runtime::Frame> frame;
  {
    const std::lock_guard lock(frames_mutex);
    if (!frames.empty()) {
      frame = std::move(frames.back());
      frames.pop_back();
    }
  }
  if (frame == nullptr) {
    auto made = runtime::Frame::create(*program);
    const runtime::RunControl control{.cancelled = options.cancelled, .deadline = options.deadline};
    if (!made.ok()) return control.judge(std::move(made).status());
    frame = std::move(*made);
  }
  const auto start = prepared.profiler ? Profiler::Clock::now() : Profiler::Clock::time_point();
  uint64_t id = 0;
  Status status = runs.run(options, [&](const runtime::RunControl& control) {
    id = control.id;
    return frame->run(inputs, outputs, control);
  });
  if (prepared.profiler) {
    prepared.profiler->add("run", "run", start,
                           {{"run", std::to_string(id)}, {"tag", options.tag}});
  }
  const std::lock_guard lock(frames_mutex);
  frames.push_back(std::move(frame));
  return status;
}

}  // namespace ephost::session
