#include "plugins/cpu/kernels/elementwise/broadcast.h"

namespace ephost_cpu {

Dims broadcast_shape(eph::ArrayView<int64_t> a, eph::ArrayView<int64_t> b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims shape(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      fail("shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast to one");
    }
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

Dims broadcast_strides(eph::ArrayView<int64_t> from, eph::ArrayView<int64_t> to) {
  Dims strides(to.size(), 0);
  const std::size_t lead = to.size() - from.size();
  int64_t stride = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1) strides[lead + i] = stride;
    stride = multiply_stride(stride, from[i]);
  }
  return strides;
}

}  // namespace ephost_cpu
