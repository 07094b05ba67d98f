// Loop: runs its body while a condition holds, at most a number of times.
//
// As in ONNX Runtime, the body's condition is used even if the node's own condition is left out.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/runtime/control_flow/control_flow_operators.h"
#include "host/runtime/control_flow/stacked_output.h"

namespace ephost::runtime {
namespace {

// Inputs of the node: trip count, condition, initial values. Inputs of the body: iteration,
// condition, carried values. Outputs of the body: condition, carried values, elements of scan
// outputs.
constexpr size_t kTripCount = 0;
constexpr size_t kIteration = 0;
constexpr size_t kCondition = 1;
constexpr size_t kFirstCarriedInput = 2;
constexpr size_t kFirstCarriedOutput = 1;

// The shape that the body declares, which is [] or [1].
std::vector<int64_t> shape_of_scalar(const graph::Graph& body, size_t input) {
  const auto& shape = body.values[body.inputs[input]].type.shape;
  return std::vector<int64_t>(shape && shape->size() == 1 ? 1 : 0, 1);
}

class Loop : public HostOperator {
 public:
  Loop(std::vector<std::unique_ptr<Program>> bodies, size_t carried, size_t stacked)
      : HostOperator(std::move(bodies)), carried_(carried), stacked_(stacked) {}

  Status run(HostStep& step) const override;

 private:
  struct State {
    BodyRunner body;
    std::vector<HeldValue> inputs;     // of the body
    std::vector<GrowingStack> stacks;  // by scan output
    bool goes_on = true;
  };
  Status iterate(const HostStep& step, State& state, int64_t iteration) const;
  static Status set_scalars(const graph::Graph& body, State& state, int64_t iteration);
  Status finish(HostStep& step, State& state) const;

  size_t carried_;
  size_t stacked_;
};

Status Loop::run(HostStep& step) const {
  State state{BodyRunner(step, 0, body(0)), {}, std::vector<GrowingStack>(stacked_)};
  int64_t trip_count = std::numeric_limits<int64_t>::max();
  if (const eph_value* given = step.input(kTripCount)) {
    EPHOST_ASSIGN_OR_RETURN(trip_count, read_int64(*given, "the trip count", step));
  }
  if (const eph_value* given = step.input(kCondition)) {
    EPHOST_ASSIGN_OR_RETURN(state.goes_on, read_bool(*given, "the condition", step));
  }
  state.inputs.resize(kFirstCarriedInput + carried_);
  for (size_t k = kFirstCarriedInput; k < state.inputs.size(); ++k) {
    EPHOST_RETURN_IF_ERROR(required_input(step, k).status());
    state.inputs[k] = step.hold_input(k);
  }
  for (int64_t i = 0; i < trip_count && state.goes_on; ++i) {
    Status status = step.check_cancelled();
    if (status.ok()) status = iterate(step, state, i);
    if (!status.ok()) return in_iteration(std::move(status), i, step);
  }
  return finish(step, state);
}

// A body may have passed the old ones on as its outputs; then new ones are made.
Status Loop::set_scalars(const graph::Graph& body, State& state, int64_t iteration) {
  for (const size_t input : {kIteration, kCondition}) {
    HeldValue& held = state.inputs[input];
    if (held != nullptr && is_exclusive(held)) continue;
    const ElementType type = input == kIteration ? ElementType::kInt64 : ElementType::kBool;
    EPHOST_ASSIGN_OR_RETURN(held, hold_scalar(type, shape_of_scalar(body, input)));
  }
  state.inputs[kIteration]->value.mutable_elements<int64_t>()[0] = iteration;
  state.inputs[kCondition]->value.mutable_elements<bool>()[0] = state.goes_on;
  return Status::ok_status();
}

Status Loop::iterate(const HostStep& step, State& state, int64_t iteration) const {
  EPHOST_RETURN_IF_ERROR(set_scalars(body(0).graph(), state, iteration));
  const size_t first_stacked = kFirstCarriedOutput + carried_;
  for (size_t i = 0; i < stacked_; ++i) {
    EPHOST_ASSIGN_OR_RETURN(Value place, state.stacks[i].place());
    state.body.set_place(first_stacked + i, std::move(place));
  }
  EPHOST_RETURN_IF_ERROR(state.body.run(state.inputs));
  const HeldValue condition = state.body.take(0);
  EPHOST_ASSIGN_OR_RETURN(state.goes_on, read_bool(condition->view, "the body's condition", step));
  carry_on(state.body, kFirstCarriedOutput, std::span(state.inputs).subspan(kFirstCarriedInput));
  for (size_t i = 0; i < stacked_; ++i) {
    const HeldValue element = state.body.take(first_stacked + i);
    if (!step.is_wanted(carried_ + i)) continue;
    EPHOST_RETURN_IF_ERROR(state.stacks[i].append(*element));
  }
  return Status::ok_status();
}

Status Loop::finish(HostStep& step, State& state) const {
  for (size_t k = 0; k < carried_; ++k) {
    EPHOST_RETURN_IF_ERROR(step.give(k, std::move(state.inputs[kFirstCarriedInput + k])));
  }
  for (size_t i = 0; i < stacked_; ++i) {
    const size_t output = carried_ + i;
    if (!step.is_wanted(output)) continue;
    EPHOST_RETURN_IF_ERROR(state.stacks[i].finish(
        step, output,
        declared_element(body(0).graph(), kFirstCarriedOutput + output, step, output)));
  }
  return Status::ok_status();
}

}  // namespace

Result<std::unique_ptr<HostOperator>> make_loop(ControlFlowNode node) {
  std::vector<std::unique_ptr<Program>> bodies(1);
  EPHOST_ASSIGN_OR_RETURN(bodies[0], node.take_body("body"));
  const graph::Graph& body = bodies[0]->graph();
  const size_t given = std::max(node.node().inputs.size(), kFirstCarriedInput);
  const size_t carried = given - kFirstCarriedInput;
  EPHOST_RETURN_IF_ERROR(node.check_inputs(body, given));
  EPHOST_RETURN_IF_ERROR(
      node.check_outputs(body, kFirstCarriedOutput + carried, kFirstCarriedOutput));
  const size_t stacked = body.outputs.size() - kFirstCarriedOutput - carried;
  return std::unique_ptr<HostOperator>(std::make_unique<Loop>(std::move(bodies), carried, stacked));
}

}  // namespace ephost::runtime
