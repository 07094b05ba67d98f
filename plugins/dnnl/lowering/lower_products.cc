// Conv, MatMul, Gemm.
#include <algorithm>
#include <optional>

#include "plugins/dnnl/lowering/node_lowerings.h"
#include "plugins/dnnl/lowering/windows.h"

namespace ephost_dnnl {
namespace {

TensorId scaled(RecipeBuilder& builder, TensorId tensor, float factor) {
  if (factor == 1.0F) return tensor;
  return builder.add(Eltwise{EltwiseFunction::kLinear, factor, 0.0F}, {tensor});
}

TensorId transposed(RecipeBuilder& builder, TensorId matrix, bool is_transposed) {
  return is_transposed ? builder.add(Transpose{{1, 0}}, {matrix}) : matrix;
}

bool is_block_quantised(const eph::GraphView& graph, uint32_t value) {
  const uint32_t producer = graph.value(value).producer();
  if (producer >= graph.node_count()) return false;
  const eph::NodeView source = graph.node(producer);
  const int64_t block = source.get_int("block_size", 0);
  const int64_t axis = source.get_int("axis", 1);
  if (source.op_type() != "DequantizeLinear" || !source.domain().empty() || block < 16 ||
      (block & (block - 1)) != 0 || (axis != 0 && axis != -2)) {
    return false;
  }
  const eph::ArrayView<uint32_t> inputs = source.inputs();
  const int32_t type = graph.value(source.input(0)).element_type();
  const bool has_few_bits = type == EPH_ELEMENT_INT4 || type == EPH_ELEMENT_UINT4 ||
                            type == EPH_ELEMENT_INT8 || type == EPH_ELEMENT_UINT8;
  return has_few_bits && graph.value(value).shape().size() == 2 &&
         std::all_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
           return input == EPH_NONE || graph.value(input).constant() != nullptr;
         });
}

// The rows of the left factor; nothing if an extent is open.
std::optional<int64_t> row_count(const eph::GraphView& graph, uint32_t left) {
  const eph::ValueView value = graph.value(left);
  if (!value.has_static_shape()) return std::nullopt;
  int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < value.shape().size(); ++d) rows *= value.shape()[d];
  return rows;
}

// Whether the CPU provider is the better one for a product, since it multiplies by weights with a
// scale for each block as they are stored (MatMulNBits). Dequantised, they are up to eight times as
// large, which is what a product of few rows spends its time with; and the host does not keep very
// large ones between runs. It takes weights that nothing but products reads.
bool is_for_block_product(const eph::GraphView& graph, const eph::NodeView& product) {
  constexpr int64_t kFewRows = 8;
  constexpr int64_t kLarge = int64_t{16} << 20;  // elements
  const uint32_t weights = product.input(1);
  if (weights == EPH_NONE || product.input(0) == EPH_NONE) return false;
  if (!is_block_quantised(graph, weights) || graph.value(weights).is_graph_output()) return false;
  const eph::ArrayView<uint32_t> readers = graph.value(weights).consumers();
  const bool has_other_readers = std::any_of(readers.begin(), readers.end(), [&](uint32_t reader) {
    const eph::NodeView node = graph.node(reader);
    return node.op_type() != "MatMul" || !node.domain().empty() || node.input(0) == weights;
  });
  if (has_other_readers) return false;
  const eph::ArrayView<int64_t> shape = graph.value(weights).shape();
  const bool is_large = shape[0] > kLarge / std::max<int64_t>(shape[1], 1);
  return is_large || row_count(graph, product.input(0)).value_or(1) <= kFewRows;
}

}  // namespace

TensorId lower_conv(NodeContext& node) {
  const TensorId data = node.input(0), weights = node.input(1);
  const Dims data_dims = node.dims(0), weights_dims = node.dims(1);
  if (weights_dims.size() < 3) throw Unsupported("weights of rank below 3");
  const Dims kernel(weights_dims.begin() + 2, weights_dims.end());
  if (node.node().attribute("kernel_shape") != nullptr &&
      node.ints_or("kernel_shape", kernel.size(), 1) != kernel) {
    throw Unsupported("kernel_shape differs from the weights");
  }
  const Window window = read_window(node, kernel, data_dims);
  Convolution op;
  op.strides = window.strides;
  op.dilations = window.dilations;
  op.pads_begin = window.pads_begin;
  op.pads_end = window.pads_end;
  op.groups = node.node().get_int("group", 1);
  std::vector<TensorId> inputs = {data, weights};
  if (node.has_input(2)) inputs.push_back(node.input(2));
  return node.builder().add(op, inputs);
}

TensorId lower_matmul(NodeContext& node) {
  if (is_for_block_product(node.graph(), node.node())) {
    throw Unsupported("the weights have a scale for each block");
  }
  RecipeBuilder& builder = node.builder();
  TensorId a = node.input(0), b = node.input(1);
  if (builder.dims(a).size() == 1) a = builder.reshape(a, {1, builder.dims(a)[0]});
  if (builder.dims(b).size() == 1) b = builder.reshape(b, {builder.dims(b)[0], 1});
  const std::size_t rank = std::max(builder.dims(a).size(), builder.dims(b).size());
  if (builder.dims(b).size() > 2) {
    a = builder.with_rank(a, rank);
    b = builder.with_rank(b, rank);
  }
  // A vector factor contributes no dimension to the result.
  return builder.reshape(builder.add(MatMul{}, {a, b}), node.output_dims());
}

TensorId lower_gemm(NodeContext& node) {
  RecipeBuilder& builder = node.builder();
  if (node.dims(0).size() != 2 || node.dims(1).size() != 2) throw Unsupported("not two matrices");
  const TensorId a = transposed(builder, node.input(0), node.node().get_int("transA", 0) != 0);
  const TensorId b = transposed(builder, node.input(1), node.node().get_int("transB", 0) != 0);
  const float alpha = node.node().get_float("alpha", 1.0F);
  const float beta = node.node().get_float("beta", 1.0F);
  if (!node.has_input(2) || beta == 0.0F) {
    return scaled(builder, builder.add(MatMul{}, {a, b}), alpha);
  }
  const TensorId c = node.input(2);
  const bool is_bias = alpha == 1.0F && beta == 1.0F && node.dims(2).size() <= 2 &&
                       element_count(node.dims(2)) == node.dims(2).back() &&
                       node.dims(2).back() == builder.dims(b)[1];
  if (is_bias) return builder.add(MatMul{}, {a, b, builder.reshape(c, {node.dims(2).back()})});
  const TensorId product = scaled(builder, builder.add(MatMul{}, {a, b}), alpha);
  return builder.add(Binary{BinaryFunction::kAdd},
                     {product, builder.with_rank(scaled(builder, c, beta), 2)});
}

}  // namespace ephost_dnnl
