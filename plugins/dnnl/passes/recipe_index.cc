#include "plugins/dnnl/passes/recipe_index.h"

namespace ephost_dnnl {

RecipeIndex::RecipeIndex(const Recipe& recipe)
    : is_constant_(recipe.tensors.size(), false),
      is_output_(recipe.tensors.size(), false),
      producers_(recipe.tensors.size()),
      readers_(recipe.tensors.size()) {
  for (const TensorId constant : recipe.constants) is_constant_[constant] = true;
  for (const Port& output : recipe.outputs) is_output_[output.tensor] = true;
  for (std::size_t at = 0; at < recipe.ops.size(); ++at) {
    const Op& op = recipe.ops[at];
    producers_[op.output] = at;
    for (const TensorId input : op.inputs) readers_[input].push_back(at);
    for (const PostOp& post_op : op.post_ops) {
      if (post_op.has_operand()) readers_[post_op.operand].push_back(at);
    }
  }
}

}  // namespace ephost_dnnl
