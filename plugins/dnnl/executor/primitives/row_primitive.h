// row_primitive.h: the library's primitive for a product of any number of rows with a constant
// matrix (recipe/row_products.h), and the way from a lowered example to products that all have one.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/lowering/recipe_builder.h"
#include "plugins/dnnl/recipe/row_products.h"

namespace ephost_dnnl {

// What stands for an open extent in the recipe of such a partition.
inline constexpr int64_t kExampleExtent = 2;

// The primitive for a MatMul whose rows are counted when it runs. It reads the second factor where
// it lies: in row-major order, or in row-major order of its transposition. Throws NoPrimitive if
// the library has none with generated code.
[[nodiscard]] PrimitiveChoice choose_row_primitive(const Recipe& recipe, const Op& op,
                                                   bool is_transposed, const dnnl::engine& engine);

// Fuses a lowered example into products. Throws Unsupported unless it holds for every number of
// rows and the library computes all of it.
void fuse_row_products(LoweredPartition& partition, const dnnl::engine& engine);

}  // namespace ephost_dnnl
