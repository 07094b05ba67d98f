#include "host/onnx_io/opsets/onnxruntime_operators.h"

#include <onnx/defs/shape_inference.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ephost::onnx_io {
namespace {

using onnx::AttributeProto;
using onnx::InferenceContext;
using onnx::OpSchema;

// The statistics have an extent of 1 from the axis on.
void infer_simplified_layer_normalization(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 1, 0);
  const bool has_statistics = context.getNumOutputs() > 1;
  if (has_statistics) {
    const AttributeProto* stash = context.getAttribute("stash_type");
    const int64_t type = stash == nullptr ? int64_t{onnx::TensorProto::FLOAT} : stash->i();
    onnx::updateOutputElemType(context, 1, static_cast<int32_t>(type));
  }
  if (!onnx::hasNInputShapes(context, 1)) return;
  const onnx::TensorShapeProto& shape = onnx::getInputShape(context, 0);
  onnx::propagateShapeFromInputToOutput(context, 0, 0);
  const AttributeProto* attribute = context.getAttribute("axis");
  int64_t axis = attribute == nullptr ? -1 : attribute->i();
  const int64_t rank = shape.dim_size();
  if (axis < -rank || axis >= rank) fail_shape_inference("axis ", axis, " is out of range");
  if (axis < 0) axis += rank;
  if (!has_statistics) return;
  onnx::TensorShapeProto& statistics = *onnx::getOutputShape(context, 1);
  statistics = shape;
  for (int64_t d = axis; d < rank; ++d)
    statistics.mutable_dim(static_cast<int>(d))->set_dim_value(1);
}

OpSchema simplified_layer_normalization() {
  const std::vector<std::string> floats = {"tensor(float16)", "tensor(float)", "tensor(double)",
                                           "tensor(bfloat16)"};
  OpSchema schema;
  schema.SetName("SimplifiedLayerNormalization")
      .SetDomain("")
      .SinceVersion(1)
      .Attr("axis", "the first dimension that is normalised", AttributeProto::INT, int64_t{-1})
      .Attr("epsilon", "added to the mean square", AttributeProto::FLOAT, 1e-5F)
      .Attr("stash_type", "element type of the second output", AttributeProto::INT, int64_t{1})
      .Input(0, "X", "", "T")
      .Input(1, "scale", "", "V")
      .Output(0, "Y", "", "V")
      .Output(1, "inv_std_var", "one over the root mean square", "U", OpSchema::Optional)
      .TypeConstraint("T", floats, "")
      .TypeConstraint("V", floats, "")
      .TypeConstraint("U", {"tensor(float)", "tensor(double)"}, "")
      .TypeAndShapeInferenceFunction(&infer_simplified_layer_normalization);
  schema.Finalize();
  return schema;
}

}  // namespace

const onnx::OpSchema* find_onnxruntime_operator(std::string_view op_type) {
  if (op_type != "SimplifiedLayerNormalization") return nullptr;
  static const OpSchema schema = simplified_layer_normalization();
  return &schema;
}

}  // namespace ephost::onnx_io
