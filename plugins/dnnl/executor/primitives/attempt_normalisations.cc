// Normalisations and softmax.
#include "plugins/dnnl/executor/primitives/primitive_attempt.h"

namespace ephost_dnnl {

using Flags = dnnl::normalization_flags;

PrimitiveChoice Attempt::make(const BatchNormalization& op) const {
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(
      describe_batch_normalization(settings(with), layout_of(0), op.epsilon,
                                   Flags::use_global_stats | Flags::use_scale | Flags::use_shift),
      {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE});
}

PrimitiveChoice Attempt::make(const LayerNormalization& op) const {
  // oneDNN 2.6.3 does not clear the padding of its output, which other primitives read as zeros.
  if (has_padding(layout_of(0))) throw NoPrimitive("a layout with padding");
  Flags flags = Flags::use_scale;
  std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_SCALE};
  if (has_input(2)) {
    flags = flags | Flags::use_shift;
    arguments.push_back(DNNL_ARG_SHIFT);
  }
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_layer_normalization(settings(with), layout_of(0), op.epsilon, flags),
                arguments);
}

PrimitiveChoice Attempt::make(const Lrn& op) const {
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(describe_lrn(settings(with), layout_of(0), op.size, op.alpha, op.beta, op.bias),
                {DNNL_ARG_SRC});
}

PrimitiveChoice Attempt::make(const Softmax& op) const {
  const auto algorithm =
      op.logarithm != 0 ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const dnnl::primitive_attr with = attributes(request_.output_dims);
  return choice(
      describe_softmax(settings(with), algorithm, layout_of(0), static_cast<int>(op.axis)),
      {DNNL_ARG_SRC});
}

}  // namespace ephost_dnnl
