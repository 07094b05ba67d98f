// The list of kernels. Each file of kernels/ has one table; an operator is found by searching for
// its name there. registry.cc puts the tables together.
#pragma once

#include <ephost/plugin_abi.h>

#include <array>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

using Factory = std::unique_ptr<Kernel> (*)(const NodeContext& context);

// The inputs of an operator, apart from their element types.
struct Inputs {
  uint32_t required = 1;   // number of leading inputs that must be given
  uint32_t same_type = 0;  // bit i: input i has the type of the first one with a bit
};

// The inputs of many operators; alike: of one type.
inline constexpr Inputs kNoInputs = {.required = 0};
inline constexpr Inputs kTwoInputs = {.required = 2};
inline constexpr Inputs kThreeInputs = {.required = 3};
inline constexpr Inputs kTwoAlike = {.required = 2, .same_type = 0b11};
inline constexpr Inputs kTwoOrThreeAlike = {.required = 2, .same_type = 0b111};
inline constexpr Inputs kThreeAlike = {.required = 3, .same_type = 0b111};
inline constexpr Inputs kAllAlike = {.required = 1, .same_type = ~0U};

// Fits the operator's versions from `since` to `until`, both inclusive. Where a rule allows float,
// float16 and bfloat16 are allowed too (widening.h).
struct KernelEntry {
  std::string_view op_type;
  int32_t since;
  int32_t until;
  Inputs inputs;
  std::span<const eph_type_rule> rules;
  Factory create;
  std::string_view domain = {};  // ai.onnx
};

// Models of opsets that the host has no schemas for state their opset as each operator's version:
// an entry without a later definition reaches up to here.
inline constexpr int32_t kNewest = 25;

// Rules for the first inputs: sets of element types, in order.
template <uint64_t... types>
inline constexpr auto kInputTypes = [] {
  constexpr uint64_t kSets[] = {types...};
  std::array<eph_type_rule, sizeof...(types)> rules = {};
  for (uint32_t i = 0; i < sizeof...(types); ++i) rules[i] = {i, 0, kSets[i]};
  return rules;
}();

inline constexpr auto& kTwoFloats = kInputTypes<kFloat, kFloat>;
inline constexpr auto& kThreeFloats = kInputTypes<kFloat, kFloat, kFloat>;
inline constexpr auto& kTwoNumbers = kInputTypes<kNumbers, kNumbers>;

// A rule for all inputs of a variadic operator.
template <uint64_t types>
inline constexpr std::array<eph_type_rule, 1> kVariadicTypes = {
    eph_type_rule{0, EPH_RULE_VARIADIC, types}};

// A rule for the first input and one for the first output.
template <uint64_t input, uint64_t output>
inline constexpr std::array<eph_type_rule, 2> kInputOutputTypes = {
    eph_type_rule{0, 0, input}, eph_type_rule{0, EPH_RULE_OUTPUT, output}};

// Rules for the first inputs, which may be of other kinds than tensors: flags as in eph_type_rule.
struct SlotRule {
  uint32_t flags = 0;
  uint64_t types = kAny;
};
template <SlotRule... slots>
inline constexpr auto kSlotRules = [] {
  constexpr SlotRule kSlots[] = {slots...};
  std::array<eph_type_rule, sizeof...(slots)> rules = {};
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool is_output = (kSlots[i].flags & EPH_RULE_OUTPUT) != 0;
    rules[i] = {is_output ? outputs++ : inputs++, kSlots[i].flags, kSlots[i].types};
  }
  return rules;
}();

template <class K>
std::unique_ptr<Kernel> make(const NodeContext& context) {
  return std::make_unique<K>(context);
}

// The tables of kernels/, one for each file.
using Table = std::span<const KernelEntry>;
Table activation_kernels();
Table affine_grid_kernels();
Table arg_kernels();
Table arithmetic_kernels();
Table attention_kernels();
Table batch_normalization_kernels();
Table bitwise_kernels();
Table cast_kernels();
Table center_crop_pad_kernels();
Table col2im_kernels();
Table comparison_kernels();
Table compress_kernels();
Table concat_kernels();
Table constant_kernels();
Table conv_kernels();
Table conv_transpose_kernels();
Table cumsum_kernels();
Table deform_conv_kernels();
Table det_kernels();
Table dft_kernels();
Table dropout_kernels();
Table einsum_kernels();
Table expand_kernels();
Table eye_like_kernels();
Table gather_kernels();
Table gelu_kernels();
Table gemm_kernels();
Table global_pool_kernels();
Table grid_sample_kernels();
Table instance_normalization_kernels();
Table layer_normalization_kernels();
Table loss_kernels();
Table lrn_kernels();
Table matmul_kernels();
Table ml_dictionary_kernels();
Table ml_encode_kernels();
Table ml_feature_kernels();
Table ml_linear_kernels();
Table ml_svm_kernels();
Table ml_tree_kernels();
Table non_max_suppression_kernels();
Table nonzero_kernels();
Table onehot_kernels();
Table optimizer_kernels();
Table optional_kernels();
Table pad_kernels();
Table pool_kernels();
Table pow_kernels();
Table predicate_kernels();
Table quantize_kernels();
Table quantized_conv_kernels();
Table quantized_matmul_kernels();
Table random_kernels();
Table recurrent_kernels();
Table reduce_kernels();
Table resize_kernels();
Table reverse_sequence_kernels();
Table roi_kernels();
Table rotary_embedding_kernels();
Table scatter_kernels();
Table sequence_kernels();
Table shape_kernels();
Table shrink_kernels();
Table signal_window_kernels();
Table slice_kernels();
Table softmax_kernels();
Table string_kernels();
Table string_normalizer_kernels();
Table tensor_scatter_kernels();
Table tf_idf_vectorizer_kernels();
Table topk_kernels();
Table transpose_kernels();
Table trilu_kernels();
Table unary_kernels();
Table unique_kernels();
Table unpool_kernels();
Table variadic_kernels();
Table where_kernels();

// All entries in the form of the ABI; constant.
[[nodiscard]] const std::vector<eph_kernel_def>& kernel_defs();

// Makes the kernel of a node. Throws NOT_IMPLEMENTED if no entry fits it.
[[nodiscard]] std::unique_ptr<Kernel> create_kernel(const eph::GraphView& graph, uint32_t node,
                                                    const Settings& settings);

}  // namespace ephost_cpu
