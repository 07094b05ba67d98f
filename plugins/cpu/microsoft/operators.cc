#include "plugins/cpu/microsoft/operators.h"

#include <utility>

#include "plugins/cpu/microsoft/families.h"

namespace ephost_cpu {
namespace {

// One per line, so that additions merge.
// clang-format off
constexpr MicrosoftFamily kFamilies[] = {
    {quantized_elementwise_kernels, define_quantized_elementwise, nullptr},
    {quantized_pool_kernels, define_quantized_pools, nullptr},
    {dynamic_pads_kernels, define_dynamic_pads, dynamic_pads_refusals},
    {group_norm_kernels, define_group_norm, nullptr},
    {quantized_attention_kernels, define_quantized_attention, quantized_attention_refusals},
    {quantized_lstm_kernels, define_quantized_lstm, nullptr},
    {quantized_where_kernels, define_quantized_where, nullptr},
    {gather_block_quantized_kernels, define_gather_block_quantized, nullptr},
    {onnx_operator_kernels, define_onnx_operators, nullptr},
    {moe_kernels, define_moe, moe_refusals},
    {inverse_kernels, define_inverse, nullptr},
    {integer_product_kernels, define_integer_products, integer_product_refusals},
    {matmul_nbits_kernels, define_matmul_nbits, matmul_nbits_refusals},
    {fused_conv_kernels, define_fused_convs, fused_conv_refusals},
    {fused_product_kernels, define_fused_products, fused_product_refusals},
    {microsoft_gelu_kernels, define_gelus, nullptr},
    {skip_normalization_kernels, define_skip_normalizations, nullptr},
    {microsoft_attention_kernels, define_attention, microsoft_attention_refusals},
    {multi_head_attention_kernels, define_multi_head_attention, multi_head_attention_refusals},
    {group_query_attention_kernels, define_group_query_attention, group_query_attention_refusals},
    {microsoft_rotary_kernels, define_rotary_embedding, microsoft_rotary_refusals},
};
// clang-format on

Definitions all_definitions() {
  Definitions all;
  for (const MicrosoftFamily& family : kFamilies) {
    for (eph::Operator& one : family.define()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::span<const MicrosoftFamily> microsoft_families() { return kFamilies; }

const eph::Operators& microsoft_operators() {
  static const eph::Operators all(all_definitions());
  return all;
}

void require_inputs(const NodeContext& context, std::initializer_list<std::size_t> inputs) {
  for (const std::size_t i : inputs) {
    if (context.has_input(i)) continue;
    throw eph::Failure(EPH_INVALID_GRAPH, "input " + std::to_string(i) + " is required");
  }
}

std::string microsoft_refusal(const NodeContext& context) {
  if (context.node().domain() != kMicrosoft) return {};
  for (const MicrosoftFamily& family : kFamilies) {
    if (family.refusals == nullptr) continue;
    for (const Refusal& refusal : family.refusals()) {
      if (refusal.op_type == context.node().op_type()) return refusal.why(context);
    }
  }
  return {};
}

}  // namespace ephost_cpu
