// Pooling, element-wise operations, reductions and concatenation, which take their input in any
// layout.
#include "plugins/dnnl/executor/primitives/primitive_attempt.h"

namespace ephost_dnnl {
namespace {

dnnl::algorithm to_library(PoolingKind kind) {
  switch (kind) {
    case PoolingKind::kMax:
      return dnnl::algorithm::pooling_max;
    case PoolingKind::kAverageIncludePadding:
      return dnnl::algorithm::pooling_avg_include_padding;
    case PoolingKind::kAverageExcludePadding:
      return dnnl::algorithm::pooling_avg_exclude_padding;
  }
  return dnnl::algorithm::undef;
}

dnnl::algorithm to_library(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kMean:
      return dnnl::algorithm::reduction_mean;
    case ReductionKind::kSum:
      return dnnl::algorithm::reduction_sum;
    case ReductionKind::kMax:
      return dnnl::algorithm::reduction_max;
    case ReductionKind::kMin:
      return dnnl::algorithm::reduction_min;
    case ReductionKind::kProduct:
      return dnnl::algorithm::reduction_mul;
  }
  return dnnl::algorithm::undef;
}

}  // namespace

PrimitiveChoice Attempt::make(const Pooling& op) const {
  Dims dilations = op.dilations;
  for (int64_t& step : dilations) --step;
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  // The library pools integers fast with channels last only.
  const Descriptor data =
      is_integer(type(0)) ? channels_last(input(0).dims, type(0)) : layout_of(0);
  return choice(describe_pooling(settings(with), to_library(op.kind), data,
                                 any_layout(request_.output_dims, request_.output_type), op.kernel,
                                 {op.strides, dilations, op.pads_begin, op.pads_end}),
                {DNNL_ARG_SRC});
}

PrimitiveChoice Attempt::make(const Eltwise& op) const {
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_eltwise(settings(with), ephost_dnnl::to_library(op.function), layout_of(0),
                                 op.alpha, op.beta),
                {DNNL_ARG_SRC});
}

PrimitiveChoice Attempt::make(const Binary& op) const {
  const Descriptor a = layout_of(0);
  Descriptor b = layout_of(1), output = a;
  if (input(0).dims == input(1).dims) b = with_type(a, type(1));
  if (type(0) != request_.output_type) output = with_type(a, request_.output_type);
  // oneDNN 2.6.3 writes beyond such tensors if a block is not as wide as its vectors.
  if (!request_.op->post_ops.empty() && has_padding(a)) {
    throw NoPrimitive("post-ops on a layout with padding");
  }
  dnnl::primitive_attr with = attributes(request_.output_dims);
  QuantizationAttributes quantization(with);
  if (request_.op->quantization) {
    quantization.scale_operand(DNNL_ARG_SRC_0, request_.op->quantization->scales[0]);
    quantization.scale_operand(DNNL_ARG_SRC_1, request_.op->quantization->scales[1]);
  }
  PrimitiveChoice result =
      choice(describe_binary(settings(with), ephost_dnnl::to_library(op.function), a, b, output),
             {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1});
  result.parameters = quantization.take();
  return result;
}

// The library multiplies by the inverse of a scale, and rounds after it has added the zero point.
PrimitiveChoice Attempt::quantization(const Conversion& op) const {
  if (assumption_.implementation > 0) throw NoPrimitive("no further implementation");
  const Dims& dims = input(0).dims;
  // The kernel knows no blocks and no padding.
  const Descriptor from = without_blocks({dims, layout_of(0), input(0).is_constant});
  PrimitiveChoice result;
  result.own = make_quantization(op, type(0), element_count(dims));
  result.inputs = {{DNNL_ARG_FROM, false, 0, from}};
  result.output = with_type(from, op.type);
  return result;
}

PrimitiveChoice Attempt::make(const Conversion& op) const {
  if (is_integer(op.type)) return quantization(op);
  const Descriptor from = layout_of(0), to = with_type(from, op.type);
  dnnl::primitive_attr with = attributes(request_.output_dims);
  QuantizationAttributes quantization(with);
  quantization.scale_reorder(op.input_scale);
  quantization.set_zero_point(DNNL_ARG_FROM, op.input_zero_point);
  PrimitiveChoice result;
  result.descriptor = describe_reorder(settings(with), from, to);
  result.inputs = {{DNNL_ARG_FROM, false, 0, from}};
  result.output = to;
  result.parameters = quantization.take();
  return result;
}

PrimitiveChoice Attempt::make(const Reduction& op) const {
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_reduction(settings(with), to_library(op.kind), layout_of(0),
                                   any_layout(request_.output_dims, request_.output_type)),
                {DNNL_ARG_SRC});
}

PrimitiveChoice Attempt::make(const Concat& op) const {
  std::vector<Descriptor> sources;
  std::vector<int> arguments;
  for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
    sources.push_back(layout_of(i));
    arguments.push_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i));
  }
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_concat(settings(with), sources, static_cast<int>(op.axis),
                                any_layout(request_.output_dims, request_.output_type)),
                arguments);
}

PrimitiveChoice Attempt::make(const Reshape&) const { throw NoPrimitive("Reshape is a view"); }

PrimitiveChoice Attempt::make(const Transpose&) const { throw NoPrimitive("Transpose is a view"); }

}  // namespace ephost_dnnl
