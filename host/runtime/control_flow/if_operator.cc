// If: runs one of two bodies, which have no inputs except captured values.
#include <utility>

#include "host/base/format.h"
#include "host/runtime/control_flow/control_flow_operators.h"

namespace ephost::runtime {
namespace {

constexpr size_t kThen = 0;
constexpr size_t kElse = 1;

class If : public HostOperator {
 public:
  using HostOperator::HostOperator;

  Status run(HostStep& step) const override {
    EPHOST_ASSIGN_OR_RETURN(const eph_value* given, required_input(step, 0));
    EPHOST_ASSIGN_OR_RETURN(const bool condition, read_bool(*given, "the condition", step));
    Status status = run_branch(step, condition ? kThen : kElse);
    if (status.ok()) return status;
    return std::move(status).with_context(
        formatted("running {} of {}", condition ? "then_branch" : "else_branch", step.describe()));
  }

 private:
  Status run_branch(HostStep& step, size_t branch) const {
    BodyRunner runner(step, branch, body(branch));
    const size_t outputs = body(branch).graph().outputs.size();
    // A branch writes its outputs directly to their place in the enclosing graph.
    for (size_t i = 0; i < outputs; ++i) {
      const eph_value* place = step.place(i);
      if (place == nullptr) continue;
      EPHOST_ASSIGN_OR_RETURN(
          Value memory, Value::borrow(static_cast<ElementType>(place->element_type),
                                      {place->shape, place->shape + place->rank},
                                      {static_cast<std::byte*>(place->data), place->byte_size}));
      runner.set_place(i, std::move(memory));
    }
    EPHOST_RETURN_IF_ERROR(runner.run({}));
    for (size_t i = 0; i < outputs; ++i) EPHOST_RETURN_IF_ERROR(step.give(i, runner.take(i)));
    return Status::ok_status();
  }
};

}  // namespace

Result<std::unique_ptr<HostOperator>> make_if(ControlFlowNode node) {
  std::vector<std::unique_ptr<Program>> branches;
  for (const char* attribute : {"then_branch", "else_branch"}) {
    EPHOST_ASSIGN_OR_RETURN(branches.emplace_back(), node.take_body(attribute));
    const graph::Graph& branch = branches.back()->graph();
    EPHOST_RETURN_IF_ERROR(node.check_inputs(branch, 0));
    EPHOST_RETURN_IF_ERROR(node.check_outputs(branch, 0, 0));
  }
  return std::unique_ptr<HostOperator>(std::make_unique<If>(std::move(branches)));
}

}  // namespace ephost::runtime
