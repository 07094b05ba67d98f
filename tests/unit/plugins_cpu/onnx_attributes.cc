#include "tests/unit/plugins_cpu/onnx_attributes.h"

#include <ephost/plugin_abi.h>

#include <map>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/defs/schema.h>
#pragma GCC diagnostic pop

namespace ephost::test {
namespace {

constexpr int kOpsetOfOnnx = 17;

// What came with later opsets.
const std::map<std::string, std::vector<OnnxAttribute>>& newer() {
  static const std::map<std::string, std::vector<OnnxAttribute>> kNewer = {
      {"AffineGrid", {{"align_corners", EPH_ATTRIBUTE_INT}}},
      {"Attention",
       {{"is_causal", EPH_ATTRIBUTE_INT},
        {"kv_num_heads", EPH_ATTRIBUTE_INT},
        {"q_num_heads", EPH_ATTRIBUTE_INT},
        {"qk_matmul_output_mode", EPH_ATTRIBUTE_INT},
        {"scale", EPH_ATTRIBUTE_FLOAT},
        {"softcap", EPH_ATTRIBUTE_FLOAT}}},
      {"AveragePool", {{"dilations", EPH_ATTRIBUTE_INTS}}},
      {"Cast", {{"saturate", EPH_ATTRIBUTE_INT}, {"round_mode", EPH_ATTRIBUTE_STRING}}},
      {"CenterCropPad", {{"axes", EPH_ATTRIBUTE_INTS}}},
      {"Col2Im",
       {{"dilations", EPH_ATTRIBUTE_INTS},
        {"pads", EPH_ATTRIBUTE_INTS},
        {"strides", EPH_ATTRIBUTE_INTS}}},
      {"DeformConv",
       {{"dilations", EPH_ATTRIBUTE_INTS},
        {"kernel_shape", EPH_ATTRIBUTE_INTS},
        {"pads", EPH_ATTRIBUTE_INTS},
        {"strides", EPH_ATTRIBUTE_INTS},
        {"group", EPH_ATTRIBUTE_INT},
        {"offset_group", EPH_ATTRIBUTE_INT}}},
      {"DequantizeLinear", {{"block_size", EPH_ATTRIBUTE_INT}}},
      {"Gelu", {{"approximate", EPH_ATTRIBUTE_STRING}}},
      {"GroupNormalization", {{"num_groups", EPH_ATTRIBUTE_INT}, {"epsilon", EPH_ATTRIBUTE_FLOAT}}},
      {"LpPool", {{"dilations", EPH_ATTRIBUTE_INTS}, {"ceil_mode", EPH_ATTRIBUTE_INT}}},
      {"QuantizeLinear",
       {{"block_size", EPH_ATTRIBUTE_INT},
        {"output_dtype", EPH_ATTRIBUTE_INT},
        {"saturate", EPH_ATTRIBUTE_INT}}},
      {"RMSNormalization", {{"axis", EPH_ATTRIBUTE_INT}, {"epsilon", EPH_ATTRIBUTE_FLOAT}}},
      {"RegexFullMatch", {{"pattern", EPH_ATTRIBUTE_STRING}}},
      {"Resize",
       {{"antialias", EPH_ATTRIBUTE_INT},
        {"axes", EPH_ATTRIBUTE_INTS},
        {"keep_aspect_ratio_policy", EPH_ATTRIBUTE_STRING}}},
      {"RotaryEmbedding",
       {{"interleaved", EPH_ATTRIBUTE_INT},
        {"num_heads", EPH_ATTRIBUTE_INT},
        {"rotary_embedding_dim", EPH_ATTRIBUTE_INT}}},
      {"Split", {{"num_outputs", EPH_ATTRIBUTE_INT}}},
      {"StringSplit", {{"delimiter", EPH_ATTRIBUTE_STRING}, {"maxsplit", EPH_ATTRIBUTE_INT}}},
      {"Swish", {{"alpha", EPH_ATTRIBUTE_FLOAT}}},
      {"TensorScatter", {{"axis", EPH_ATTRIBUTE_INT}, {"mode", EPH_ATTRIBUTE_STRING}}},
  };
  return kNewer;
}

}  // namespace

std::vector<OnnxAttribute> onnx_attributes(const std::string& op_type) {
  std::map<std::string, int32_t> kinds;
  for (int version = 1; version <= kOpsetOfOnnx; ++version) {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op_type, version);
    if (schema == nullptr) continue;
    for (const auto& [name, attribute] : schema->attributes()) kinds[name] = attribute.type;
  }
  std::vector<OnnxAttribute> attributes;
  for (const auto& [name, kind] : kinds) attributes.push_back({name, kind});
  const auto more = newer().find(op_type);
  if (more != newer().end()) {
    attributes.insert(attributes.end(), more->second.begin(), more->second.end());
  }
  return attributes;
}

}  // namespace ephost::test
