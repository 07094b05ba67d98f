// SequenceMap: runs its body once for each element of its sequences. Inputs that are tensors are
// the same in every run; each output is the sequence of the body's outputs.
#include <utility>

#include "host/base/format.h"
#include "host/runtime/control_flow/control_flow_operators.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

class SequenceMap : public HostOperator {
 public:
  SequenceMap(std::vector<std::unique_ptr<Program>> bodies, size_t inputs)
      : HostOperator(std::move(bodies)), inputs_(inputs) {}

  Status run(HostStep& step) const override;

 private:
  static Status iterate(HostStep& step, BodyRunner& runner, std::span<const HeldValue> given,
                        int64_t index, std::vector<std::vector<Value>>& outputs);

  size_t inputs_;
};

Status SequenceMap::run(HostStep& step) const {
  std::vector<HeldValue> given;
  for (size_t i = 0; i < inputs_; ++i) {
    EPHOST_RETURN_IF_ERROR(required_input(step, i).status());
    given.push_back(step.hold_input(i));
  }
  if (given[0]->view.kind != EPH_KIND_SEQUENCE) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the first input of {} is {}; it must be a sequence", step.describe(),
                            describe_value(given[0]->view)));
  }
  const int64_t count = given[0]->shape[0];
  for (const HeldValue& input : given) {
    if (input->view.kind != EPH_KIND_SEQUENCE || input->shape[0] == count) continue;
    return Status(
        StatusCode::kInvalidArgument,
        formatted("inputs of {} are sequences of {} and {} elements; they must be equally long",
                  step.describe(), count, input->shape[0]));
  }
  BodyRunner runner(step, 0, body(0));
  std::vector<std::vector<Value>> outputs(body(0).graph().outputs.size());
  for (int64_t index = 0; index < count; ++index) {
    Status status = step.check_cancelled();
    if (status.ok()) status = iterate(step, runner, given, index, outputs);
    if (!status.ok()) return in_iteration(std::move(status), index, step);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    EPHOST_ASSIGN_OR_RETURN(Value sequence, Value::sequence(std::move(outputs[i])));
    EPHOST_RETURN_IF_ERROR(step.give(i, hold_value(std::move(sequence))));
  }
  return Status::ok_status();
}

Status SequenceMap::iterate(HostStep& step, BodyRunner& runner, std::span<const HeldValue> given,
                            int64_t index, std::vector<std::vector<Value>>& outputs) {
  std::vector<HeldValue> inputs;
  for (const HeldValue& input : given) {
    const bool is_sequence = input->view.kind == EPH_KIND_SEQUENCE;
    inputs.push_back(is_sequence ? hold_value(input->value.parts()[static_cast<size_t>(index)])
                                 : input);
  }
  EPHOST_RETURN_IF_ERROR(runner.run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    HeldValue result = runner.take(i);
    if (!step.is_wanted(i)) continue;
    EPHOST_ASSIGN_OR_RETURN(outputs[i].emplace_back(), take_value(result));
  }
  return Status::ok_status();
}

}  // namespace

Result<std::unique_ptr<HostOperator>> make_sequence_map(ControlFlowNode node) {
  std::vector<std::unique_ptr<Program>> bodies(1);
  EPHOST_ASSIGN_OR_RETURN(bodies[0], node.take_body("body"));
  const size_t inputs = node.node().inputs.size();
  if (inputs == 0) return node.invalid("has no input");
  EPHOST_RETURN_IF_ERROR(node.check_inputs(bodies[0]->graph(), inputs));
  EPHOST_RETURN_IF_ERROR(node.check_outputs(bodies[0]->graph(), 0, 0));
  return std::unique_ptr<HostOperator>(std::make_unique<SequenceMap>(std::move(bodies), inputs));
}

}  // namespace ephost::runtime
