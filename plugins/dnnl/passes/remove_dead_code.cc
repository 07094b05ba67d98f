#include <algorithm>
#include <vector>

#include "plugins/dnnl/passes/passes.h"

namespace ephost_dnnl {
namespace {

// Applies f to every tensor that an operation reads.
template <class F>
void for_each_read(Op& op, const F& f) {
  for (TensorId& input : op.inputs) f(input);
  for (PostOp& post_op : op.post_ops) {
    if (post_op.has_operand()) f(post_op.operand);
  }
}

std::vector<bool> find_live(Recipe& recipe) {
  std::vector<bool> live(recipe.tensors.size(), false);
  for (const Port& input : recipe.inputs) live[input.tensor] = true;
  for (const Port& output : recipe.outputs) live[output.tensor] = true;
  for (auto op = recipe.ops.rbegin(); op != recipe.ops.rend(); ++op) {
    if (live[op->output]) for_each_read(*op, [&](TensorId tensor) { live[tensor] = true; });
  }
  return live;
}

}  // namespace

void remove_dead_code(LoweredPartition& partition) {
  Recipe& recipe = partition.recipe;
  const std::vector<bool> live = find_live(recipe);
  std::vector<TensorId> renumbered(live.size(), 0);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    renumbered[i] = static_cast<TensorId>(tensors.size());
    tensors.push_back(std::move(recipe.tensors[i]));
  }
  const auto renumber = [&](TensorId& tensor) { tensor = renumbered[tensor]; };

  recipe.tensors = std::move(tensors);
  recipe.ops.erase(std::remove_if(recipe.ops.begin(), recipe.ops.end(),
                                  [&](const Op& op) { return !live[op.output]; }),
                   recipe.ops.end());
  for (Op& op : recipe.ops) {
    for_each_read(op, renumber);
    renumber(op.output);
  }
  for (Port& input : recipe.inputs) renumber(input.tensor);
  for (Port& output : recipe.outputs) renumber(output.tensor);
  std::vector<TensorId> constants;
  for (const TensorId constant : recipe.constants) {
    if (live[constant]) constants.push_back(renumbered[constant]);
  }
  recipe.constants = std::move(constants);
  partition.constants.renumber(live);
}

}  // namespace ephost_dnnl
