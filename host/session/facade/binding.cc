#include "host/session/facade/binding.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/types.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/plugins/device_memories.h"

namespace ephost::session {
namespace {

Status check_value(const ValueDescription& wanted, std::string_view role,
                   const runtime::Value& value) {
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

Status check_is_tensor(const ValueDescription& output) {
  if (output.kind == ValueKind::kTensor && !output.is_optional) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("output {} is {}; memory can be bound to tensors only, "
                          "others are read after the run",
                          quote(output.name), output.type));
}

Result<size_t> index_of(const std::unordered_map<std::string_view, size_t>& index,
                        std::string_view role, std::string_view name) {
  const auto found = index.find(name);
  if (found != index.end()) return found->second;
  return Status(StatusCode::kNotFound, formatted("the model has no {} {}", role, quote(name)));
}

}  // namespace

Binding::Binding(SessionState& bound_to)
    : session(bound_to),
      inputs(bound_to.inputs.size()),
      input_slots(bound_to.inputs.size(), nullptr),
      outputs(bound_to.outputs.size()) {}

Status Binding::bind_input(std::string_view name, runtime::Value value) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(session.input_index, "input", name));
  if (value.kind() == ValueKind::kSparseTensor) {
    EPHOST_ASSIGN_OR_RETURN(value, value.to_dense(session.max_dense_bytes));
  }
  EPHOST_RETURN_IF_ERROR(check_value(session.inputs[i], "input", value));
  inputs[i] = std::move(value);
  input_slots[i] = &inputs[i];
  return Status::ok_status();
}

Status Binding::bind_output(std::string_view name, runtime::Value value) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(session.output_index, "output", name));
  const ValueDescription& wanted = session.outputs[i];
  EPHOST_RETURN_IF_ERROR(check_is_tensor(wanted));
  if (value.kind() == ValueKind::kSparseTensor) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("output {} cannot be written to a sparse tensor; bind memory for a "
                            "dense one",
                            quote(name)));
  }
  EPHOST_RETURN_IF_ERROR(check_value(wanted, "output", value));
  outputs.bind(i, std::move(value));
  return Status::ok_status();
}

Status Binding::bind_output_to_memory(std::string_view name, const MemoryInfo& memory) {
  EPHOST_ASSIGN_OR_RETURN(const size_t i, index_of(session.output_index, "output", name));
  EPHOST_ASSIGN_OR_RETURN(const auto device, find_memory(memory));
  if (device) {
    EPHOST_RETURN_IF_ERROR(check_is_tensor(session.outputs[i]));
    outputs.bind_on_device(i, *device);
  } else {
    outputs.bind(i, runtime::Value());
  }
  return Status::ok_status();
}

void Binding::clear_bound_inputs() {
  std::ranges::fill(inputs, runtime::Value());
  std::ranges::fill(input_slots, nullptr);
}

void Binding::clear_bound_outputs() { outputs = BoundOutputs(session.outputs.size()); }

Status Binding::run(const RunOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(const std::span<runtime::Value> values,
                          outputs.begin_run(session.outputs));
  Status status = without_exceptions("running a session",
                                     [&] { return session.run(input_slots, values, options); });
  return outputs.end_run(std::move(status), session.outputs);
}

}  // namespace ephost::session
