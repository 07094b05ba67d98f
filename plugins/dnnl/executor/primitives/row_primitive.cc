#include "plugins/dnnl/executor/primitives/row_primitive.h"

#include <utility>

#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

// An operand of a post-op as one row.
Operand row_operand(const Recipe& recipe, const PostOp& post_op) {
  if (!post_op.has_operand()) return {};
  const Dims& dims = recipe.dims(post_op.operand);
  if (post_op.kind == PostOpKind::kSum || element_count(dims) != dims.back()) {
    throw NoPrimitive("an operand " + to_text(dims) + " is not one row");
  }
  const Dims row = {1, dims.back()};
  return {row, row_major(row), true};
}

}  // namespace

PrimitiveChoice choose_row_primitive(const Recipe& recipe, const Op& op, bool is_transposed,
                                     const dnnl::engine& engine) {
  if (get_if<MatMul>(op) == nullptr) throw NoPrimitive(describe(op) + " is not a product of rows");
  const Dims weights = recipe.dims(op.inputs[1]);
  if (weights.size() != 2) throw NoPrimitive(describe(op) + " has several second factors");
  const Dims input = {DNNL_RUNTIME_DIM_VAL, weights[0]};
  PrimitiveRequest request;
  request.op = &op;
  request.inputs.push_back({input, row_major(input)});
  // Not as a constant, for which the library would choose a layout.
  request.inputs.push_back(
      {weights, is_transposed ? row_major_after(weights, {1, 0}) : row_major(weights)});
  if (op.inputs.size() > 2) {
    Operand bias;
    bias.dims.push_back(weights[1]);
    bias.layout = row_major(bias.dims);
    bias.is_constant = true;
    request.inputs.push_back(std::move(bias));
  }
  for (const PostOp& post_op : op.post_ops) {
    request.post_op_operands.push_back(row_operand(recipe, post_op));
  }
  request.output_dims = {DNNL_RUNTIME_DIM_VAL, weights[1]};
  PrimitiveChoice choice = choose_primitive(request, engine);
  if (choice.is_reference) {
    throw NoPrimitive("oneDNN has no fast primitive for " + describe(op) + " with open rows");
  }
  return choice;
}

void fuse_row_products(LoweredPartition& partition, const dnnl::engine& engine) {
  const auto is_fast = [&](const Recipe& recipe, const Op& op) {
    try {
      static_cast<void>(choose_row_primitive(recipe, op, false, engine));
      return true;
    } catch (const NoPrimitive&) {
      return false;
    }
  };
  remove_dead_code(partition);
  fuse_post_ops(partition, is_fast);
  remove_dead_code(partition);
  try {
    check_recipe(partition.recipe);
    for (const RowProduct& product : row_products(partition.recipe)) {
      static_cast<void>(
          choose_row_primitive(partition.recipe, *product.op, product.is_transposed, engine));
    }
  } catch (const InvalidRecipe& error) {
    throw Unsupported(error.what());
  } catch (const NoPrimitive& error) {
    throw Unsupported(error.what());
  }
}

}  // namespace ephost_dnnl
