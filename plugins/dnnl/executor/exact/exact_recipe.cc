#include "plugins/dnnl/executor/exact/exact_recipe.h"

#include <utility>

namespace ephost_dnnl {
namespace {

class Separator {
 public:
  explicit Separator(const Recipe& recipe) : recipe_(recipe), result_(recipe) {
    result_.ops.clear();
  }

  Recipe separate() && {
    for (const Op& op : recipe_.ops) {
      // Integers are never NaN, so an operation on them alone may stay as it is.
      if (op.quantization || !is_integer(recipe_.type(op.output))) {
        separate(op);
      } else {
        add(op);
      }
    }
    return std::move(result_);
  }

 private:
  void separate(Op op) {
    const TensorId output = op.output;
    const std::vector<PostOp> post_ops = std::exchange(op.post_ops, {});
    const Dims& dims = recipe_.dims(output);
    TensorId last = get_if<Binary>(op) != nullptr && op.quantization ? add_in_floats(op)
                                                                     : add_with_floats(op, dims);
    for (const PostOp& post_op : post_ops) last = add(post_op, last, op.name);
    if (is_integer(recipe_.type(output))) {
      quantize(last, output, *op.quantization, op.name);
    } else {
      result_.ops.back().output = output;
    }
  }

  // The operation, with floats as its result.
  TensorId add_with_floats(Op op, const Dims& dims) {
    if (op.quantization) op.quantization->output_zero_point = op.quantization->nan_result = 0;
    op.output = add_floats(dims);
    add(op);
    return op.output;
  }

  // Arithmetic on integers, which the library can't do with a result of floats.
  TensorId add_in_floats(Op op) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const float scale = op.quantization->scales[i];
      TensorId& input = op.inputs[i];
      if (is_integer(recipe_.type(input))) {
        input = add(Conversion{ElementType::kF32, scale, 1, 0, 0}, {input}, op.name);
      } else if (scale != 1) {
        input = add(Eltwise{EltwiseFunction::kLinear, scale, 0}, {input}, op.name);
      }
    }
    return add(op.parameters, op.inputs, op.name);
  }

  TensorId add(const PostOp& post_op, TensorId from, const std::string& name) {
    switch (post_op.kind) {
      case PostOpKind::kEltwise:
        return add(post_op.eltwise, {from}, name);
      case PostOpKind::kSum:
        return add(Binary{BinaryFunction::kAdd}, {from, post_op.operand}, name);
      case PostOpKind::kBinary:
        return add(post_op.binary, {from, post_op.operand}, name);
    }
    return from;
  }

  // Floats in steps of the output, to which the zero point is yet to be added, or has been.
  void quantize(TensorId from, TensorId to, const Quantization& quantization,
                const std::string& name) {
    const int64_t added = quantization.nan_result - quantization.output_zero_point;
    if (added != 0) {
      from = add(Eltwise{EltwiseFunction::kLinear, 1, -static_cast<float>(added)}, {from}, name);
    }
    add(Conversion{recipe_.type(to), 1, 1, 0, quantization.nan_result}, {from}, name);
    result_.ops.back().output = to;
  }

  // Adds an operation with floats as its result, whose dimensions are those of its first input.
  TensorId add(const Parameters& parameters, std::vector<TensorId> inputs,
               const std::string& name) {
    Op op;
    op.parameters = parameters;
    op.output = add_floats(Dims(result_.dims(inputs[0])));
    op.inputs = std::move(inputs);
    op.name = name;
    add(op);
    return op.output;
  }

  TensorId add_floats(const Dims& dims) {
    result_.tensors.push_back({dims, ElementType::kF32});
    return static_cast<TensorId>(result_.tensors.size() - 1);
  }

  void add(const Op& op) {
    result_.ops.push_back(op);
    result_.ops.back().failed_primitives = 0;
  }

  const Recipe& recipe_;
  Recipe result_;
};

}  // namespace

Recipe exact_recipe(const Recipe& recipe) { return Separator(recipe).separate(); }

}  // namespace ephost_dnnl
