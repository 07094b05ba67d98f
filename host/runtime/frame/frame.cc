#include "host/runtime/frame/frame.h"

#include <algorithm>
#include <utility>

namespace ephost::runtime {

Frame::Frame(const Program& program, std::vector<bridge::ComputationState> states)
    : program_(program),
      values_(program),
      memory_(program),
      bindings_(program, values_, memory_),
      step_outputs_(program, values_, memory_, bindings_),
      runs_(program, values_, memory_, step_outputs_, stop_),
      dispatch_(program, std::move(states), {values_, memory_, step_outputs_, runs_, stop_}) {}

Result<std::unique_ptr<Frame>> Frame::create(const Program& program) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<bridge::ComputationState> states, create_states(program));
  std::unique_ptr<Frame> frame(new Frame(program, std::move(states)));
  EPHOST_RETURN_IF_ERROR(frame->bind_pattern(nullptr));
  return frame;
}

Status Frame::bind_pattern(std::shared_ptr<const TracedPattern> traced) {
  EPHOST_RETURN_IF_ERROR(memory_.bind(std::move(traced)));
  step_outputs_.place_all();
  dispatch_.bind_pattern();
  return Status::ok_status();
}

Status Frame::run(std::span<const Value* const> inputs, std::span<Value> outputs,
                  const RunControl& control) {
  stop_.begin_run(control);
  Status status = bindings_.bind_inputs(inputs);
  if (status.ok()) status = execute(outputs);
  if (status.ok()) status = bindings_.collect_outputs();
  if (status.ok()) status = trace_pattern();
  end_run(false);
  return status;
}

Status Frame::run_body(const ValueTable& enclosing, const StopSignal& enclosing_stop,
                       std::span<const HeldValue> inputs, std::span<Value> outputs) {
  stop_.begin_body(enclosing_stop);
  Status status = bindings_.bind_body(enclosing, inputs);
  if (status.ok()) status = execute(outputs);
  // Shapes that change with each iteration are not worth a pattern each.
  if (status.ok() && bindings_.shape_key() == last_body_key_) status = trace_pattern();
  last_body_key_ = bindings_.shape_key();
  end_run(status.ok());
  return status;
}

Status Frame::execute(std::span<Value> outputs) {
  EPHOST_RETURN_IF_ERROR(choose_pattern());
  EPHOST_RETURN_IF_ERROR(bindings_.bind_outputs(outputs));
  bindings_.bind_followers();
  return dispatch_.execute(bindings_.followers_fit());
}

// The pattern that an earlier run with these shapes has left, or else the program's own one.
Status Frame::choose_pattern() {
  if (program_.is_static() || !program_.memory_options().enable_mem_pattern) {
    return Status::ok_status();
  }
  std::shared_ptr<const TracedPattern> wanted = program_.patterns().find(bindings_.shape_key());
  if (memory_.is_bound_to(wanted)) return Status::ok_status();
  return bind_pattern(std::move(wanted));
}

// Makes a pattern of the sizes that this run has found, for later runs with the same shapes.
Status Frame::trace_pattern() {
  if (program_.is_static() || memory_.traced() != nullptr ||
      !program_.memory_options().enable_mem_pattern || program_.patterns().capacity() == 0) {
    return Status::ok_status();
  }
  auto traced = std::make_shared<TracedPattern>();
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  traced->bytes = step_outputs_.traced_sizes();
  for (size_t id = 0; id < plans.size(); ++id) {
    if (plans[id].bytes) traced->bytes[id] = plans[id].bytes;
  }
  EPHOST_ASSIGN_OR_RETURN(traced->pattern, plan::plan_memory(program_.allocation(), traced->bytes,
                                                             program_.memory_options()));
  if (program_.is_parallel()) {
    traced->dependencies = program_.find_dependencies(traced->pattern, traced->bytes);
  }
  if (program_.has_streams()) {
    traced->streams = program_.plan_streams(traced->pattern, traced->bytes);
  }
  program_.patterns().insert(bindings_.shape_key(), std::move(traced));
  return Status::ok_status();
}

// The outputs of a body are read after its run.
void Frame::end_run(bool keeps_outputs) {
  dispatch_.end_run();
  memory_.end_run();
  bindings_.end_run();
  stop_.end_run();
  runs_.end_run();
  values_.end_run(keeps_outputs);
  step_outputs_.end_run();
}

std::optional<Value> Frame::take_output_object(size_t index) {
  const std::vector<graph::ValueId>& outputs = program_.graph().outputs;
  Value* const kept = values_.object(outputs[index]);
  if (kept == nullptr) return std::nullopt;
  // Moved out, so that the caller may hold it alone, unless a later output is the same value.
  const auto later = outputs.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  if (std::find(later, outputs.end(), outputs[index]) != outputs.end()) return *kept;
  return std::exchange(*kept, Value());
}

}  // namespace ephost::runtime
