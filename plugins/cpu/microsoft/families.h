// The contributions of the files of this folder: kernels, definitions, and what the kernels refuse.
#pragma once

#include "plugins/cpu/microsoft/operators.h"

namespace ephost_cpu {

Table quantized_elementwise_kernels();
Definitions define_quantized_elementwise();

Table fused_conv_kernels();
Definitions define_fused_convs();
Refusals fused_conv_refusals();

Table fused_product_kernels();
Definitions define_fused_products();
Refusals fused_product_refusals();

Table microsoft_attention_kernels();
Definitions define_attention();
Refusals microsoft_attention_refusals();

Table multi_head_attention_kernels();
Definitions define_multi_head_attention();
Refusals multi_head_attention_refusals();

Table microsoft_rotary_kernels();
Definitions define_rotary_embedding();
Refusals microsoft_rotary_refusals();

Table microsoft_gelu_kernels();
Definitions define_gelus();

Table group_query_attention_kernels();
Definitions define_group_query_attention();
Refusals group_query_attention_refusals();

Table integer_product_kernels();
Definitions define_integer_products();
Refusals integer_product_refusals();

Table matmul_nbits_kernels();
Definitions define_matmul_nbits();
Refusals matmul_nbits_refusals();

Table dynamic_pads_kernels();
Definitions define_dynamic_pads();
Refusals dynamic_pads_refusals();

Table group_norm_kernels();
Definitions define_group_norm();

Table quantized_attention_kernels();
Definitions define_quantized_attention();
Refusals quantized_attention_refusals();

Table quantized_lstm_kernels();
Definitions define_quantized_lstm();

Table gather_block_quantized_kernels();
Definitions define_gather_block_quantized();

Table moe_kernels();
Definitions define_moe();
Refusals moe_refusals();

Table inverse_kernels();
Definitions define_inverse();

Table onnx_operator_kernels();
Definitions define_onnx_operators();

Table quantized_where_kernels();
Definitions define_quantized_where();

Table quantized_pool_kernels();
Definitions define_quantized_pools();

Table skip_normalization_kernels();
Definitions define_skip_normalizations();

}  // namespace ephost_cpu
