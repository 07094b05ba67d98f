// BatchNormalization, LayerNormalization, LRN, Softmax, LogSoftmax.
#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

TensorId lower_softmax_kind(NodeContext& node, bool logarithm) {
  const TensorId data = node.input(0);
  const Dims dims = node.dims(0);
  const bool sees_matrix = node.node().since_version() < 13;
  const int64_t axis =
      normalised_axis(node.node().get_int("axis", sees_matrix ? 1 : -1), dims.size());
  const Softmax along_axis{axis, static_cast<uint8_t>(logarithm)};
  if (!sees_matrix || axis + 1 == static_cast<int64_t>(dims.size())) {
    return node.builder().add(along_axis, {data});
  }
  // Before version 13 the dimensions from the axis on count as one.
  const int64_t columns = element_count(Dims(dims.begin() + axis, dims.end()));
  const TensorId matrix = node.builder().reshape(data, {element_count(dims) / columns, columns});
  const Softmax over_columns{1, static_cast<uint8_t>(logarithm)};
  return node.builder().reshape(node.builder().add(over_columns, {matrix}), dims);
}

}  // namespace

TensorId lower_batch_normalization(NodeContext& node) {
  node.require_single_output();
  if (node.node().get_int("training_mode", 0) != 0) throw Unsupported("training_mode");
  if (node.node().get_int("spatial", 1) != 1) throw Unsupported("statistics for each element");
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs.push_back(node.input(i));
  return node.builder().add(BatchNormalization{node.node().get_float("epsilon", 1e-5F)}, inputs);
}

TensorId lower_layer_normalization(NodeContext& node) {
  node.require_single_output();
  if (node.node().get_int("stash_type", 1) != 1) throw Unsupported("stash_type");
  RecipeBuilder& builder = node.builder();
  const Dims dims = node.dims(0);
  const int64_t axis = normalised_axis(node.node().get_int("axis", -1), dims.size());
  const int64_t columns = element_count(Dims(dims.begin() + axis, dims.end()));
  // The library normalises the last dimension; several are seen as one.
  const bool is_last = axis + 1 == static_cast<int64_t>(dims.size()) && dims.size() > 1;
  const Dims form = is_last ? dims : Dims{element_count(dims) / columns, columns};
  std::vector<TensorId> inputs = {builder.reshape(node.input(0), form)};
  for (std::size_t i = 1; i < 3; ++i) {
    if (i == 2 && !node.has_input(2)) break;
    if (element_count(node.dims(i)) != columns) throw Unsupported("scale or bias broadcasts");
    inputs.push_back(builder.reshape(node.input(i), {columns}));
  }
  const LayerNormalization op{node.node().get_float("epsilon", 1e-5F)};
  return builder.reshape(builder.add(op, inputs), dims);
}

TensorId lower_lrn(NodeContext& node) {
  if (node.node().attribute("size") == nullptr) throw Unsupported("no size");
  return node.builder().add(
      Lrn{node.node().get_int("size", 0), node.node().get_float("alpha", 1e-4F),
          node.node().get_float("beta", 0.75F), node.node().get_float("bias", 1.0F)},
      {node.input(0)});
}

TensorId lower_softmax(NodeContext& node) { return lower_softmax_kind(node, false); }

TensorId lower_log_softmax(NodeContext& node) { return lower_softmax_kind(node, true); }

}  // namespace ephost_dnnl
