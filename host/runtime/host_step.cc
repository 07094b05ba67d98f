#include "host/runtime/host_step.h"

#include <cassert>
#include <utility>

#include "host/bridge/abi_text.h"
#include "host/runtime/frame/frame.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {

HostStep::HostStep(const Program& program, uint32_t step, ValueTable& values, StepOutputs& outputs,
                   const StopSignal& stop)
    : program_(program),
      step_(step),
      values_(values),
      outputs_(outputs),
      stop_(stop),
      bodies_(program.host_operator(step)->body_count()) {}

HostStep::~HostStep() = default;

std::string HostStep::describe() const {
  return graph::describe_node(program_.graph(), program_.steps()[step_].node);
}

const eph_value* HostStep::input(size_t index) const {
  const std::vector<graph::ValueId>& inputs = program_.steps()[step_].inputs;
  const bool is_given = index < inputs.size() && inputs[index] != graph::kNoValue;
  return is_given ? &values_[inputs[index]] : nullptr;
}

HeldValue HostStep::hold_input(size_t index) const {
  const graph::ValueId id = program_.steps()[step_].inputs[index];
  if (const Value* const kept = std::as_const(values_).object(id)) return hold_value(*kept);
  return hold_borrowed(values_[id]);
}

graph::ValueId HostStep::output_id(size_t output) const {
  const std::vector<graph::ValueId>& outputs = program_.steps()[step_].outputs;
  return output < outputs.size() ? outputs[output] : graph::kNoValue;
}

bool HostStep::is_wanted(size_t output) const { return output_id(output) != graph::kNoValue; }

const graph::ValueType& HostStep::output_type(size_t output) const {
  return program_.graph().values[output_id(output)].type;
}

const eph_value* HostStep::place(size_t output) const {
  if (!is_wanted(output)) return nullptr;
  const eph_value& value = values_[output_id(output)];
  return value.data != nullptr ? &value : nullptr;
}

Result<const eph_value*> HostStep::allocate(size_t output, ElementType type,
                                            std::span<const int64_t> shape) {
  const graph::ValueId id = output_id(output);
  const eph_value& value = values_[id];
  eph_value wanted = {};
  wanted.element_type = static_cast<int32_t>(type);
  wanted.kind = EPH_KIND_TENSOR;
  wanted.shape = shape.data();
  wanted.rank = static_cast<uint32_t>(shape.size());
  if (value.data == nullptr || !same_tensor_type(value, wanted)) {
    EPHOST_RETURN_IF_ERROR(outputs_.allocate(id, type, shape));
  }
  return &value;
}

void HostStep::set_string(size_t output, uint64_t element, std::string_view text) {
  [[maybe_unused]] const bool exists =
      values_.text(output_id(output)).set(element, bridge::to_abi(text));
  assert(exists);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what the caller moved here may be exclusive.
Status HostStep::give(size_t output, HeldValue held) {
  if (!is_wanted(output)) return Status::ok_status();
  if (values_.object(output_id(output)) != nullptr) {
    EPHOST_ASSIGN_OR_RETURN(Value value, take_value(held));
    return outputs_.set_object(output_id(output), std::move(value));
  }
  const eph_value& view = held->view;
  if (const eph_value* own = place(output);
      own != nullptr && own->data == view.data && same_tensor_type(*own, view)) {
    return Status::ok_status();
  }
  const bool is_text = view.element_type == EPH_ELEMENT_STRING;
  if (is_exclusive(held) && held->value.has_value() && !is_text &&
      ValueAccess::is_sole_owner(held->value)) {
    EPHOST_ASSIGN_OR_RETURN(const bool taken, outputs_.take_over(output_id(output), held->value));
    if (taken) return Status::ok_status();
  }
  return outputs_.copy(output_id(output), view);
}

Status HostStep::run_body(size_t body, std::span<const HeldValue> inputs,
                          std::span<Value> outputs) {
  std::unique_ptr<Frame>& frame = bodies_[body];
  if (frame == nullptr) {
    EPHOST_ASSIGN_OR_RETURN(frame, Frame::create(program_.host_operator(step_)->body(body)));
  }
  return frame->run_body(values_, stop_, inputs, outputs);
}

const eph_value& HostStep::body_output(size_t body, size_t output) const {
  return bodies_[body]->output(output);
}

std::optional<Value> HostStep::take_body_object(size_t body, size_t output) {
  return bodies_[body]->take_output_object(output);
}

Status HostStep::check_cancelled() const {
  return stop_.is_stopping() ? stop_.why_stopping() : Status::ok_status();
}

}  // namespace ephost::runtime
