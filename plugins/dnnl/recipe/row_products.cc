#include "plugins/dnnl/recipe/row_products.h"

#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

// The constant that a tensor is a view of.
struct ConstantView {
  TensorId constant = 0;
  bool is_transposed = false;
};

class Chain {
 public:
  explicit Chain(const Recipe& recipe) : recipe_(recipe), views_(recipe.tensors.size()) {
    for (const TensorId constant : recipe.constants) views_[constant] = ConstantView{constant};
    if (recipe.inputs.size() != 1 || recipe.outputs.size() != 1) {
      throw InvalidRecipe("rows have one input and one output");
    }
    rows_ = recipe.inputs[0].tensor;
    require_floats(rows_);
    if (recipe.inputs[0].shape.size() < 2) throw InvalidRecipe("a vector is not a tensor of rows");
  }

  std::vector<RowProduct> follow() {
    for (const Op& op : recipe_.ops) {
      if (!add_view(op)) add_product(op);
    }
    const Port& output = recipe_.outputs[0];
    if (products_.empty() || output.tensor != rows_ || output.shape != recipe_.dims(rows_)) {
      throw InvalidRecipe("the output is not the last product of rows");
    }
    return std::move(products_);
  }

 private:
  void require_floats(TensorId tensor) const {
    if (is_integer(recipe_.type(tensor))) throw InvalidRecipe("rows of integers");
  }

  // Notes a constant that is seen in another shape; false for other operations.
  bool add_view(const Op& op) {
    const auto* transpose = get_if<Transpose>(op);
    if ((transpose == nullptr && get_if<Reshape>(op) == nullptr) || !views_[op.inputs[0]]) {
      return false;
    }
    ConstantView view = *views_[op.inputs[0]];
    const bool swaps = transpose != nullptr && transpose->permutation == Dims{1, 0};
    if (transpose != nullptr ? !swaps : view.is_transposed) {
      throw InvalidRecipe(describe(op) + " moves the elements of a constant");
    }
    if (swaps) view.is_transposed = !view.is_transposed;
    views_[op.output] = view;
    return true;
  }

  void add_product(const Op& op) {
    if (get_if<MatMul>(op) == nullptr || op.inputs[0] != rows_ || op.quantization ||
        op.failed_primitives != 0 || recipe_.dims(op.inputs[1]).size() != 2) {
      throw InvalidRecipe(describe(op) + " is not a product of rows with a constant matrix");
    }
    require_floats(op.output);
    RowProduct product;
    product.op = &op;
    const ConstantView weights = view(op, op.inputs[1]);
    product.weights = weights.constant;
    product.is_transposed = weights.is_transposed;
    product.depth = recipe_.dims(op.inputs[1])[0];
    product.columns = recipe_.dims(op.inputs[1])[1];
    if (op.inputs.size() > 2) product.bias = vector(op, op.inputs[2], product.columns);
    for (const PostOp& post_op : op.post_ops) {
      if (post_op.kind == PostOpKind::kSum) {
        throw InvalidRecipe(describe(op) + " adds a tensor of rows");
      }
      product.operands.push_back(
          post_op.has_operand() ? vector(op, post_op.operand, product.columns) : TensorId{0});
    }
    products_.push_back(std::move(product));
    rows_ = op.output;
  }

  [[nodiscard]] ConstantView view(const Op& op, TensorId tensor) const {
    if (!views_[tensor]) throw InvalidRecipe(describe(op) + " reads what is not constant");
    require_floats(tensor);
    return *views_[tensor];
  }

  // A constant with one element for each column, or one for all.
  [[nodiscard]] TensorId vector(const Op& op, TensorId tensor, int64_t columns) const {
    const ConstantView found = view(op, tensor);
    const Dims& dims = recipe_.dims(tensor);
    if (found.is_transposed || element_count(dims) != dims.back() ||
        (dims.back() != columns && dims.back() != 1)) {
      throw InvalidRecipe(describe(op) + " reads a constant that differs from row to row");
    }
    return found.constant;
  }

  const Recipe& recipe_;
  std::vector<std::optional<ConstantView>> views_;  // by tensor
  TensorId rows_ = 0;                               // the rows as computed so far
  std::vector<RowProduct> products_;
};

}  // namespace

std::vector<RowProduct> row_products(const Recipe& recipe) { return Chain(recipe).follow(); }

}  // namespace ephost_dnnl
