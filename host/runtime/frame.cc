#include "host/runtime/frame.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "host/bridge/abi_text.h"
#include "host/bridge/graph_view.h"
#include "host/bridge/provider.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

constexpr size_t kNoOutput = std::numeric_limits<size_t>::max();

Status cancelled_before(size_t step, size_t steps) {
  return Status(StatusCode::kFail, "the run was cancelled before step " + std::to_string(step) +
                                       " of " + std::to_string(steps));
}

}  // namespace

// ---- What is made once ------------------------------------------------------------------------

Frame::Frame(const Program& program)
    : program_(program),
      lane_count_(program.is_parallel() ? program.thread_count() : 1),
      lanes_(std::make_unique<Lane[]>(lane_count_)) {
  for (const DeviceLocation& device : program.devices()) devices_.emplace_back(device);
  if (!program.is_parallel()) return;
  executor_ = std::make_unique<ParallelExecutor>(*program.thread_pool(), lane_count_);
  users_left_ = std::make_unique<std::atomic<uint32_t>[]>(program.open_buffers().size());
}
Frame::~Frame() = default;

Result<std::unique_ptr<Frame>> Frame::create(const Program& program) {
  std::unique_ptr<Frame> frame(new Frame(program));
  EPHOST_RETURN_IF_ERROR(frame->make_states());
  frame->prepare_values();
  frame->prepare_calls();
  EPHOST_RETURN_IF_ERROR(frame->bind_pattern(nullptr));
  return frame;
}

Status Frame::make_states() {
  states_.reserve(program_.steps().size());
  for (size_t step = 0; step < program_.steps().size(); ++step) {
    bridge::ComputationState& state = states_.emplace_back();
    const bridge::Computation* computation = program_.computation(step);
    if (computation == nullptr) continue;
    EPHOST_ASSIGN_OR_RETURN(state, computation->create_state());
  }
  return Status::ok_status();
}

void Frame::prepare_values() {
  const graph::Graph& graph = program_.graph();
  values_.resize(graph.values.size());
  shapes_.resize(graph.values.size());
  seen_bytes_.resize(graph.values.size());
  output_of_value_.assign(graph.values.size(), kNoOutput);
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    const graph::Value& value = graph.values[id];
    if (value.is_constant()) values_[id] = program_.constants()[value.initializer];
    if (is_object(value.type)) objects_.emplace(id, Value());
  }
  for (const auto& [id, data] : program_.device_constants().data()) {
    values_[id].data = data;
    values_[id].memory = program_.memory_at(program_.allocation().values[id].location);
  }
  for (size_t i = graph.outputs.size(); i-- > 0;) output_of_value_[graph.outputs[i]] = i;
}

void Frame::prepare_calls() {
  const std::span<const plan::Step> steps = program_.steps();
  for (const plan::Step& step : steps) {
    for (const graph::ValueId id : step.inputs) {
      input_slots_.push_back(id == graph::kNoValue ? nullptr : &values_[id]);
    }
    for (const graph::ValueId id : step.outputs) {
      output_slots_.push_back(id == graph::kNoValue ? nullptr : &values_[id]);
    }
  }
  runs_.resize(steps.size());
  calls_.resize(steps.size());
  builders_.resize(steps.size());
  const eph_value* const* inputs = input_slots_.data();
  eph_value* const* outputs = output_slots_.data();
  for (size_t i = 0; i < steps.size(); ++i) {
    StepRun& run = runs_[i];
    run.struct_size = sizeof(eph_run);
    run.api = &kApi;
    run.inputs = inputs;
    run.outputs = outputs;
    run.input_count = static_cast<uint32_t>(steps[i].inputs.size());
    run.output_count = static_cast<uint32_t>(steps[i].outputs.size());
    run.frame = this;
    run.lane = &lanes_[0];
    inputs += steps[i].inputs.size();
    outputs += steps[i].outputs.size();
    if (const bridge::Computation* computation = program_.computation(i)) {
      calls_[i] = {computation->compute(), computation->handle(), states_[i].get(),
                   program_.is_static() && computation->is_concurrent()};
    }
  }
  host_steps_.resize(steps.size());
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (program_.host_operator(i) == nullptr) continue;
    host_steps_[i] = std::make_unique<HostStep>(*this, i);
  }
}

// ---- The memory pattern -----------------------------------------------------------------------

const plan::MemoryPattern& Frame::pattern() const {
  return traced_ ? traced_->pattern : program_.pattern();
}

