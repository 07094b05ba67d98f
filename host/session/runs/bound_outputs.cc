#include "host/session/runs/bound_outputs.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/types.h"
#include "host/runtime/values/device_value.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::session {
namespace {

bool is_like(const runtime::Value& a, const runtime::Value& b) {
  return a.element_type() == b.element_type() && a.shape() == b.shape();
}

// Whether the value is one of the type and shape that `memory` has, and lies in that.
bool is_in(const runtime::Value& value, const runtime::Value& memory) {
  return is_like(value, memory) && runtime::share_memory(value, memory) &&
         value.extent().data() == memory.extent().data();
}

}  // namespace

void BoundOutputs::bind(size_t output, runtime::Value value) {
  bound_[output] = value.element_type() == ElementType::kString ? runtime::Value() : value;
  values_[output] = std::move(value);
}

void BoundOutputs::bind_on_device(size_t output, const bridge::DeviceMemory& memory) {
  bound_[output] = runtime::Value();
  values_[output] = runtime::wanted_on(memory);
}

Status BoundOutputs::check_apart(size_t output, std::span<const ValueDescription> outputs) {
  for (size_t other = 0; other < output; ++other) {
    if (!is_bound(other) || !runtime::overlap(bound_[other], bound_[output])) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("outputs {} and {} are bound to memory in common; bind each to memory "
                            "of its own",
                            quote(outputs[other].name), quote(outputs[output].name)));
  }
  return Status::ok_status();
}

Result<std::span<runtime::Value>> BoundOutputs::begin_run(
    std::span<const ValueDescription> outputs) {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!is_bound(i)) continue;
    EPHOST_RETURN_IF_ERROR(check_apart(i, outputs));
    if (!is_in(values_[i], bound_[i])) values_[i] = bound_[i];
    // What an earlier run allocated may have been bound to another output since.
    for (size_t other = 0; other < values_.size(); ++other) {
      if (is_bound(other) || !runtime::overlap(values_[other], bound_[i])) continue;
      values_[other] = runtime::wanted_like(values_[other]);
    }
  }
  for (runtime::Value& value : values_) {
    const bool is_usable = graph::is_aligned(value.bytes().data(), value.element_type());
    if (!is_usable) value = runtime::wanted_like(value);
  }
  return std::span(values_);
}

Status BoundOutputs::end_run(Status run, std::span<const ValueDescription> outputs) {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!is_bound(i)) continue;
    runtime::Value& made = values_[i];
    runtime::Value& bound = bound_[i];
    if (run.ok() && !is_like(made, bound)) {
      run = Status(
          StatusCode::kInvalidArgument,
          formatted("output {} came out as {}, which is not the shape of the memory bound for it; "
                    "bind memory of that shape",
                    quote(outputs[i].name),
                    runtime::describe_tensor(made.element_type(), made.shape())));
    }
    if (is_in(made, bound)) continue;
    if (run.ok()) run = runtime::copy_elements(made, bound);
    made = bound;
  }
  return run;
}

}  // namespace ephost::session
