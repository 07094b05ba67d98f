#include "host/onnx_io/opsets/opset18_25_operators.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "host/onnx_io/inference/corrected_inference.h"
#include "host/onnx_io/inference/opset18_25_inference.h"
#include "host/onnx_io/opsets/opset18_25.h"

namespace ephost::onnx_io {
namespace {

using onnx::AttributeProto;
using onnx::OpSchema;
using Names = std::initializer_list<const char*>;

// The opset on which the table is based.
constexpr int kBase = 17;

// What the linked onnx has more does not matter: of a definition made here, the provider that
// claims a node decides which types it supports.
constexpr std::array kElements = {"uint8",  "uint16", "uint32",    "uint64",    "int8",  "int16",
                                  "int32",  "int64",  "bfloat16",  "float16",   "float", "double",
                                  "string", "bool",   "complex64", "complex128"};

// One type for each element, e.g. "seq(tensor(float))" around "seq(tensor(" and "))".
std::vector<std::string> types_of_elements(std::string_view before, std::string_view after) {
  std::vector<std::string> types;
  for (const char* element : kElements) {
    types.push_back(std::string(before).append(element).append(after));
  }
  return types;
}

std::vector<std::string> tensor_types() { return types_of_elements("tensor(", ")"); }

// Builds a definition from scratch or from another one. All new inputs and outputs accept tensors
// of any type: the provider that claims a node decides which types it supports.
class Definition {
 public:
  Definition() {
    schema_.TypeConstraint("T", tensor_types(), "");
    schema_.TypeAndShapeInferenceFunction(&infer::like_first);
  }

  // Without the function body that `before` may have.
  explicit Definition(const OpSchema& before) {
    for (const auto& parameter : before.typeConstraintParams()) {
      schema_.TypeConstraint(parameter.type_param_str, parameter.allowed_type_strs, "");
    }
    for (const auto& [name, attribute] : before.attributes()) schema_.Attr(attribute);
    for (const auto& input : before.inputs()) add_input(input.GetName(), input);
    for (const auto& output : before.outputs()) add_output(output.GetName(), output);
    schema_.TypeAndShapeInferenceFunction(before.GetTypeAndShapeInferenceFunction());
    if (before.has_data_propagation_function()) {
      schema_.PartialDataPropagationFunction(before.GetDataPropagationFunction());
    }
  }

  Definition& inputs(Names names, OpSchema::FormalParameterOption option = OpSchema::Single) {
    for (const char* name : names) schema_.Input(inputs_++, name, "", "T", option);
    return *this;
  }
  Definition& optional_inputs(Names names) { return inputs(names, OpSchema::Optional); }
  Definition& outputs(Names names, OpSchema::FormalParameterOption option = OpSchema::Single) {
    for (const char* name : names) schema_.Output(outputs_++, name, "", "T", option);
    return *this;
  }
  Definition& optional_outputs(Names names) { return outputs(names, OpSchema::Optional); }

  Definition& integers(Names names) { return attributes(AttributeProto::INT, names); }
  Definition& lists(Names names) { return attributes(AttributeProto::INTS, names); }
  Definition& floats(Names names) { return attributes(AttributeProto::FLOAT, names); }
  Definition& strings(Names names) { return attributes(AttributeProto::STRING, names); }
  Definition& tensors(Names names) { return attributes(AttributeProto::TENSOR, names); }
  Definition& required(const char* name, AttributeProto::AttributeType type) {
    schema_.Attr(name, "", type, true);
    return *this;
  }

  Definition& inferred_by(onnx::InferenceFunction function) {
    schema_.TypeAndShapeInferenceFunction(std::move(function));
    return *this;
  }

  operator OpSchema() { return std::move(schema_); }  // NOLINT: ends a chain

 private:
  Definition& attributes(AttributeProto::AttributeType type, Names names) {
    for (const char* name : names) schema_.Attr(name, "", type, false);
    return *this;
  }
  void add_input(const std::string& name, const OpSchema::FormalParameter& like) {
    schema_.Input(inputs_++, name, "", like.GetTypeStr(), like.GetOption(), like.GetIsHomogeneous(),
                  like.GetMinArity());
  }
  void add_output(const std::string& name, const OpSchema::FormalParameter& like) {
    schema_.Output(outputs_++, name, "", like.GetTypeStr(), like.GetOption(),
                   like.GetIsHomogeneous(), like.GetMinArity());
  }