Status Frame::bind_pattern(std::shared_ptr<const TracedPattern> traced) {
  traced_ = std::move(traced);
  is_bound_ = false;
  uint64_t bytes = 0;
  for (const plan::MemoryBlock& block : pattern().blocks) {
    if (block.location == plan::kHostLocation) {
      bytes = block.bytes;
    } else {
      Status status = devices_[block.location - 1].reserve(block.bytes);
      if (!status.ok())
        return std::move(status).with_context(program_.describe_block(pattern(), block.location));
    }
  }
  if (bytes > block_bytes_) {
    block_.reset();
    block_ = allocate_aligned(bytes);
    block_bytes_ = block_ ? bytes : 0;
    if (block_ == nullptr)
      return out_of_memory(bytes, program_.describe_block(pattern(), plan::kHostLocation));
  }
  const graph::Graph& graph = program_.graph();
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const uint64_t offset = pattern().offsets[id];
    const graph::ValueType& type = graph.values[id].type;
    const bool fixed = plans[id].bytes.has_value() && type.element != ElementType::kString;
    if (offset == plan::kNoOffset || !fixed) continue;
    void* data =
        *plans[id].bytes == 0 ? empty_tensor_memory() : block_at(plans[id].location) + offset;
    set_tensor(id, data, *plans[id].bytes, type.element, *type.shape);
  }
  EPHOST_RETURN_IF_ERROR(bind_workspaces());
  is_bound_ = true;
  return Status::ok_status();
}

Status Frame::bind_workspaces() {
  plan::Workspace loose;
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    const bool is_loose = pattern().workspace_offsets[workspace.pc] == plan::kNoOffset;
    if (is_loose && workspace.location == plan::kHostLocation && workspace.bytes > loose.bytes) {
      loose = workspace;
    }
  }
  has_lane_workspace_.assign(runs_.size(), false);
  for (uint32_t i = 0; loose.bytes != 0 && i < lane_count_; ++i) {
    AlignedMemory& workspace = lanes_[i].workspace;
    if (workspace == nullptr) workspace = allocate_aligned(loose.bytes);
    if (workspace == nullptr) {
      return out_of_memory(loose.bytes, "the workspace of " + program_.describe_step(loose.pc));
    }
  }
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    const uint64_t offset = pattern().workspace_offsets[workspace.pc];
    StepRun& run = runs_[workspace.pc];
    if (offset != plan::kNoOffset) {
      run.workspace = block_at(workspace.location) + offset;
    } else if (workspace.location != plan::kHostLocation) {
      DeviceArena& device = devices_[workspace.location - 1];
      EPHOST_ASSIGN_OR_RETURN(run.workspace, device.workspace(workspace.pc, workspace.bytes));
    } else {
      run.workspace = lanes_[0].workspace.get();
      has_lane_workspace_[workspace.pc] = true;
    }
  }
  return Status::ok_status();
}

Status Frame::choose_pattern() {
  if (program_.is_static() || !program_.memory_options().enable_mem_pattern) {
    return Status::ok_status();
  }
  std::shared_ptr<const TracedPattern> wanted = program_.patterns().find(shape_key_);
  if (wanted == traced_ && is_bound_) return Status::ok_status();
  return bind_pattern(std::move(wanted));
}

Status Frame::trace_pattern() {
  if (program_.is_static() || traced_ || !program_.memory_options().enable_mem_pattern ||
      program_.patterns().capacity() == 0) {
    return Status::ok_status();
  }
  auto traced = std::make_shared<TracedPattern>();
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  traced->bytes = seen_bytes_;
  for (size_t id = 0; id < plans.size(); ++id) {
    if (plans[id].bytes) traced->bytes[id] = plans[id].bytes;
  }
  EPHOST_ASSIGN_OR_RETURN(traced->pattern, plan::plan_memory(program_.allocation(), traced->bytes,
                                                             program_.memory_options()));
  if (program_.is_parallel()) {
    traced->dependencies = program_.find_dependencies(traced->pattern, traced->bytes);
  }
  program_.patterns().insert(shape_key_, std::move(traced));
  return Status::ok_status();
}

// ---- Running ----------------------------------------------------------------------------------

