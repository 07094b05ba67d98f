// Conv, MatMul, Gemm.
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
