// Sparse tensors of an application: their checks, and their dense form.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "host/runtime/values/sparse_tensor.h"

namespace ephost::runtime {

// INVALID_ARGUMENT if any part does not fit the others, or an index is out of range.
[[nodiscard]] Status check_sparse(const SparseTensor& sparse);

// The dense form of a tensor that was checked. FAIL where memory runs out.
[[nodiscard]] Result<Value> make_dense(const SparseTensor& sparse);

// The inputs of a run, with dense forms in the place of sparse tensors.
class DenseInputs {
 public:
  // Returns `inputs` itself if none is sparse. INVALID_ARGUMENT if the dense forms together need
  // more than `max_bytes`. Null entries are left as they are. The result lasts as long as this and
  // the inputs.
  [[nodiscard]] Result<std::span<const Value* const>> make(std::span<const Value* const> inputs,
                                                           uint64_t max_bytes);

 private:
  std::vector<const Value*> slots_;
  std::vector<Value> dense_;
};

}  // namespace ephost::runtime
