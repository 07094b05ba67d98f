// Pooling, element-wise operations, reductions and concatenation, which take their input in any
// layout.
#include "plugins/dnnl/executor/primitive_attempt.h"

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
  return choice(describe_pooling(settings(with), to_library(op.kind), layout_of(0),
                                 any_layout(request_.output_dims), op.kernel,
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
  const Descriptor b = input(0).dims == input(1).dims ? a : layout_of(1);
  // oneDNN 2.6.3 writes beyond such tensors if a block is not as wide as its vectors.
  if (!request_.op->post_ops.empty() && has_padding(a)) {
    throw NoPrimitive("post-ops on a layout with padding");
  }
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_binary(settings(with), ephost_dnnl::to_library(op.function), a, b, a),
                {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1});
}

PrimitiveChoice Attempt::make(const Reduction& op) const {
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_reduction(settings(with), to_library(op.kind), layout_of(0),
                                   any_layout(request_.output_dims)),
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
                                any_layout(request_.output_dims)),
                arguments);
}

PrimitiveChoice Attempt::make(const Reshape&) const { throw NoPrimitive("Reshape is a view"); }

PrimitiveChoice Attempt::make(const Transpose&) const { throw NoPrimitive("Transpose is a view"); }

}  // namespace ephost_dnnl
