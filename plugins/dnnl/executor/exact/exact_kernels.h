// exact_kernels.h: operations that treat infinities and NaN as the ONNX text does, in place of
// primitives that lose them. Plain loops: they run when a number is not finite, which is rare.
#pragma once

#include <memory>
#include <vector>

#include "plugins/dnnl/executor/own_kernel.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Applies a function to each element; `to` may be `from`.
void compute_exactly(const Eltwise& op, const float* from, int64_t count, float* to);

// function(a, b) of floats.
[[nodiscard]] float compute_exactly(BinaryFunction function, float a, float b);

// For an operation on floats in row-major order without post-ops; an Eltwise may have its elements
// in any order. Null for operations whose primitives keep NaN: sums, products and copies.
[[nodiscard]] std::shared_ptr<const OwnKernel> make_exact_kernel(const Op& op,
                                                                 const std::vector<Dims>& inputs,
                                                                 const Dims& output);

}  // namespace ephost_dnnl
