#include <algorithm>
#include <optional>
#include <vector>

#include "plugins/dnnl/executor/bounded_results.h"
#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/passes/recipe_index.h"
#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

bool has_sum(const Op& op) {
  return std::any_of(op.post_ops.begin(), op.post_ops.end(),
                     [](const PostOp& post_op) { return post_op.kind == PostOpKind::kSum; });
}

bool is_commutative(BinaryFunction function) {
  return function != BinaryFunction::kSub && function != BinaryFunction::kDiv;
}

bool is_maximum(const Op& op) {
  const auto* pooling = get_if<Pooling>(op);
  return pooling != nullptr && pooling->kind == PoolingKind::kMax;
}

class Fuser {
 public:
  Fuser(LoweredPartition& partition, const FastPrimitiveQuery& is_fast)
      : partition_(partition), recipe_(partition.recipe), is_fast_(is_fast), index_(recipe_) {}

  // Each operation absorbs its only reader as often as possible; the result takes the position of
  // the last reader, where every operand is defined.
  void run() {
    std::vector<bool> is_fused(recipe_.ops.size(), false);
    for (std::size_t at = 0; at < recipe_.ops.size(); ++at) {
      const Op& op = recipe_.ops[at];
      if (!takes_post_op(op, PostOpKind::kEltwise) || !index_.has_single_use(op.output)) continue;
      const std::size_t reader = index_.readers(op.output)[0];
      if (std::optional<Op> fused = fuse(op, recipe_.ops[reader], reader)) {
        recipe_.ops[reader] = *std::move(fused);
        is_fused[at] = true;
      }
    }
    std::size_t kept = 0;
    for (std::size_t at = 0; at < recipe_.ops.size(); ++at) {
      if (is_fused[at]) continue;
      if (kept != at) recipe_.ops[kept] = std::move(recipe_.ops[at]);
      ++kept;
    }
    recipe_.ops.resize(kept);
  }

 private:
  // `op` fused with `reader`, which is at `position`; nothing if they cannot be fused.
  [[nodiscard]] std::optional<Op> fuse(const Op& op, const Op& reader, std::size_t position) {
    if (!reader.post_ops.empty()) return std::nullopt;
    if (const auto* eltwise = get_if<Eltwise>(reader)) {
      if (is_maximum(op) && !hides_bounded_maximum(*eltwise)) return std::nullopt;
      PostOp post_op;
      post_op.kind = PostOpKind::kEltwise;
      post_op.eltwise = *eltwise;
      return accepted(with_post_op(op, reader, post_op));
    }
    if (const auto* binary = get_if<Binary>(reader);
        binary != nullptr && takes_post_op(op, PostOpKind::kBinary)) {
      return fuse_binary(op, reader, *binary, position);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Op> fuse_binary(const Op& op, const Op& reader, const Binary& binary,
                                              std::size_t position) {
    const bool is_first = reader.inputs[0] == op.output;
    const TensorId operand = reader.inputs[is_first ? 1 : 0];
    if (!is_first && !is_commutative(binary.function)) return std::nullopt;
    if (recipe_.dims(op.output) != recipe_.dims(reader.output)) return std::nullopt;
    if (binary.function == BinaryFunction::kAdd) {
      if (std::optional<Op> fused = with_bias(op, reader, operand)) return fused;
      if (is_accumulator(operand, op, position)) {
        PostOp post_op;
        post_op.kind = PostOpKind::kSum;
        post_op.operand = operand;
        if (auto fused = accepted(with_post_op(op, reader, post_op))) return fused;
      }
    }
    // A full-size operand needs the layout of the output, which is not known yet: the library
    // chooses the layout of a convolution.
    if (get_if<Convolution>(op) != nullptr && recipe_.dims(operand) == recipe_.dims(op.output)) {
      return std::nullopt;
    }
    PostOp post_op;
    post_op.kind = PostOpKind::kBinary;
    post_op.binary = binary;
    post_op.operand = operand;
    return accepted(with_post_op(op, reader, post_op));
  }

  // Whether a sum can accumulate into the operand: nothing reads it after the fused operation.
  [[nodiscard]] bool is_accumulator(TensorId operand, const Op& op, std::size_t position) const {
    if (recipe_.dims(operand) != recipe_.dims(op.output) || has_sum(op)) return false;
    if (!index_.producer(operand) || index_.is_output(operand)) return false;
    return index_.readers(operand).back() <= position;
  }

  // A constant row that is added to a product is its bias.
  [[nodiscard]] std::optional<Op> with_bias(const Op& op, const Op& reader, TensorId operand) {
    if (op.inputs.size() != 2 || !op.post_ops.empty()) return std::nullopt;
    // A copy: constant_vector may add a tensor, which moves all of them.
    const Dims dims = recipe_.dims(operand);
    const std::size_t channel = get_if<Convolution>(op) != nullptr ? 1 : dims.size() - 1;
    const int64_t extent = recipe_.dims(op.output)[channel];
    if (dims[channel] != extent || element_count(dims) != extent) return std::nullopt;
    const std::optional<TensorId> row = constant_vector(operand);
    if (!row) return std::nullopt;
    Op fused = op;
    fused.inputs.push_back(*row);
    fused.output = reader.output;
    return fused;
  }

  // The elements of a constant, or of a reshaped one, as a vector; nothing if it is not constant.
  [[nodiscard]] std::optional<TensorId> constant_vector(TensorId tensor) {
    TensorId root = tensor;
    while (const std::optional<std::size_t> producer = index_.producer(root)) {
      if (get_if<Reshape>(recipe_.ops[*producer]) == nullptr) return std::nullopt;
      root = recipe_.ops[*producer].inputs[0];
    }
    if (root >= index_.constants().size() || !index_.is_constant(root)) return std::nullopt;
    const Dims vector = {element_count(recipe_.dims(root))};
    if (recipe_.dims(root) == vector) return root;
    const auto constant = static_cast<TensorId>(recipe_.tensors.size());
    recipe_.tensors.push_back({vector});
    recipe_.constants.push_back(constant);
    partition_.constants.borrow(constant, partition_.constants.data(root));
    return constant;
  }

  static Op with_post_op(const Op& op, const Op& reader, const PostOp& post_op) {
    Op fused = op;
    fused.post_ops.push_back(post_op);
    fused.output = reader.output;
    return fused;
  }
  [[nodiscard]] std::optional<Op> accepted(Op op) const {
    if (!is_fast_(recipe_, op)) return std::nullopt;
    return op;
  }

  LoweredPartition& partition_;
  Recipe& recipe_;
  const FastPrimitiveQuery& is_fast_;
  const RecipeIndex index_;  // positions stay valid: fused operations keep the reader's
};

}  // namespace

void fuse_post_ops(LoweredPartition& partition, const FastPrimitiveQuery& is_fast) {
  Fuser(partition, is_fast).run();
}

}  // namespace ephost_dnnl
