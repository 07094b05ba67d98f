#include "plugins/dnnl/executor/primitives/primitive_attempt.h"

namespace ephost_dnnl {

dnnl::algorithm to_library(EltwiseFunction function) {
  using dnnl::algorithm;
  switch (function) {
    case EltwiseFunction::kRelu:
      return algorithm::eltwise_relu;
    case EltwiseFunction::kElu:
      return algorithm::eltwise_elu;
    case EltwiseFunction::kTanh:
      return algorithm::eltwise_tanh;
    case EltwiseFunction::kLogistic:
      return algorithm::eltwise_logistic;
    case EltwiseFunction::kExp:
      return algorithm::eltwise_exp;
    case EltwiseFunction::kLog:
      return algorithm::eltwise_log;
    case EltwiseFunction::kSqrt:
      return algorithm::eltwise_sqrt;
    case EltwiseFunction::kSquare:
      return algorithm::eltwise_square;
    case EltwiseFunction::kAbs:
      return algorithm::eltwise_abs;
    case EltwiseFunction::kClip:
      return algorithm::eltwise_clip;
    case EltwiseFunction::kLinear:
      return algorithm::eltwise_linear;
    case EltwiseFunction::kPow:
      return algorithm::eltwise_pow;
    case EltwiseFunction::kGeluErf:
      return algorithm::eltwise_gelu_erf;
    case EltwiseFunction::kHardSwish:
      return algorithm::eltwise_hardswish;
    case EltwiseFunction::kGeluTanh:
      return algorithm::eltwise_gelu_tanh;
    case EltwiseFunction::kSwish:
      return algorithm::eltwise_swish;
  }
  return algorithm::undef;
}

dnnl::algorithm to_library(BinaryFunction function) {
  using dnnl::algorithm;
  switch (function) {
    case BinaryFunction::kAdd:
      return algorithm::binary_add;
    case BinaryFunction::kSub:
      return algorithm::binary_sub;
    case BinaryFunction::kMul:
      return algorithm::binary_mul;
    case BinaryFunction::kDiv:
      return algorithm::binary_div;
    case BinaryFunction::kMax:
      return algorithm::binary_max;
    case BinaryFunction::kMin:
      return algorithm::binary_min;
  }
  return algorithm::undef;
}

Dims operand_form(const Dims& operand, const Dims& output, const Dims& output_form) {
  if (output == output_form) return operand;
  // The only other form is the matrix product's: leading dimensions collapsed into one.
  Dims leading(operand.begin(), operand.end() - 1);
  const int64_t rows = element_count(leading);
  if (rows != 1 && rows != output_form[0]) {
    throw NoPrimitive("an operand " + to_text(operand) + " doesn't collapse with " +
                      to_text(output));
  }
  return {rows, operand.back()};
}

Descriptor Attempt::layout_of(std::size_t i) const {
  return assumption_.inputs_as_they_lie ? input(i).layout : row_major(input(i).dims, type(i));
}

dnnl::primitive_attr Attempt::attributes(const Dims& output_form) const {
  dnnl::post_ops post_ops;
  for (std::size_t i = 0; i < request_.op->post_ops.size(); ++i) {
    const PostOp& post_op = request_.op->post_ops[i];
    switch (post_op.kind) {
      case PostOpKind::kSum:
        post_ops.append_sum(1.0F);
        break;
      case PostOpKind::kEltwise:
        append_eltwise(post_ops, to_library(post_op.eltwise.function), post_op.eltwise.alpha,
                       post_op.eltwise.beta);
        break;
      case PostOpKind::kBinary: {
        const Dims& dims = request_.post_op_operands[i].dims;
        post_ops.append_binary(to_library(post_op.binary.function),
                               row_major(operand_form(dims, request_.output_dims, output_form)));
        break;
      }
    }
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return attributes;
}

PrimitiveChoice Attempt::choice(const dnnl::primitive_desc_base& descriptor,
                                const std::vector<int>& arguments) const {
  PrimitiveChoice result;
  result.descriptor = descriptor;
  result.output = descriptor.query_md(dnnl::query::dst_md, 0);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    result.inputs.push_back(
        {arguments[i], false, i, descriptor.query_md(dnnl::query::exec_arg_md, arguments[i])});
  }
  for (std::size_t i = 0; i < request_.op->post_ops.size(); ++i) {
    if (request_.op->post_ops[i].kind != PostOpKind::kBinary) continue;
    const Dims form = operand_form(request_.post_op_operands[i].dims, request_.output_dims,
                                   dims_of(result.output));
    result.inputs.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                             true, i, row_major(form)});
  }
  return result;
}

}  // namespace ephost_dnnl
