#include "plugins/dnnl/passes/passes.h"

namespace ephost_dnnl {
namespace {

bool is_candidate(const Recipe& recipe, const Op& op, const Convolution& convolution) {
  const Dims& weights = recipe.dims(op.inputs[1]);
  const Dims& output = recipe.dims(op.output);
  return weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && convolution.groups == 1 &&
         convolution.strides == Dims{1, 1} && convolution.dilations == Dims{1, 1} &&
         output[2] * output[3] >= 14 * 14;
}

}  // namespace

void choose_convolution_algorithms(LoweredPartition& partition, const FastPrimitiveQuery& is_fast) {
  for (Op& op : partition.recipe.ops) {
    const auto* convolution = get_if<Convolution>(op);
    if (convolution == nullptr || !is_candidate(partition.recipe, op, *convolution)) continue;
    Op winograd = op;
    std::get<Convolution>(winograd.parameters).algorithm = ConvolutionAlgorithm::kWinograd;
    if (is_fast(partition.recipe, winograd)) op = std::move(winograd);
  }
}

}  // namespace ephost_dnnl
