// The inputs of a run in the form that kernels read.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost::runtime {

// The value itself, or a copy of a tensor that lies on a device or where its type does not admit
// elements. FAIL where memory runs out.
[[nodiscard]] Result<Value> aligned(const Value& value);

// Dense forms stand in for sparse tensors, and copies for tensors at addresses that their type does
// not admit.
class ReadableInputs {
 public:
  // Returns `inputs` itself if all can be read as they are. INVALID_ARGUMENT if the dense forms
  // together need more than `max_dense_bytes`. Null entries are left as they are. The result lasts
  // as long as this and the inputs.
  [[nodiscard]] Result<std::span<const Value* const>> make(std::span<const Value* const> inputs,
                                                           uint64_t max_dense_bytes);

 private:
  std::vector<const Value*> slots_;
  std::vector<Value> made_;
};

}  // namespace ephost::runtime
