// Convolution and matrix product: the operations that decide layouts.
#include <limits>

#include "plugins/dnnl/executor/primitives/primitive_attempt.h"

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
    if (fields.strides[i] > least) return row_major(dims_of(layout), type_of(layout));
    least = fields.strides[i];
  }
  return layout;
}

}  // namespace

void Attempt::add_scales(QuantizationAttributes& attributes, int output_channel,
                         int weights_mask) const {
  const std::optional<Quantization>& quantization = request_.op->quantization;
  if (!quantization) return;
  attributes.scale_sum(quantization->scales, output_channel, weights_mask);
  attributes.set_zero_point(DNNL_ARG_SRC, quantization->data_zero_point);
  attributes.set_zero_point(DNNL_ARG_WEIGHTS, quantization->weights_zero_point);
  attributes.set_zero_point(DNNL_ARG_DST, quantization->output_zero_point);
}

PrimitiveChoice Attempt::make(const Convolution& op) const {
  const auto data_layout = request_.has_plain_layouts ? &channels_last : &any_layout;
  ConvolutionLayouts layouts = {data_layout(input(0).dims, type(0)),
                                any_layout(weights_form(input(1).dims, op.groups), type(1)),
                                data_layout(request_.output_dims, request_.output_type)};
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
  Descriptor bias;
  if (has_input(2)) {
    bias = row_major(input(2).dims);
    layouts.bias = &bias;
    arguments.push_back(DNNL_ARG_BIAS);
  }
  dnnl::primitive_attr with = attributes(request_.output_dims);
  QuantizationAttributes quantization(with);
  add_scales(quantization, 1, op.groups == 1 ? 1 : 3);
  PrimitiveChoice result = choice(
      describe_convolution(settings(with), layouts,
                           {op.strides, minus_one(op.dilations), op.pads_begin, op.pads_end}),
      arguments);
  result.parameters = quantization.take();
  return result;
}

PrimitiveChoice Attempt::make(const MatMul&) const {
  const Dims &a_dims = input(0).dims, &b_dims = input(1).dims;
  const bool collapses = b_dims.size() == 2 && a_dims.size() > 2;
  const Dims a_form = collapses ? collapsed(a_dims) : a_dims;
  const Dims output_form = collapses ? collapsed(request_.output_dims) : request_.output_dims;
  const Descriptor a =
      with_ordered_batch(reshape_view(layout_of(0), a_form).value_or(row_major(a_form, type(0))));
  const Descriptor b =
      input(1).is_constant ? any_layout(b_dims, type(1)) : with_ordered_batch(layout_of(1));
  const Descriptor output = assumption_.preferred_output && !collapses
                                ? with_ordered_batch(*request_.preferred_output)
                                : row_major(output_form, request_.output_type);
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS};
  Descriptor bias;
  if (has_input(2)) {
    Dims bias_form(output_form.size(), 1);
    bias_form.back() = output_form.back();
    bias = row_major(bias_form);
    arguments.push_back(DNNL_ARG_BIAS);
  }
  dnnl::primitive_attr with = attributes(output_form);
  QuantizationAttributes quantization(with);
  const int column = static_cast<int>(output_form.size()) - 1;
  add_scales(quantization, column, 1 << column);
  PrimitiveChoice result = choice(
      describe_matmul(settings(with), a, b, has_input(2) ? &bias : nullptr, output), arguments);
  result.parameters = quantization.take();
  return result;
}

}  // namespace ephost_dnnl
