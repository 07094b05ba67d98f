// SparseTensor: a tensor of mostly zeros, as an application may give it to a run.
#pragma once

#include <cstdint>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost {

// A plain value. `Value::of_sparse` checks it. Elements that are not stated are zero, false or
// empty text; of those that are stated twice, the last one counts.
struct SparseTensor {
  SparseFormat format = SparseFormat::kCoo;
  std::vector<int64_t> shape;  // of the dense form; with two extents unless the format is kCoo
  // A tensor of one dimension, of any type whose elements are whole bytes, or of strings. With
  // kBlockSparse of three: blocks, and the extents of a block, which divide those of the shape.
  Value values;
  // kCoo: for each value its place in row-major order, or its index in each dimension.
  // kCsr: for each value its column.
  // kBlockSparse: for each block its row and its column, counted in blocks.
  std::vector<int64_t> indices;
  // kCsr only: for each row the number of values before it, and the number of all values.
  std::vector<int64_t> outer_indices;
};

}  // namespace ephost
