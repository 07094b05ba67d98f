// Pooling, element-wise operations, reductions and concatenation, which take their input in any
// layout.
#include "plugins/dnnl/executor/primitive_attempt.h"

namespace ephost_dnnl {
namespace {

constexpr auto kForward = dnnl::prop_kind::forward_inference;

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
  Dims dilation = op.dilations;
  for (int64_t& step : dilation) --step;
  const dnnl::pooling_v2_forward::desc desc(kForward, to_library(op.kind), layout_of(0),
                                            any_layout(request_.output_dims), op.strides, op.kernel,
                                            dilation, op.pads_begin, op.pads_end);
  const auto made = described(
      dnnl::pooling_v2_forward::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()}});
}

PrimitiveChoice Attempt::make(const Eltwise& op) const {
  const dnnl::eltwise_forward::desc desc(kForward, ephost_dnnl::to_library(op.function),
                                         layout_of(0), op.alpha, op.beta);
  const auto made = described(
      dnnl::eltwise_forward::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()}});
}

PrimitiveChoice Attempt::make(const Binary& op) const {
  const Descriptor a = layout_of(0);
  const Descriptor b = input(0).dims == input(1).dims ? a : layout_of(1);
  // oneDNN 2.6.3 writes beyond such tensors if a block is not as wide as its vectors.
  if (!request_.op->post_ops.empty() && has_padding(a)) {
    throw NoPrimitive("post-ops on a layout with padding");
  }
  const dnnl::binary::desc desc(ephost_dnnl::to_library(op.function), a, b, a);
  const auto made =
      described(dnnl::binary::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC_0, made.src0_desc()}, {DNNL_ARG_SRC_1, made.src1_desc()}});
}

PrimitiveChoice Attempt::make(const Reduction& op) const {
  const dnnl::reduction::desc desc(to_library(op.kind), layout_of(0),
                                   any_layout(request_.output_dims), 0.0F, 0.0F);
  const auto made =
      described(dnnl::reduction::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()}});
}

PrimitiveChoice Attempt::make(const Concat& op) const {
  if (assumption_.implementation > 0) throw NoPrimitive("no further implementation");
  std::vector<Descriptor> sources;
  for (std::size_t i = 0; i < request_.inputs.size(); ++i) sources.push_back(layout_of(i));
  const dnnl::concat::primitive_desc made(any_layout(request_.output_dims),
                                          static_cast<int>(op.axis), sources, engine_,
                                          attributes(request_.output_dims));

  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    wanted.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), sources[i]});
  }
  return choice(made, wanted);
}

PrimitiveChoice Attempt::make(const Reshape&) const { throw NoPrimitive("Reshape is a view"); }

PrimitiveChoice Attempt::make(const Transpose&) const { throw NoPrimitive("Transpose is a view"); }

}  // namespace ephost_dnnl
