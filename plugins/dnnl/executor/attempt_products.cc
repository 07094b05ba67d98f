// Convolution and matrix product: the operations that decide layouts.
#include <limits>

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

// A layout of matrices in which the library multiplies them: this one, or row-major if an earlier
// dimension of the batch is faster than a later one. oneDNN 3.7.2 reads beyond such tensors.
Descriptor with_ordered_batch(const Descriptor& layout) {
  const LayoutFields fields = layout_fields(layout);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; fields.is_blocked && i < fields.ndims - 2; ++i) {
    if (fields.dims[i] == 1) continue;
    if (fields.strides[i] > least) return row_major(dims_of(layout));
    least = fields.strides[i];
  }
  return layout;
}

}  // namespace

PrimitiveChoice Attempt::make(const Convolution& op) const {
  ConvolutionLayouts layouts = {any_layout(input(0).dims),
                                any_layout(weights_form(input(1).dims, op.groups)),
                                any_layout(request_.output_dims)};
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
  Descriptor bias;
  if (has_input(2)) {
    bias = row_major(input(2).dims);
    layouts.bias = &bias;
    arguments.push_back(DNNL_ARG_BIAS);
  }
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(
      describe_convolution(settings(with), layouts,
                           {op.strides, minus_one(op.dilations), op.pads_begin, op.pads_end}),
      arguments);
}

PrimitiveChoice Attempt::make(const MatMul&) const {
  const Dims &a_dims = input(0).dims, &b_dims = input(1).dims;
  const bool collapses = b_dims.size() == 2 && a_dims.size() > 2;
  const Dims a_form = collapses ? collapsed(a_dims) : a_dims;
  const Dims output_form = collapses ? collapsed(request_.output_dims) : request_.output_dims;
  const Descriptor a =
      with_ordered_batch(reshape_view(layout_of(0), a_form).value_or(row_major(a_form)));
  const Descriptor b = input(1).is_constant ? any_layout(b_dims) : with_ordered_batch(layout_of(1));
  const Descriptor output = assumption_.preferred_output && !collapses
                                ? with_ordered_batch(*request_.preferred_output)
                                : row_major(output_form);
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
  Descriptor bias;
  if (has_input(2)) {
    Dims bias_form(output_form.size(), 1);
    bias_form.back() = output_form.back();
    bias = row_major(bias_form);
    arguments.push_back(DNNL_ARG_BIAS);
  }
  const dnnl::primitive_attr with = attributes(output_form);
  return choice(describe_matmul(settings(with), a, b, has_input(2) ? &bias : nullptr, output),
                arguments);
}

}  // namespace ephost_dnnl