Status Frame::run(std::span<const Value* const> inputs, std::span<Value> outputs,
                  const std::atomic<bool>* cancelled) {
  outputs_ = outputs;
  cancelled_ = cancelled;
  Status status = bind_inputs(inputs);
  if (status.ok()) status = choose_pattern();
  if (status.ok()) status = bind_outputs();
  if (status.ok()) status = bind_followers();
  if (status.ok()) status = execute();
  if (status.ok()) status = collect_outputs();
  if (status.ok()) status = trace_pattern();
  end_run();
  return status;
}

Status Frame::run_body(const Frame& outer, std::span<const HeldValue> inputs,
                       std::span<Value> outputs) {
  outputs_ = outputs;
  cancelled_ = outer.cancelled_;
  outer_ = &outer;
  shape_key_.clear();
  Status status = bind_captures(outer);
  for (size_t i = 0; i < program_.graph().inputs.size() && status.ok(); ++i) {
    status = bind_body_input(i, i < inputs.size() ? &inputs[i] : nullptr);
  }
  if (status.ok()) status = choose_pattern();
  if (status.ok()) status = bind_outputs();
  if (status.ok()) status = bind_followers();
  if (status.ok()) status = execute();
  // Shapes that change with each iteration are not worth a pattern each.
  if (status.ok() && shape_key_ == last_body_key_) status = trace_pattern();
  last_body_key_ = shape_key_;
  end_run(status.ok());
  return status;
}

Status Frame::execute() {
  if (executor_) return execute_in_parallel();
  bridge::CallScope scope(*this);
  EPHOST_RETURN_IF_ERROR(execute_in_order(scope));
  return scope.status();
}

// A graph without steps has a run without steps, which a watch may see nevertheless.
bridge::CallSite Frame::call_site(size_t step) const noexcept {
  if (step >= program_.steps().size()) return {};
  const bridge::Computation* computation = program_.computation(step);
  if (computation == nullptr) return {};
  const plan::Step& planned = program_.steps()[step];
  const graph::Node& node = program_.graph().nodes[planned.node];
  const bool is_partition = planned.partition != plan::kNoPartition;
  return {computation->provider().name(), "compute",
          is_partition ? std::string_view("the partition that starts with") : node.op_type,
          is_partition && node.name.empty() ? node.op_type : node.name};
}

EPHOST_CATCHES_THREAD_END inline int32_t Frame::call_compute(size_t step, Lane& lane) {
  const Call& call = calls_[step];
  try {
    return call.compute(call.computation, call.state, &runs_[step], &lane.error);
  } catch (abi::__forced_unwind&) {
    bridge::guard_thread_end(call_site(step));
    throw;
  } catch (...) {
    return note_thrown(step, lane);
  }
}

// What is thrown is put where a failure of the plugin has its message.
int32_t Frame::note_thrown(size_t step, Lane& lane) const {
  const Status status = bridge::thrown_by(call_site(step));
  lane.error.api->set_message(&lane.error, bridge::to_abi(status.message()));
  return static_cast<int32_t>(status.code());
}

Status Frame::execute_in_order(bridge::CallScope& scope) {
  Lane& lane = lanes_[0];
  Profiler* const profiler = program_.profiler();
  const bool may_be_plain = followers_fit_ && profiler == nullptr;
  for (size_t step = 0; step < calls_.size(); ++step) {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
      return cancelled_before(step, calls_.size());
    }
    const Call& call = calls_[step];
    scope.begin_step(step);
    if (!call.is_plain || !may_be_plain) {
      EPHOST_RETURN_IF_ERROR(execute_step(step, lane, profiler));
      continue;
    }
    const int32_t code = call_compute(step, lane);
    if (code != EPH_OK) return failure(step, code, lane);
    lane.scratch.end_step();
  }
  return Status::ok_status();
}

Status Frame::execute_in_parallel() {
  const std::span<const Program::OpenBuffer> buffers = program_.open_buffers();
  for (size_t i = 0; i < buffers.size(); ++i) users_left_[i] = buffers[i].users;
  return executor_->run(traced_ ? traced_->dependencies : program_.dependencies(), *this);
}

Status Frame::run_step(uint32_t step, uint32_t index) {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
    return cancelled_before(step, calls_.size());
  }
  Lane& lane = lanes_[index];
  StepRun& run = runs_[step];
  run.lane = &lane;
  if (has_lane_workspace_[step]) run.workspace = lane.workspace.get();
  const bridge::CallScope scope(*this, step);
  EPHOST_RETURN_IF_ERROR(execute_step(step, lane, program_.profiler()));
  return scope.status();
}

Status Frame::failure(size_t step, int32_t code, Lane& lane) {
  return lane.error.to_status(code, program_.describe_step(step), "computing");
}

