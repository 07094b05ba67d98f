#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/types.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/facade/session.h"
#include "host/session/facade/session_state.h"

namespace ephost {
namespace {

Status check_value(const ValueDescription& wanted, std::string_view role, const Value& value) {
  // The elements of other values are checked by the run.
  if (wanted.kind != ValueKind::kTensor || wanted.is_optional) return Status::ok_status();
  bool agrees =
      value.kind() == ValueKind::kTensor && (wanted.element_type == ElementType::kUndefined ||
                                             wanted.element_type == value.element_type());
  if (wanted.has_shape) {
    agrees = agrees && wanted.shape.size() == value.shape().size();
    for (size_t d = 0; agrees && d < wanted.shape.size(); ++d) {
      agrees = wanted.shape[d] < 0 || wanted.shape[d] == value.shape()[d];
    }
  }
  if (agrees) return Status::ok_status();
  return Status(
      StatusCode::kInvalidArgument,
      formatted("cannot bind {} to {} {}, which is {}",
                runtime::describe_value(runtime::view_of(value)), role, quote(wanted.name),
                runtime::describe_tensor(wanted.element_type, wanted.shape)));
}

Result<size_t> index_of(const std::unordered_map<std::string_view, size_t>& index,
                        std::string_view role, std::string_view name) {
  const auto found = index.find(name);
  if (found != index.end()) return found->second;
  return Status(StatusCode::kNotFound, formatted("the model has no {} {}", role, quote(name)));
}

}  // namespace

IoBinding::IoBinding(std::unique_ptr<State> state) : state_(std::move(state)) {}
IoBinding::IoBinding(IoBinding&&) noexcept = default;
IoBinding& IoBinding::operator=(IoBinding&&) noexcept = default;
IoBinding::~IoBinding() = default;

Status IoBinding::bind_input(std::string_view name, Value value) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(state_->session->input_index, "input", name));
  if (value.kind() == ValueKind::kSparseTensor) {
    EPHOST_ASSIGN_OR_RETURN(value, value.to_dense(state_->session->max_dense_bytes));
  }
  EPHOST_RETURN_IF_ERROR(check_value(state_->session->inputs[i], "input", value));
  state_->inputs[i] = std::move(value);
  state_->input_slots[i] = &state_->inputs[i];
  return Status::ok_status();
}

Status IoBinding::bind_output(std::string_view name, Value value) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(state_->session->output_index, "output", name));
  const ValueDescription& wanted = state_->session->outputs[i];
  if (wanted.kind != ValueKind::kTensor || wanted.is_optional) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("output {} is {}; memory can be bound to tensors only, "
                            "others are read after the run",
                            quote(name), wanted.type));
  }
  if (value.kind() == ValueKind::kSparseTensor) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("output {} cannot be written to a sparse tensor; bind memory for a "
                            "dense one",
                            quote(name)));
  }
  EPHOST_RETURN_IF_ERROR(check_value(wanted, "output", value));
  state_->outputs.bind(i, std::move(value));
  return Status::ok_status();
}

Status IoBinding::bind_output(std::string_view name, const MemoryInfo& memory) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(state_->session->output_index, "output", name));
  if (!memory.is_cpu()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("output {} cannot be bound to the memory {} of {}:{}; outputs come out "
                            "in host memory, so bind it to MemoryInfo::cpu()",
                            quote(name), quote(memory.name), memory.device_type, memory.device_id));
  }
  state_->outputs.bind(i, Value());
  return Status::ok_status();
}

void IoBinding::clear_bound_inputs() {
  std::ranges::fill(state_->inputs, Value());
  std::ranges::fill(state_->input_slots, nullptr);
}

void IoBinding::clear_bound_outputs() {
  state_->outputs = session::BoundOutputs(state_->session->outputs.size());
}

std::vector<std::string> IoBinding::output_names() const {
  std::vector<std::string> names;
  for (const ValueDescription& output : state_->session->outputs) names.push_back(output.name);
  return names;
}

const std::vector<Value>& IoBinding::outputs() const { return state_->outputs.values(); }

Result<IoBinding> Session::create_binding() const {
  auto state = std::make_unique<IoBinding::State>();
  state->session = state_.get();
  state->inputs.resize(state_->inputs.size());
  state->input_slots.resize(state_->inputs.size(), nullptr);
  state->outputs = session::BoundOutputs(state_->outputs.size());
  return IoBinding(std::move(state));
}

Status Session::run(IoBinding& binding, const RunOptions& options) {
  IoBinding::State& bound = *binding.state_;
  if (bound.session != state_.get()) {
    return Status(StatusCode::kInvalidArgument,
                  "the binding belongs to another session; create one with this session");
  }
  EPHOST_ASSIGN_OR_RETURN(const std::span<Value> outputs,
                          bound.outputs.begin_run(bound.input_slots, state_->outputs));
  Status status = session::without_exceptions(
      "running a session", [&] { return state_->run(bound.input_slots, outputs, options); });
  return bound.outputs.end_run(std::move(status), state_->outputs);
}

}  // namespace ephost
