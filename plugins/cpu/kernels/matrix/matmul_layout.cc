#include "plugins/cpu/kernels/matrix/matmul_layout.h"

#include "plugins/cpu/kernels/elementwise/broadcast.h"

namespace ephost_cpu {
namespace {

Dims without_matrix(const Dims& shape) {
  Dims batch = shape;
  batch.pop_back();
  batch.pop_back();
  return batch;
}

// Strides, in elements, of matrices of `size` elements along the broadcast batch.
Dims batch_strides(const Dims& batch, const Dims& to, int64_t size) {
  Dims strides = broadcast_strides(batch, to);
  for (int64_t& stride : strides) stride = multiply_stride(stride, size);
  return strides;
}

}  // namespace

MatMulLayout make_matmul_layout(Dims a, Dims b) {
  if (a.empty() || b.empty()) fail("a scalar cannot be multiplied as a matrix");
  const bool a_is_row = a.size() == 1;
  const bool b_is_column = b.size() == 1;
  if (a_is_row) a.insert(0, 1);
  if (b_is_column) b.push_back(1);
  MatMulLayout layout;
  ProductShape& shape = layout.shape;
  shape.m = a[a.size() - 2];
  shape.k = a.back();
  shape.n = b.back();
  if (b[b.size() - 2] != shape.k) {
    fail("shapes " + to_string(a) + " and " + to_string(b) + " differ in the inner dimension");
  }
  const Dims a_batch = without_matrix(a);
  const Dims b_batch = without_matrix(b);
  const Dims batch = broadcast_shape(a_batch, b_batch);
  const int64_t a_count = element_count(a_batch);
  const int64_t b_count = element_count(b_batch);
  const int64_t count = element_count(batch);
  if (b_count == 1) {
    shape.m = checked_multiply(shape.m, a_count);
  } else if (a_count == count && b_count == count) {
    shape.batch = count;
  } else {
    layout.loop = batch;
    layout.strides = {batch_strides(a_batch, batch, multiply_stride(shape.m, shape.k)),
                      batch_strides(b_batch, batch, multiply_stride(shape.k, shape.n))};
  }
  layout.out = batch;
  if (!a_is_row) layout.out.push_back(a[a.size() - 2]);
  if (!b_is_column) layout.out.push_back(shape.n);
  return layout;
}

}  // namespace ephost_cpu
