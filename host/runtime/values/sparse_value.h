// Sparse tensors of an application: their checks, and their dense form.
#pragma once

#include <ephost/status.h>

#include "host/runtime/values/sparse_tensor.h"

namespace ephost::runtime {

// INVALID_ARGUMENT if any part does not fit the others, or an index is out of range.
[[nodiscard]] Status check_sparse(const SparseTensor& sparse);

// The dense form of a tensor that was checked. OUT_OF_MEMORY where memory runs out.
[[nodiscard]] Result<Value> make_dense(const SparseTensor& sparse);

}  // namespace ephost::runtime
