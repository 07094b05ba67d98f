#include "host/runtime/frame/step_dispatch.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/provider.h"

namespace ephost::runtime {

namespace {

// Whether the tensor, or one that it contains, has the address. Nothing is nested deeper than a map
// in a sequence, whose values are a sequence.
bool has_address(const eph_value& value, uintptr_t address, int depth = 4) noexcept {
  if (value.data == nullptr || value.kind == EPH_KIND_NONE || value.memory != 0) return false;
  if (value.kind == EPH_KIND_TENSOR) {
    const auto begin = reinterpret_cast<uintptr_t>(value.data);
    return address >= begin && address - begin < value.byte_size;
  }
  if (depth == 0) return false;
  const auto* const parts = static_cast<const eph_value*>(value.data);
  const int64_t count = value.kind == EPH_KIND_SEQUENCE ? value.shape[0] : 2;
  for (int64_t i = 0; i < count; ++i) {
    if (has_address(parts[i], address, depth - 1)) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<bridge::ComputationState>> create_states(const Program& program) {
  std::vector<bridge::ComputationState> states(program.steps().size());
  for (size_t step = 0; step < states.size(); ++step) {
    const bridge::Computation* const computation = program.computation(step);
    if (computation == nullptr) continue;
    EPHOST_ASSIGN_OR_RETURN(states[step], computation->create_state());
  }
  return states;
}

StepDispatch::StepDispatch(const Program& program, std::vector<bridge::ComputationState> states,
                           const Parts& parts)
    : program_(program),
      values_(parts.values),
      memory_(parts.memory),
      runs_(parts.runs),
      stop_(parts.stop),
      states_(std::move(states)),
      calls_(program.steps().size()),
      host_steps_(program.steps().size()),
      lanes_(std::make_unique<Lane[]>(program.lane_count())) {
  for (uint32_t step = 0; step < calls_.size(); ++step) {
    Call& call = calls_[step];
    call.run = &runs_[step];
    call.run->lane = &lanes_[0];
    if (const bridge::Computation* const computation = program.computation(step)) {
      call.compute = computation->compute();
      call.computation = computation->handle();
      call.state = states_[step].get();
      call.limit = computation->call_limit();
      call.is_plain = program.is_static() && !program.has_streams() && call.limit == nullptr &&
                      !runs_.is_prepared(step);
    }
    if (program.host_operator(step) == nullptr) continue;
    host_steps_[step] =
        std::make_unique<HostStep>(program, step, parts.values, parts.outputs, parts.stop);
  }
  if (program.has_streams()) {
    streams_ = std::make_unique<FrameStreams>(program, stop_);
    runs_.set_streams(*streams_);
    ranges_ = find_capture_ranges(program);
    placements_.resize(calls_.size());
    for (size_t step = 0; step < calls_.size(); ++step) {
      const bridge::Computation* const computation = program.computation(step);
      if (computation == nullptr || !computation->is_capturable()) continue;
      placements_[step] = std::make_unique<Placement>();
    }
  }
  if (!program.is_parallel()) return;
  executor_ = std::make_unique<ParallelExecutor>(*program.thread_pool(), program.lane_count());
  stop_.watch(*executor_);
}

void StepDispatch::bind_pattern() {
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    runs_[workspace.pc].workspace = memory_.workspace(workspace.pc, 0);
  }
  if (streams_ != nullptr) streams_->bind(memory_.streams());
}

Status StepDispatch::execute(bool followers_fit) {
  if (calls_.empty() && stop_.is_cancelled()) return stopped_before(0);
  if (executor_) return execute_in_parallel();
  bridge::CallScope scope(*this);
  EPHOST_RETURN_IF_ERROR(streams_ != nullptr ? execute_on_streams(scope, followers_fit)
                                             : execute_in_order(scope, followers_fit));
  return scope.status();
}

// Whatever ends the steps, nothing is enqueued any more when it returns.
Status StepDispatch::execute_on_streams(bridge::CallScope& scope, bool followers_fit) {
  struct End {
    explicit End(FrameStreams& of) : streams(of) {}
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    ~End() { (void)streams.end_run(); }
    FrameStreams& streams;
  };
  const End end(*streams_);
  EPHOST_RETURN_IF_ERROR(streams_->begin_run());
  for (size_t step = 0; step < calls_.size(); ++step) {
    const bridge::Stream* const stream = streams_->stream_of(step);
    if (calls_[step].compute != nullptr) {
      runs_[step].stream = stream == nullptr ? nullptr : stream->handle();
    } else {
      host_steps_[step]->set_stream(stream);
    }
  }
  EPHOST_RETURN_IF_ERROR(execute_in_order(scope, followers_fit));
  return streams_->end_run();
}

Status StepDispatch::execute_in_order(bridge::CallScope& scope, bool followers_fit) {
  Lane& lane = lanes_[0];
  Profiler* const profiler = program_.profiler();
  const bool may_be_plain = followers_fit && profiler == nullptr;
  const bool may_be_cancelled = stop_.may_be_cancelled();
  const uint64_t run_id = stop_.run_id();
  auto range = may_be_plain ? ranges_.begin() : ranges_.end();
  for (size_t step = 0; step < calls_.size(); ++step) {
    if (may_be_cancelled && stop_.is_cancelled()) return stopped_before(step);
    if (range != ranges_.end() && range->first == step) {
      EPHOST_RETURN_IF_ERROR(execute_range(*range, scope, lane));
      step = (range++)->last;
      continue;
    }
    runs_[step].run_id = run_id;
    scope.begin_step(step);
    if (!calls_[step].is_plain || !may_be_plain) {
      EPHOST_RETURN_IF_ERROR(execute_step(step, lane, profiler));
      continue;
    }
    const int32_t code = call_compute(step, lane);
    if (code != EPH_OK) return failure(step, code, lane);
    end_scratch(lane);
  }
  return Status::ok_status();
}

void StepDispatch::end_scratch(Lane& lane) {
  lane.scratch.end_step();
  if (lane.device_scratch.empty()) return;
  for (const DeviceScratch& scratch : lane.device_scratch) memory_.give_back(scratch);
  lane.device_scratch.clear();
}

Status StepDispatch::execute_range(CaptureRange& range, bridge::CallScope& scope, Lane& lane) {
  uint64_t placement = 0;
  bool is_ready = true;
  for (uint32_t step = range.first; step <= range.last; ++step) {
    is_ready = is_ready && runs_.is_ready(step);
    runs_[step].run_id = stop_.run_id();
    runs_[step].placement = placements_[step]->number(runs_[step]);
    placement += runs_[step].placement;  // each only grows
  }
  const bool is_as_before = std::exchange(range.placement, placement) == placement && is_ready;
  if (!is_as_before) range.capture = nullptr;
  if (is_as_before && (range.capture != nullptr || capture(range, scope, lane))) {
    EPHOST_RETURN_IF_ERROR(streams_->begin_step(range.first));
    Status launched = range.capture->launch(*streams_->stream_of(range.first), range.first);
    if (!launched.ok()) return streams_->explain(range.first, std::move(launched));
    return streams_->end_step(range.last);
  }
  for (uint32_t step = range.first; step <= range.last; ++step) {
    scope.begin_step(step);
    EPHOST_RETURN_IF_ERROR(execute_step(step, lane, nullptr));
  }
  return Status::ok_status();
}

// Where capturing fails, the steps are enqueued as always, and say what is wrong with them.
bool StepDispatch::capture(CaptureRange& range, bridge::CallScope& scope, Lane& lane) {
  constexpr uint32_t kMostCaptures = 16;
  if (range.captures == kMostCaptures) return false;
  ++range.captures;
  const bridge::Stream& stream = *streams_->stream_of(range.first);
  if (!stream.begin_capture().ok()) return false;
  int32_t code = EPH_OK;
  for (uint32_t step = range.first; step <= range.last && code == EPH_OK; ++step) {
    scope.begin_step(step);
    code = call_compute(step, lane);
    (void)lane.error.to_status(code, {}, {});  // clears it
    // Scratch memory is gone when the capture is launched.
    if (code == EPH_OK && lane.has_scratch()) code = EPH_FAIL;
    end_scratch(lane);
  }
  auto made = stream.end_capture();
  if (code == EPH_OK && made.ok()) range.capture = std::move(made).value();
  return range.capture != nullptr;
}

Status StepDispatch::execute_in_parallel() {
  memory_.reset_users();
  const TracedPattern* const traced = memory_.traced();
  return executor_->run(traced != nullptr ? traced->dependencies : program_.dependencies(), *this);
}

Status StepDispatch::run_step(uint32_t step, uint32_t index) {
  if (stop_.is_cancelled()) return stopped_before(step);
  Lane& lane = lanes_[index];
  StepRun& run = runs_[step];
  run.lane = &lane;
  run.run_id = stop_.run_id();
  run.workspace = memory_.workspace(step, index);
  const bridge::CallScope scope(*this, step);
  EPHOST_RETURN_IF_ERROR(execute_step(step, lane, program_.profiler()));
  return scope.status();
}

Status StepDispatch::execute_step(size_t step, Lane& lane, Profiler* profiler) {
  const auto start = profiler ? Profiler::Clock::now() : Profiler::Clock::time_point();
  if (streams_ != nullptr) {
    EPHOST_RETURN_IF_ERROR(streams_->begin_step(static_cast<uint32_t>(step)));
  }
  Status done = calls_[step].compute != nullptr
                    ? compute(step, lane)
                    : program_.host_operator(step)->run(*host_steps_[step]);
  if (!done.ok()) return streams_ == nullptr ? done : streams_->explain(step, std::move(done));
  if (profiler != nullptr) record(step, *profiler, start);
  end_scratch(lane);
  EPHOST_RETURN_IF_ERROR(check_outputs(step));
  if (streams_ != nullptr) {
    EPHOST_RETURN_IF_ERROR(streams_->end_step(static_cast<uint32_t>(step)));
  }
  release_after(step);
  return Status::ok_status();
}

Status StepDispatch::compute(size_t step, Lane& lane) {
  const bool is_prepared = runs_.is_prepared(step);
  if (is_prepared) {
    const bridge::Stream* const stream =
        runs_[step].stream == nullptr ? nullptr : streams_->stream_of(step);
    EPHOST_RETURN_IF_ERROR(runs_.prepare_step(step, stream));
  }
  if (streams_ != nullptr && placements_[step] != nullptr) {
    runs_[step].placement = placements_[step]->number(runs_[step]);
  }
  bool has_place = true;
  const int32_t code = [&] {
    const bridge::CallLimit::Place place = wait_for_place(step);
    has_place = place.has_it();
    return has_place ? call_compute(step, lane) : EPH_CANCELLED;
  }();
  if (is_prepared && code == EPH_OK) EPHOST_RETURN_IF_ERROR(runs_.finish_step(step));
  runs_.end_step(step);
  if (!has_place) return stopped_before(step);
  return code == EPH_OK ? Status::ok_status() : failure(step, code, lane);
}

bridge::CallLimit::Place StepDispatch::wait_for_place(size_t step) const {
  const auto is_over = [this] { return stop_.is_stopping(); };
  return stop_.may_be_cancelled() ? bridge::CallLimit::Place(calls_[step].limit, is_over)
                                  : bridge::CallLimit::Place(calls_[step].limit);
}

EPHOST_CATCHES_THREAD_END inline int32_t StepDispatch::call_compute(size_t step, Lane& lane) {
  const Call& call = calls_[step];
  try {
    return call.compute(call.computation, call.state, call.run, &lane.error);
  } catch (abi::__forced_unwind&) {
    bridge::guard_thread_end(call_site(step));
    throw;
  } catch (...) {
    return report_exception(step, lane);
  }
}

// The message goes where a failure that the plugin returns has its message.
int32_t StepDispatch::report_exception(size_t step, Lane& lane) const {
  const Status status = bridge::thrown_by(call_site(step));
  lane.error.api->set_message(&lane.error, bridge::to_abi(status.message()));
  return static_cast<int32_t>(status.code());
}

Status StepDispatch::check_outputs(size_t step) const {
  const StepRun& run = runs_[step];
  for (uint32_t i = 0; i < run.output_count; ++i) {
    if (run.outputs[i] == nullptr || run.outputs[i]->data != nullptr) continue;
    return Status(StatusCode::kEpFail,
                  formatted("{} gave no value to its output {}; report this to the plugin's vendor",
                            program_.describe_step(step), i));
  }
  return Status::ok_status();
}

void StepDispatch::release_after(size_t step) {
  memory_.for_each_released(step, [this](graph::ValueId root) {
    memory_.release(root);
    values_.release_object(root);
  });
}

void StepDispatch::record(size_t step, Profiler& profiler,
                          Profiler::Clock::time_point start) const {
  const plan::Step& planned = program_.steps()[step];
  const graph::Node& node = program_.graph().nodes[planned.node];
  const bridge::Computation* const computation = program_.computation(step);
  const std::string provider(computation ? computation->provider().name()
                                         : program_.host_operator(step)->provider_name());
  const bool is_partition = planned.partition != plan::kNoPartition;
  profiler.add("step", node.name.empty() ? node.op_type : node.name, start,
               {{"op_type", is_partition ? "partition" : node.op_type},
                {"provider", provider},
                {"step", std::to_string(step)}});
}

Status StepDispatch::failure(size_t step, int32_t code, Lane& lane) const {
  Status status =
      stop_.judge(lane.error.to_status(code, program_.describe_step(step), "computing"));
  if (!is_cancellation(status)) {
    stop_.note_failure(program_.computation(step)->provider().name());
  }
  return status;
}

Status StepDispatch::stopped_before(size_t step) const {
  Status why = stop_.why_stopping();
  // The application may have taken its flag back meanwhile.
  if (why.ok()) why = Status(StatusCode::kCancelled, "the run was cancelled");
  return Status(why.code(),
                formatted("{} before step {} of {}", why.message(), step, calls_.size()));
}

// A watch on long calls may ask about a run without steps.
bridge::CallSite StepDispatch::call_site(size_t step) const noexcept {
  if (step >= program_.steps().size()) return {};
  const bridge::Computation* const computation = program_.computation(step);
  if (computation == nullptr) return {};
  const plan::Step& planned = program_.steps()[step];
  const graph::Node& node = program_.graph().nodes[planned.node];
  const bool is_partition = planned.partition != plan::kNoPartition;
  return {computation->provider().name(), "compute",
          is_partition ? std::string_view("the partition that starts with") : node.op_type,
          is_partition && node.name.empty() ? node.op_type : node.name};
}

plugin::LentPlace StepDispatch::find_lent(uintptr_t address) const noexcept {
  const graph::Graph& graph = program_.graph();
  const auto find = [&](std::span<const graph::ValueId> ids, std::string_view where,
                        bool is_writable) -> plugin::LentPlace {
    for (const graph::ValueId id : ids) {
      if (has_address(values_[id], address)) return {where, graph.values[id].name, is_writable};
    }
    return {};
  };
  // An output that has the bytes of an input is the input's memory.
  const plugin::LentPlace input = find(graph.inputs, "in the input", false);
  return input.where.empty() ? find(graph.outputs, "in the output", true) : input;
}

void StepDispatch::end_run() {
  for (uint32_t i = 0; i < program_.lane_count(); ++i) end_scratch(lanes_[i]);
}

}  // namespace ephost::runtime
