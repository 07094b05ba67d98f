// passes.h: the passes that rewrite a lowered partition before it is assembled. No pass changes
// what the recipe computes; after all of them it passes check_recipe again.
#pragma once

#include <functional>

#include "plugins/dnnl/lowering/recipe_builder.h"

namespace ephost_dnnl {

// Whether the library computes an operation, post-ops included, with a fast primitive. The answer
// may be no for operations that it could compute slowly.
using FastPrimitiveQuery = std::function<bool(const Recipe& recipe, const Op& op)>;

// Merges a BatchNormalization that follows a Convolution into its weights and bias, where nothing
// else reads the convolution's output and everything but the data is constant.
void fold_batch_normalizations(LoweredPartition& partition);

// Moves element-wise operations into the operation that produces their input: bias, activations,
// sums with another tensor, arithmetic with a broadcast one. Fuses only what `is_fast` accepts.
void fuse_post_ops(LoweredPartition& partition, const FastPrimitiveQuery& is_fast);

// Makes operations between a dequantisation and a quantisation work on the integers themselves, as
// far as `is_fast` accepts that. Results differ from those in floats by one step of the output at
// most. Convolutions and matrix products stay in float unless `has_products`: see
// has_exact_integer_products in library/quantization.h.
void fuse_quantization(LoweredPartition& partition, const FastPrimitiveQuery& is_fast,
                       bool has_products);

// Drops operations, constants and tensors that nothing depends on, and renumbers the rest.
void remove_dead_code(LoweredPartition& partition);

// All of the above in order.
void run_passes(LoweredPartition& partition, const FastPrimitiveQuery& is_fast, bool has_products);

}  // namespace ephost_dnnl
