#include "host/runtime/values/readable_inputs.h"

#include <algorithm>
#include <cstring>

#include "host/graph/types.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/device_value.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

bool is_sparse(const Value& value) { return value.kind() == ValueKind::kSparseTensor; }

bool is_misaligned(const Value& value) {
  return !value.bytes().empty() && !graph::is_aligned(value.bytes().data(), value.element_type());
}

}  // namespace

Result<Value> aligned(const Value& value) {
  if (value.memory() != nullptr) return to_host(value);
  if (!is_misaligned(value)) return value;
  EPHOST_ASSIGN_OR_RETURN(Value copy, ValueAccess::allocate(value.element_type(), value.shape()));
  std::memcpy(copy.mutable_bytes().data(), value.bytes().data(), value.bytes().size());
  return copy;
}

Result<std::span<const Value* const>> ReadableInputs::make(std::span<const Value* const> inputs,
                                                           uint64_t max_dense_bytes) {
  const auto is_unreadable = [](const Value* value) {
    return value != nullptr && (is_sparse(*value) || is_misaligned(*value));
  };
  const auto count = static_cast<size_t>(std::ranges::count_if(inputs, is_unreadable));
  if (count == 0) return inputs;
  slots_.assign(inputs.begin(), inputs.end());
  made_.reserve(count);
  for (const Value*& slot : slots_) {
    if (!is_unreadable(slot)) continue;
    if (is_sparse(*slot)) {
      EPHOST_ASSIGN_OR_RETURN(made_.emplace_back(), slot->to_dense(max_dense_bytes));
      max_dense_bytes -= tensor_bytes(slot->element_type(), slot->shape()).value();
    } else {
      EPHOST_ASSIGN_OR_RETURN(made_.emplace_back(), aligned(*slot));
    }
    slot = &made_.back();
  }
  return std::span<const Value* const>(slots_);
}

}  // namespace ephost::runtime
