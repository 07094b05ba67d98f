// Inference functions of operators that are newer than the linked onnx; operators that only gained
// types use onnx's own. They process untrusted models and check everything. Internal to
// opset18_25_operators.cc.
#pragma once

#include <onnx/defs/shape_inference.h>

namespace ephost::onnx_io::infer {

void affine_grid(onnx::InferenceContext& context);
void attention(onnx::InferenceContext& context);
void broadcast_binary(onnx::InferenceContext& context);
void cast(onnx::InferenceContext& context);
void center_crop_pad(onnx::InferenceContext& context);
void column_to_image(onnx::InferenceContext& context);
void dequantize(onnx::InferenceContext& context);
void grid_sample(onnx::InferenceContext& context);
void image_decoder(onnx::InferenceContext& context);
void like_first(onnx::InferenceContext& context);
void optional_get_element(onnx::InferenceContext& context);
void optional_has_element(onnx::InferenceContext& context);
void pad(onnx::InferenceContext& context);
void quantize(onnx::InferenceContext& context);
void regex_full_match(onnx::InferenceContext& context);
void resize(onnx::InferenceContext& context);
void split(onnx::InferenceContext& context);
void string_split(onnx::InferenceContext& context);
void tree_ensemble(onnx::InferenceContext& context);

}  // namespace ephost::onnx_io::infer
