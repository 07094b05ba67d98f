// own_kernel.h: operations that the provider computes with code of its own, since the library's
// primitives round it in another way than the ONNX text says, or lose NaN (exact_kernels.h).
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/dnnl/recipe/operators.h"

namespace ephost_dnnl {

// Code in the place of a primitive.
class OwnKernel {
 public:
  virtual ~OwnKernel() = default;
  virtual void run(const void* const* inputs, void* output) const = 0;
};

// A conversion to integers of `count` elements, whatever their order: an element is dequantised if
// it is an integer, divided by the output's scale, rounded half to even, and saturated once the
// zero point has been added. NaN becomes the zero point.
[[nodiscard]] std::shared_ptr<const OwnKernel> make_quantization(const Conversion& op,
                                                                 ElementType from, int64_t count);

}  // namespace ephost_dnnl
