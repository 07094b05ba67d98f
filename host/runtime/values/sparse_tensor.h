// SparseTensor: a tensor of mostly zeros, an input of runs.
#pragma once

#include <cstdint>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost::runtime {

// The members are those of SparseTensor in <ephost/value.h>; `Value::of_sparse` checks them.
struct SparseTensor {
  SparseFormat format = SparseFormat::kCoo;
  std::vector<int64_t> shape;
  Value values;
  std::vector<int64_t> indices;
  std::vector<int64_t> outer_indices;
};

}  // namespace ephost::runtime
