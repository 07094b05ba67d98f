// exact_choice.h: the computation of an operation in a run in which NaN may have been lost. The
// choice for exact_recipe, in place of choose_primitive.
#pragma once

#include "plugins/dnnl/executor/primitives/primitive_choice.h"

namespace ephost_dnnl {

// Code of our own where primitives lose NaN (exact_kernels.h). Otherwise a primitive that reads and
// writes layouts without padding, in which a product of 0 and infinity would be NaN that primitives
// behind it read. The operation has no post-ops unless it is one on integers. Throws NoPrimitive.
[[nodiscard]] PrimitiveChoice choose_exactly(const PrimitiveRequest& request,
                                             const dnnl::engine& engine);

}  // namespace ephost_dnnl
