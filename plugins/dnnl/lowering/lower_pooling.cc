// MaxPool, AveragePool and their global forms.
#include <algorithm>

#include "plugins/dnnl/lowering/node_lowerings.h"
#include "plugins/dnnl/lowering/windows.h"

namespace ephost_dnnl {
namespace {

// Makes the padding at the end so large that the windows of ceil_mode fit: larger for the last,
// partly filled one, smaller if one that would begin in the padding is left out. Returns whether it
// is larger anywhere.
bool round_up(Window& window, const Dims& data) {
  bool grows = false;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t positions = position_count(window, data, i, true);
    if (positions == position_count(window, data, i, false)) continue;
    if (positions == 0) throw Unsupported("no window begins in the data");
    const int64_t covered =
        (positions - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t needed = covered - data[i + 2] - window.pads_begin[i];
    grows = grows || needed > window.pads_end[i];
    window.pads_end[i] = std::max<int64_t>(0, needed);
  }
  return grows;
}

TensorId lower_pool(NodeContext& node, PoolingKind kind) {
  node.require_single_output();
  const TensorId data = node.input(0);
  const Dims dims = node.dims(0);
  if (dims.size() < 3) throw Unsupported("data of rank " + std::to_string(dims.size()));
  if (node.node().attribute("kernel_shape") == nullptr) throw Unsupported("no kernel_shape");
  Window window = read_window(node, node.ints_or("kernel_shape", dims.size() - 2, 1), dims);
  if (node.node().get_int("ceil_mode", 0) != 0) {
    if (round_up(window, dims) && kind == PoolingKind::kAverageIncludePadding) {
      throw Unsupported("ceil_mode with count_include_pad");
    }
  }
  return node.builder().add(Pooling{kind, window.kernel, window.strides, window.dilations,
                                    window.pads_begin, window.pads_end},
                            {data});
}

TensorId lower_global_pool(NodeContext& node, PoolingKind kind) {
  const TensorId data = node.input(0);
  const Dims dims = node.dims(0);
  if (dims.size() < 3) throw Unsupported("data of rank " + std::to_string(dims.size()));
  const std::size_t rank = dims.size() - 2;
  const Dims ones(rank, 1), zeros(rank, 0);
  return node.builder().add(
      Pooling{kind, Dims(dims.begin() + 2, dims.end()), ones, ones, zeros, zeros}, {data});
}

}  // namespace

TensorId lower_max_pool(NodeContext& node) { return lower_pool(node, PoolingKind::kMax); }

TensorId lower_average_pool(NodeContext& node) {
  return lower_pool(node, node.node().get_int("count_include_pad", 0) != 0
                              ? PoolingKind::kAverageIncludePadding
                              : PoolingKind::kAverageExcludePadding);
}

TensorId lower_global_max_pool(NodeContext& node) {
  return lower_global_pool(node, PoolingKind::kMax);
}

TensorId lower_global_average_pool(NodeContext& node) {
  return lower_global_pool(node, PoolingKind::kAverageExcludePadding);
}

}  // namespace ephost_dnnl
