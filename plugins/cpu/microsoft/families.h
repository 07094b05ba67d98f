// What the files of this folder contribute: kernels, definitions, and what the kernels refuse.
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

Table quantized_pool_kernels();
Definitions define_quantized_pools();

Table skip_normalization_kernels();
Definitions define_skip_normalizations();

}  // namespace ephost_cpu
