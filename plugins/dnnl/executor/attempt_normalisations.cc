// Normalisations and softmax.
#include "plugins/dnnl/executor/primitive_attempt.h"

namespace ephost_dnnl {

namespace {
constexpr auto kForward = dnnl::prop_kind::forward_inference;
}

PrimitiveChoice Attempt::make(const BatchNormalization& op) const {
  using Flags = dnnl::normalization_flags;
  const dnnl::batch_normalization_forward::desc desc(
      kForward, layout_of(0), op.epsilon,
      Flags::use_global_stats | Flags::use_scale | Flags::use_shift);
  const auto made = described(dnnl::batch_normalization_forward::primitive_desc(
      desc, attributes(request_.output_dims), engine_));
  const Descriptor channel = row_major(input(1).dims);
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()},
                       {DNNL_ARG_SCALE, channel},
                       {DNNL_ARG_SHIFT, channel},
                       {DNNL_ARG_MEAN, made.mean_desc()},
                       {DNNL_ARG_VARIANCE, made.variance_desc()}});
}

PrimitiveChoice Attempt::make(const LayerNormalization& op) const {
  using Flags = dnnl::normalization_flags;
  // oneDNN 2.6.3 does not clear the padding of its output, which other primitives read as zeros.
  if (has_padding(layout_of(0))) throw NoPrimitive("a layout with padding");
  const Flags flags = has_input(2) ? Flags::use_scale | Flags::use_shift : Flags::use_scale;
  const dnnl::layer_normalization_forward::desc desc(kForward, layout_of(0), op.epsilon, flags);
  const auto made = described(dnnl::layer_normalization_forward::primitive_desc(
      desc, attributes(request_.output_dims), engine_));
  const Descriptor vector = row_major(input(1).dims);
  std::vector<Wanted> wanted = {{DNNL_ARG_SRC, made.src_desc()}, {DNNL_ARG_SCALE, vector}};
  if (has_input(2)) wanted.push_back({DNNL_ARG_SHIFT, vector});
  return choice(made, wanted);
}

PrimitiveChoice Attempt::make(const Lrn& op) const {
  const dnnl::lrn_forward::desc desc(kForward, dnnl::algorithm::lrn_across_channels, layout_of(0),
                                     op.size, op.alpha, op.beta, op.bias);
  const auto made =
      described(dnnl::lrn_forward::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()}});
}

PrimitiveChoice Attempt::make(const Softmax& op) const {
  const Descriptor data = layout_of(0);
  const auto algorithm =
      op.logarithm != 0 ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const dnnl::softmax_v2_forward::desc desc(kForward, algorithm, data, data,
                                            static_cast<int>(op.axis));
  const auto made = described(
      dnnl::softmax_v2_forward::primitive_desc(desc, attributes(request_.output_dims), engine_));
  return choice(made, {{DNNL_ARG_SRC, made.src_desc()}});
}

}  // namespace ephost_dnnl
