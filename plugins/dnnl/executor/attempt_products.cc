// Convolution and matrix product: the operations that decide layouts.
#include "plugins/dnnl/executor/primitive_attempt.h"

namespace ephost_dnnl {
namespace {

Dims minus_one(Dims dilations) {
  for (int64_t& dilation : dilations) --dilation;
  return dilations;
}

// The library expects grouped weights as [groups, M / groups, C / groups, spatial...].
Dims weights_form(const Dims& weights, int64_t groups) {
  if (groups == 1) return weights;
  Dims form = weights;
  form[0] /= groups;
  form.insert(form.begin(), groups);
  return form;
}

Dims collapsed(const Dims& dims) {
  return {element_count(Dims(dims.begin(), dims.end() - 1)), dims.back()};
}

}  // namespace

PrimitiveChoice Attempt::make(const Convolution& op) const {
  // Winograd convolutions were measured too: they need other layouts than the convolutions around
  // them, and the reorders cost what they gain.
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto forward = dnnl::prop_kind::forward_inference;
  const Descriptor data = any_layout(input(0).dims), output = any_layout(request_.output_dims);
  const Descriptor weights = any_layout(weights_form(input(1).dims, op.groups));
  const Dims dilates = minus_one(op.dilations);
  const auto desc =
      has_input(2)
          ? dnnl::convolution_forward::desc(forward, algorithm, data, weights,
                                            row_major(input(2).dims), output, op.strides, dilates,
                                            op.pads_begin, op.pads_end)
          : dnnl::convolution_forward::desc(forward, algorithm, data, weights, output, op.strides,
                                            dilates, op.pads_begin, op.pads_end);
  const auto made = described(
      dnnl::convolution_forward::primitive_desc(desc, attributes(request_.output_dims), engine_));
  std::vector<Wanted> wanted = {{DNNL_ARG_SRC, made.src_desc()},
                                {DNNL_ARG_WEIGHTS, made.weights_desc()}};
  if (has_input(2)) wanted.push_back({DNNL_ARG_BIAS, made.bias_desc()});
  return choice(made, wanted);
}

PrimitiveChoice Attempt::make(const MatMul&) const {
  const Dims &a_dims = input(0).dims, &b_dims = input(1).dims;
  const bool collapses = b_dims.size() == 2 && a_dims.size() > 2;
  const Dims a_form = collapses ? collapsed(a_dims) : a_dims;
  const Dims output_form = collapses ? collapsed(request_.output_dims) : request_.output_dims;
  const Descriptor a = reshape_view(layout_of(0), a_form).value_or(row_major(a_form));
  const Descriptor b = input(1).is_constant ? any_layout(b_dims) : layout_of(1);
  const Descriptor output = assumption_.preferred_output && !collapses ? *request_.preferred_output
                                                                       : row_major(output_form);
  Dims bias_form(output_form.size(), 1);
  bias_form.back() = output_form.back();
  const auto desc = has_input(2) ? dnnl::matmul::desc(a, b, row_major(bias_form), output)
                                 : dnnl::matmul::desc(a, b, output);
  const auto made = described(dnnl::matmul::primitive_desc(desc, attributes(output_form), engine_));
  std::vector<Wanted> wanted = {{DNNL_ARG_SRC, made.src_desc()},
                                {DNNL_ARG_WEIGHTS, made.weights_desc()}};
  if (has_input(2)) wanted.push_back({DNNL_ARG_BIAS, made.bias_desc()});
  return choice(made, wanted);
}

}  // namespace ephost_dnnl