  OpSchema schema_;
  int inputs_ = 0;
  int outputs_ = 0;
};

const OpSchema& onnx_operator(const char* name) {
  return *all_operators().GetSchema(name, kBase, "");
}

OpSchema like_input(const OpSchema*) { return Definition().inputs({"X"}).outputs({"Y"}); }

OpSchema binary(const OpSchema*) {
  return Definition().inputs({"A", "B"}).outputs({"C"}).inferred_by(&infer::broadcast_binary);
}

// Since version 18 all reductions have their axes as an input, as ReduceSum has since 13.
OpSchema reduction(const OpSchema*) { return Definition(onnx_operator("ReduceSum")); }

OpSchema dilated_pool(const OpSchema* before) {
  return Definition(*before).lists({"dilations"}).inferred_by(&infer::pool);
}

OpSchema lp_pool_18(const OpSchema* before) {
  return Definition(dilated_pool(before)).integers({"ceil_mode"});
}

OpSchema pad_18(const OpSchema* before) {
  return Definition(*before).optional_inputs({"axes"}).inferred_by(&infer::pad);
}

OpSchema center_crop_pad(const OpSchema*) {
  return Definition()
      .inputs({"input_data", "shape"})
      .outputs({"output_data"})
      .lists({"axes"})
      .inferred_by(&infer::center_crop_pad);
}

OpSchema resize_18(const OpSchema* before) {
  return Definition(*before)
      .integers({"antialias"})
      .lists({"axes"})
      .strings({"keep_aspect_ratio_policy"})
      .inferred_by(&infer::resize);
}

OpSchema split_18(const OpSchema* before) {
  return Definition(*before).integers({"num_outputs"}).inferred_by(&infer::split);
}

OpSchema column_to_image(const OpSchema*) {
  return Definition()
      .inputs({"input", "image_shape", "block_shape"})
      .outputs({"output"})
      .lists({"dilations", "pads", "strides"})
      .inferred_by(&infer::column_to_image);
}

// What an optional may hold, and the optional itself.
std::vector<std::string> optional_or_content() {
  std::vector<std::string> types = tensor_types();
  for (const auto& [before, after] :
       {std::pair("seq(tensor(", "))"), std::pair("optional(tensor(", "))"),
        std::pair("optional(seq(tensor(", ")))")}) {
    const std::vector<std::string> more = types_of_elements(before, after);
    types.insert(types.end(), more.begin(), more.end());
  }
  return types;
}

OpSchema optional_get_element(const OpSchema*) {
  OpSchema schema;
  schema.TypeConstraint("O", optional_or_content(), "")
      .Input(0, "input", "", "O")
      .Output(0, "output", "", "O")
      .TypeAndShapeInferenceFunction(&infer::optional_get_element);
  return schema;
}

OpSchema optional_has_element(const OpSchema*) {
  OpSchema schema;
  schema.TypeConstraint("O", optional_or_content(), "")
      .Input(0, "input", "", "O", OpSchema::Optional)
      .Output(0, "output", "", "tensor(bool)")
      .TypeAndShapeInferenceFunction(&infer::optional_has_element);
  return schema;
}

OpSchema group_normalization_18(const OpSchema*) {
  return Definition()
      .inputs({"X", "scale", "bias"})
      .outputs({"Y"})
      .floats({"epsilon"})
      .required("num_groups", AttributeProto::INT);
}

OpSchema group_normalization_21(const OpSchema* before) {
  return Definition(*before).integers({"stash_type"});
}

OpSchema cast_like_19(const OpSchema* before) { return Definition(*before).integers({"saturate"}); }
OpSchema cast_19(const OpSchema* before) {
  return Definition(cast_like_19(before)).inferred_by(&infer::cast);
}
OpSchema cast_24(const OpSchema* before) { return Definition(*before).strings({"round_mode"}); }

OpSchema deform_conv(const OpSchema*) {
  return Definition()
      .inputs({"X", "W", "offset"})
      .optional_inputs({"B", "mask"})
      .outputs({"Y"})
      .lists({"dilations", "kernel_shape", "pads", "strides"})
      .integers({"group", "offset_group"})
      .inferred_by(onnx_operator("Conv").GetTypeAndShapeInferenceFunction());
}

OpSchema quantize_19(const OpSchema* before) {
  return Definition(*before).integers({"saturate"}).inferred_by(&infer::quantize);
}
OpSchema quantize_21(const OpSchema* before) {
  return Definition(*before).integers({"block_size", "output_dtype"});
}
OpSchema quantize_23(const OpSchema* before) { return Definition(*before).integers({"precision"}); }
OpSchema dequantize_19(const OpSchema* before) {
  return Definition(*before).inferred_by(&infer::dequantize);
}
OpSchema dequantize_21(const OpSchema* before) {
  return Definition(*before).integers({"block_size"});
}
OpSchema dequantize_23(const OpSchema* before) {
  return Definition(*before).integers({"output_dtype"});
}

OpSchema affine_grid(const OpSchema*) {
  return Definition()
      .inputs({"theta", "size"})
      .outputs({"grid"})
      .integers({"align_corners"})
      .inferred_by(&infer::affine_grid);
}

// The axis used to be an attribute.
OpSchema dft_20(const OpSchema*) {
  return Definition()
      .inputs({"input"})
      .optional_inputs({"dft_length", "axis"})
      .outputs({"output"})
      .integers({"inverse", "onesided"})
      .inferred_by(&infer::dft_20);
}

OpSchema gelu(const OpSchema*) {
  return Definition().inputs({"X"}).outputs({"Y"}).strings({"approximate"});
}

OpSchema grid_sample_20(const OpSchema* before) {
  return Definition(*before).inferred_by(&infer::grid_sample);
}

OpSchema image_decoder(const OpSchema*) {
  return Definition()
      .inputs({"encoded_stream"})
      .outputs({"image"})
      .strings({"pixel_format"})
      .inferred_by(&infer::image_decoder);
}

OpSchema regex_full_match(const OpSchema*) {
  return Definition()
      .inputs({"X"})
      .outputs({"Y"})
      .strings({"pattern"})
      .inferred_by(&infer::regex_full_match);
}

OpSchema string_split(const OpSchema*) {
  return Definition()
      .inputs({"X"})
      .outputs({"Y", "Z"})
      .strings({"delimiter"})
      .integers({"maxsplit"})
      .inferred_by(&infer::string_split);
}

OpSchema attention_23(const OpSchema*) {
  return Definition()
      .inputs({"Q", "K", "V"})
      .optional_inputs({"attn_mask", "past_key", "past_value"})
      .outputs({"Y"})
      .optional_outputs({"present_key", "present_value", "qk_matmul_output"})
      .integers({"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode",
                 "softmax_precision"})
      .floats({"scale", "softcap"})
      .inferred_by(&infer::attention);
}
OpSchema attention_24(const OpSchema* before) {
  return Definition(*before).optional_inputs({"nonpad_kv_seqlen"});
}

OpSchema rms_normalization(const OpSchema*) {
  return Definition()
      .inputs({"X", "scale"})
      .outputs({"Y"})
      .integers({"axis", "stash_type"})
      .floats({"epsilon"});
}

OpSchema rotary_embedding(const OpSchema*) {
  return Definition()
      .inputs({"X", "cos_cache", "sin_cache"})
      .optional_inputs({"position_ids"})
      .outputs({"Y"})
      .integers({"interleaved", "num_heads", "rotary_embedding_dim"});
}

OpSchema swish(const OpSchema*) {
  return Definition().inputs({"X"}).outputs({"Y"}).floats({"alpha"});
}

OpSchema tensor_scatter(const OpSchema*) {
  return Definition()
      .inputs({"past_cache", "update"})
      .optional_inputs({"write_indices"})
      .outputs({"present_cache"})
      .integers({"axis"})
      .strings({"mode"});
}

OpSchema label_encoder_4(const OpSchema* before) {
  return Definition(*before).tensors({"default_tensor", "keys_tensor", "values_tensor"});
}

OpSchema tree_ensemble(const OpSchema*) {
  return Definition()
      .inputs({"X"})
      .outputs({"Y"})
      .integers({"aggregate_function", "n_targets", "post_transform"})
      .lists({"leaf_targetids", "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
              "nodes_missing_value_tracks_true", "nodes_trueleafs", "nodes_truenodeids",
              "tree_roots"})
      .tensors(
          {"leaf_weights", "membership_values", "nodes_hitrates", "nodes_modes", "nodes_splits"})
      .inferred_by(&infer::tree_ensemble);
}

OpSchema deprecated(const OpSchema* before) {
  OpSchema schema = Definition(*before);
  schema.Deprecate();
  return schema;
}

// Several operators that changed in the same way.
struct Change {
  int since;
  std::string_view op_types;  // separated by spaces
  MakeDefinition make = nullptr;
};

constexpr Change kOnnx[] = {
    {18, "BitwiseAnd BitwiseOr BitwiseXor", &binary},
    {18, "BitwiseNot Mish", &like_input},
    {18, "CenterCropPad", &center_crop_pad},
    {18, "Col2Im", &column_to_image},
    {18, "GroupNormalization", &group_normalization_18},
    {18, "LpPool", &lp_pool_18},
    {18, "OptionalGetElement", &optional_get_element},
    {18, "OptionalHasElement", &optional_has_element},
    {18, "Pad", &pad_18},
    {18,
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd ReduceSumSquare",
     &reduction},
    {18, "Resize", &resize_18},
    {18, "Split", &split_18},
    {18, "ScatterElements ScatterND"},
    {19, "AveragePool", &dilated_pool},
    {19, "Cast", &cast_19},
    {19, "CastLike", &cast_like_19},
    {19, "DeformConv", &deform_conv},
    {19, "DequantizeLinear", &dequantize_19},
    {19, "QuantizeLinear", &quantize_19},
    {19, "Constant Equal Identity If Loop Pad Reshape Resize Scan Shape Size"},
    {20, "AffineGrid", &affine_grid},
    {20, "DFT", &dft_20},
    {20, "Gelu", &gelu},
    {20, "GridSample", &grid_sample_20},
    {20, "ImageDecoder", &image_decoder},
    {20, "RegexFullMatch", &regex_full_match},
    {20, "StringConcat", &binary},
    {20, "StringSplit", &string_split},
    {20, "ConstantOfShape IsInf IsNaN ReduceMax ReduceMin"},
    {21, "DequantizeLinear", &dequantize_21},
    {21, "GroupNormalization", &group_normalization_21},
    {21, "QuantizeLinear", &quantize_21},
    {21,
     "Cast CastLike Constant ConstantOfShape Flatten Identity If Loop Pad "
     "QLinearMatMul Reshape Scan Shape Size Squeeze Transpose Unsqueeze"},
    {22,
     "Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos "
     "Cosh DeformConv Det Dropout Elu EyeLike GRU GlobalAveragePool GlobalLpPool "
     "GlobalMaxPool GridSample HardSigmoid HardSwish InstanceNormalization LSTM "
     "LpNormalization LpPool MaxPool MaxRoiPool MaxUnpool Mish Multinomial "
     "NegativeLogLikelihoodLoss RNN RandomNormal RandomNormalLike RandomUniform "
     "RandomUniformLike RoiAlign Round Selu Sin Sinh Softplus Softsign Tan "
     "ThresholdedRelu"},
    {23, "Attention", &attention_23},
    {23, "DequantizeLinear", &dequantize_23},
    {23, "QuantizeLinear", &quantize_23},
    {23, "RMSNormalization", &rms_normalization},
    {23, "RotaryEmbedding", &rotary_embedding},
    {23,
     "Cast CastLike Constant ConstantOfShape Flatten Identity If Loop Pad Reshape Scan "
     "Shape Size Squeeze Transpose Unsqueeze"},
    {24, "Attention", &attention_24},
    {24, "Cast CastLike", &cast_24},
    {24, "Swish", &swish},
    {24, "TensorScatter", &tensor_scatter},
    {24,
     "Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
     "QuantizeLinear Reshape Scan Shape Size SplitToSequence Squeeze TopK Transpose "
     "Unsqueeze"},
    {25,
     "Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze"},
};

constexpr Change kMl[] = {
    {4, "LabelEncoder", &label_encoder_4},
    {5, "TreeEnsemble", &tree_ensemble},
    {5, "TreeEnsembleClassifier TreeEnsembleRegressor", &deprecated},
};

std::vector<Revision> revisions_of_changes(std::span<const Change> changes) {
  std::vector<Revision> revisions;
  for (const Change& change : changes) {
    std::string_view rest = change.op_types;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      revisions.push_back({change.since, rest.substr(0, end), change.make});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return revisions;
}

}  // namespace

std::span<const Revision> onnx_revisions_after_17() {
  static const std::vector<Revision> kRevisions = revisions_of_changes(kOnnx);
  return kRevisions;
}

std::span<const Revision> ml_revisions_after_3() {
  static const std::vector<Revision> kRevisions = revisions_of_changes(kMl);
  return kRevisions;
}

}  // namespace ephost::onnx_io
