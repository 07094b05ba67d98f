// Reductions, Concat, and the operators that only view their input with other dimensions.
#include <algorithm>
#include <numeric>

#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

// The axes to reduce, ascending: an attribute, or an input in later versions; all if neither is
// given.
Dims reduced_axes(const NodeContext& node, std::size_t rank) {
  Dims axes = node.node().get_ints("axes").to_vector();
  if (node.input_count() > 1) axes = node.constant_ints(1).value_or(Dims{});
  for (int64_t& axis : axes) axis = normalised_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (axes.empty() && node.node().get_int("noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

bool is_spatial(const Dims& axes, std::size_t rank) {
  return rank >= 3 && rank <= 5 && axes.size() == rank - 2 && axes[0] == 2;
}

TensorId lower_reduction(NodeContext& node, ReductionKind kind) {
  RecipeBuilder& builder = node.builder();
  const TensorId data = node.input(0);
  const Dims dims = node.dims(0);
  const Dims axes = reduced_axes(node, dims.size());
  if (axes.empty()) return data;
  TensorId result = 0;
  if (kind == ReductionKind::kMean && is_spatial(axes, dims.size())) {
    // The mean over all spatial dimensions is a pooling, which suits the convolutions' layouts.
    const Dims ones(dims.size() - 2, 1), zeros(dims.size() - 2, 0);
    result = builder.add(Pooling{PoolingKind::kAverageExcludePadding,
                                 Dims(dims.begin() + 2, dims.end()), ones, ones, zeros, zeros},
                         {data});
  } else {
    result = builder.add(Reduction{kind, axes}, {data});
  }
  return builder.reshape(result, node.output_dims());
}

}  // namespace

TensorId lower_reduce_mean(NodeContext& node) {
  return lower_reduction(node, ReductionKind::kMean);
}
TensorId lower_reduce_sum(NodeContext& node) { return lower_reduction(node, ReductionKind::kSum); }
TensorId lower_reduce_max(NodeContext& node) { return lower_reduction(node, ReductionKind::kMax); }
TensorId lower_reduce_min(NodeContext& node) { return lower_reduction(node, ReductionKind::kMin); }
TensorId lower_reduce_prod(NodeContext& node) {
  return lower_reduction(node, ReductionKind::kProduct);
}

TensorId lower_concat(NodeContext& node) {
  if (node.node().attribute("axis") == nullptr) throw Unsupported("no axis");
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < node.input_count(); ++i) inputs.push_back(node.input(i));
  if (inputs.size() == 1) return inputs[0];
  const int64_t axis = normalised_axis(node.node().get_int("axis", 0), node.dims(0).size());
  return node.builder().add(Concat{axis}, inputs);
}

// Reshape, Flatten, Squeeze and Unsqueeze: the shape that the model declares is enough if the
// inputs that it was inferred from are constant.
TensorId lower_reshape(NodeContext& node) {
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    static_cast<void>(node.constant_ints(i));
  }
  return node.builder().reshape(node.input(0), node.output_dims());
}

TensorId lower_transpose(NodeContext& node) {
  const TensorId data = node.input(0);
  Dims permutation = node.node().get_ints("perm").to_vector();
  if (permutation.empty()) {
    permutation.resize(node.dims(0).size());
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  return node.builder().add(Transpose{permutation}, {data});
}

TensorId lower_identity(NodeContext& node) { return node.input(0); }

TensorId lower_dropout(NodeContext& node) {
  node.require_single_output();
  if (node.has_input(2)) {
    const eph_value* training = node.graph().constant_input(node.node(), 2);
    if (training == nullptr || training->byte_size != 1 ||
        *static_cast<const uint8_t*>(training->data) != 0) {
      throw Unsupported("training_mode");
    }
  }
  return node.input(0);
}

}  // namespace ephost_dnnl
