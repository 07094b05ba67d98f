// MatMul's rules for operands of any rank, with numpy's broadcasting of the leading dimensions.
#pragma once

#include <array>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/kernels/matrix/product.h"

namespace ephost_cpu {

// The matrix products that make up a product of two tensors.
struct MatMulLayout {
  Dims out;            // shape of the result
  ProductShape shape;  // of one product
  Dims loop;           // further dimensions to go through, if the batches don't fit into `shape`
  std::array<Dims, 2> strides;  // of A and B along those, in elements
};

// Throws if the shapes cannot be multiplied.
[[nodiscard]] MatMulLayout make_matmul_layout(Dims a, Dims b);

}  // namespace ephost_cpu