bool Frame::is_stopping() const {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) return true;
  if (executor_ && executor_->is_stopping()) return true;
  return outer_ != nullptr && outer_->is_stopping();
}

Status Frame::execute_step(size_t step, Lane& lane, Profiler* profiler) {
  const auto start = profiler ? Profiler::Clock::now() : Profiler::Clock::time_point();
  EPHOST_RETURN_IF_ERROR(calls_[step].compute != nullptr
                             ? compute(step, lane)
                             : program_.host_operator(step)->run(*host_steps_[step]));
  if (profiler != nullptr) record(step, *profiler, start);
  lane.scratch.end_step();
  EPHOST_RETURN_IF_ERROR(check_outputs(step));
  release_after(step);
  return Status::ok_status();
}

void Frame::record(size_t step, Profiler& profiler, Profiler::Clock::time_point start) const {
  const plan::Step& planned = program_.steps()[step];
  const graph::Node& node = program_.graph().nodes[planned.node];
  const bridge::Computation* computation = program_.computation(step);
  const std::string provider(computation ? computation->provider().name()
                                         : program_.host_operator(step)->provider_name());
  const bool is_partition = planned.partition != plan::kNoPartition;
  profiler.add("step", node.name.empty() ? node.op_type : node.name, start,
               {{"op_type", is_partition ? "partition" : node.op_type},
                {"provider", provider},
                {"step", std::to_string(step)}});
}

Status Frame::compute(size_t step, Lane& lane) {
  std::mutex* const mutex = program_.step_mutex(step);
  const auto lock = mutex ? std::unique_lock(*mutex) : std::unique_lock<std::mutex>();
  const int32_t code = call_compute(step, lane);
  if (builders_[step] != nullptr) builders_[step].reset();
  return code == EPH_OK ? Status::ok_status() : failure(step, code, lane);
}

Status Frame::check_outputs(size_t step) const {
  const StepRun& run = runs_[step];
  for (uint32_t i = 0; i < run.output_count; ++i) {
    if (run.outputs[i] == nullptr || run.outputs[i]->data != nullptr) continue;
    return Status(StatusCode::kEpFail, program_.describe_step(step) +
                                           " gave no value to its output " + std::to_string(i) +
                                           "; report this to the plugin's vendor");
  }
  return Status::ok_status();
}

// In the plan's order the last step that needs a buffer is known; otherwise they are counted.
void Frame::release_after(size_t step) {
  if (!executor_) {
    for (const graph::ValueId root : program_.released_after(step)) release(root);
    return;
  }
  for (const uint32_t buffer : program_.open_buffers_of(step)) {
    if (users_left_[buffer].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      release(program_.open_buffers()[buffer].root);
    }
  }
}

void Frame::release(graph::ValueId root) {
  const std::lock_guard lock(memory_mutex_);
  adopted_.erase(root);
  if (const auto kept = objects_.find(root); kept != objects_.end()) kept->second = Value();
  const auto pooled = pooled_.find(root);
  if (pooled == pooled_.end()) return;
  const uint32_t location = program_.allocation().values[root].location;
  if (location == plan::kHostLocation) {
    pool_.give_back(pooled->second);
  } else {
    devices_[location - 1].give_back(pooled->second);
  }
  pooled_.erase(pooled);
}

// What a body gives is read when it has ended.
void Frame::end_run(bool keep_outputs) {
  for (uint32_t i = 0; i < lane_count_; ++i) lanes_[i].scratch.end_step();
  pool_.end_run();
  for (DeviceArena& device : devices_) device.end_run();
  pooled_.clear();
  adopted_.clear();
  outputs_ = {};
  cancelled_ = nullptr;
  outer_ = nullptr;
  if (has_builders_.exchange(false, std::memory_order_relaxed)) {
    for (std::unique_ptr<ValueBuilder>& builder : builders_) builder.reset();
  }
  for (auto& [id, kept] : objects_) {
    if (!keep_outputs || !program_.graph().values[id].is_graph_output) kept = Value();
  }
  if (program_.is_static()) return;
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const bool own =
        plans[id].kind == plan::AllocKind::kAllocate || plans[id].kind == plan::AllocKind::kReuse;
    const bool fixed = plans[id].bytes && pattern().offsets[id] != plan::kNoOffset;
    if (own && !fixed) values_[id].data = nullptr;
    seen_bytes_[id].reset();
  }
}

}  // namespace ephost::runtime
