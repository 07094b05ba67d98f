#include "plugins/dnnl/passes/integer_recipe.h"
#include "plugins/dnnl/passes/passes.h"

namespace ephost_dnnl {
namespace {

bool rewrite(IntegerRecipe& recipe, const Op& op, bool has_products) {
  if (get_if<Conversion>(op) != nullptr) return rewrite_conversion(recipe, op);
  if (get_if<Binary>(op) != nullptr) return rewrite_arithmetic(recipe, op);
  if (get_if<BatchNormalization>(op) != nullptr) return rewrite_batch_normalization(recipe, op);
  if (get_if<Convolution>(op) != nullptr || get_if<MatMul>(op) != nullptr) {
    return has_products && rewrite_product(recipe, op);
  }
  const bool moves = get_if<Reshape>(op) != nullptr || get_if<Transpose>(op) != nullptr ||
                     get_if<Concat>(op) != nullptr || get_if<Pooling>(op) != nullptr;
  return moves && rewrite_movement(recipe, op);
}

}  // namespace

void fuse_quantization(LoweredPartition& partition, const FastPrimitiveQuery& is_fast,
                       bool has_products) {
  IntegerRecipe recipe(partition, is_fast);
  for (std::size_t at = 0; at < recipe.original().size(); ++at) {
    if (recipe.is_dropped(at)) continue;
    Op op = recipe.renamed(recipe.original()[at]);
    if (!rewrite(recipe, op, has_products)) recipe.emit(std::move(op));
  }
  recipe.finish();
}

}  // namespace ephost_dnnl
