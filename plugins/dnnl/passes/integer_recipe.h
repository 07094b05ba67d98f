// integer_recipe.h: a recipe while fuse_quantization rewrites it: which tensors of floats are known
// as integers with a scale, and as which integers a float result is about to be stored. Internal
// to that pass.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plugins/dnnl/passes/passes.h"
#include "plugins/dnnl/passes/recipe_index.h"

namespace ephost_dnnl {

// How integers of a type stand for floats: (integer - zero_point) * scale.
struct Affine {
  ElementType type = ElementType::kU8;
  float scale = 1;
  int64_t zero_point = 0;

  bool operator==(const Affine& other) const {
    return type == other.type && scale == other.scale && zero_point == other.zero_point;
  }
};

// A tensor of integers with their meaning.
struct Integers {
  TensorId tensor = 0;
  Affine affine;
};

class IntegerRecipe {
 public:
  // Takes the operations out of the recipe; `emit` puts them back.
  IntegerRecipe(LoweredPartition& partition, const FastPrimitiveQuery& is_fast);

  [[nodiscard]] const std::vector<Op>& original() const { return original_; }
  [[nodiscard]] const Recipe& recipe() const { return partition_.recipe; }
  [[nodiscard]] ConstantPool& constants() { return partition_.constants; }
  [[nodiscard]] const RecipeIndex& index() const { return index_; }
  [[nodiscard]] const LoweredPartition& partition() const { return partition_; }

  // The integers that a tensor of floats stands for: of a result that has been rewritten, or of a
  // constant of 8-bit integers with one scale.
  [[nodiscard]] std::optional<Integers> integers(TensorId floats);
  // The integers that a result of floats is quantised to: its only reader is a quantisation, or
  // moves the elements to one.
  [[nodiscard]] std::optional<Affine> target(TensorId floats) const;

  TensorId add_tensor(const Dims& dims, ElementType type);
  TensorId add_constant(const Dims& dims, std::vector<float> data);
  TensorId add_constant(const Dims& dims, std::vector<int8_t> data);
  TensorId borrow_constant(const Dims& dims, ElementType type, const void* data);

  // Adds an operation whose inputs are tensors of the new recipe.
  void emit(Op op);
  // Adds an operation that writes integers instead of `floats`, and the dequantisation of those for
  // readers that remain.
  void emit(Op op, TensorId floats, const Affine& affine);
  // The integers in another form: themselves, or requantised.
  TensorId converted(const Integers& from, const Affine& to, const std::string& name);
  // Readers of `old` read `tensor` from now on.
  void replace(TensorId old, TensorId tensor) { replacements_[old] = tensor; }
  // The only reader of a result, if it is Relu or Clip without post-ops; null if it isn't.
  [[nodiscard]] const Op* activation(TensorId floats) const;
  // The original operation that computes a tensor is not to be emitted: another has absorbed it.
  void drop_producer(TensorId floats) { is_dropped_[*index_.producer(floats)] = true; }
  [[nodiscard]] bool is_dropped(std::size_t original) const { return is_dropped_[original]; }

  // The operation with its inputs as they are called now.
  [[nodiscard]] Op renamed(Op op) const;

  // The operation as it would be with an output of that type, if the library has a fast primitive.
  [[nodiscard]] bool is_fast(Op op, const Dims& dims, ElementType type);

  void know(TensorId floats, const Integers& integers) { integers_[floats] = integers; }

  // Hands the rewritten operations over to the recipe.
  void finish();

 private:
  void grow();

  LoweredPartition& partition_;
  const FastPrimitiveQuery& is_fast_;
  const RecipeIndex index_;  // of the original operations
  std::vector<Op> original_;
  std::vector<bool> is_dropped_;  // by original operation
  std::vector<Op> emitted_;
  std::vector<std::optional<Integers>> integers_;  // by tensor
  std::vector<TensorId> replacements_;             // by tensor
};

// The rewrites. Each says whether it has emitted the operation; else that is left to the caller.
// The operation's inputs are those of the original recipe, renamed.
bool rewrite_conversion(IntegerRecipe& recipe, const Op& op);
// Reshape, Transpose, Concat and Pooling.
bool rewrite_movement(IntegerRecipe& recipe, const Op& op);
bool rewrite_arithmetic(IntegerRecipe& recipe, const Op& op);
bool rewrite_batch_normalization(IntegerRecipe& recipe, const Op& op);
// Convolution and MatMul.
bool rewrite_product(IntegerRecipe& recipe, const Op& op);

// Relu and Clip as bounds of quantised values, to which the zero point has been added already or is
// yet to be added; nothing for other post-ops. Bounds that saturation sets anyway are left out.
enum class ZeroPoint { kAdded, kToBeAdded };
[[nodiscard]] std::optional<std::vector<PostOp>> as_bounds(const std::vector<PostOp>& post_ops,
                                                           const Affine& output, ZeroPoint state);

// The final step from floats to integers as a post-op: x / scale + zero_point.
[[nodiscard]] PostOp quantizing_post_op(const Affine& output);

}  // namespace ephost_dnnl
