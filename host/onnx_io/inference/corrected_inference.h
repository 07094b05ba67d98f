// Inference functions that take the place of onnx's own, which are wrong in some version of onnx:
// opsets/opset18_25.cc says for which operators. They process untrusted models and check
// everything.
#pragma once

#include <onnx/defs/shape_inference.h>

namespace ephost::onnx_io::infer {

// ---- window_inference.cc ----
void convolution(onnx::InferenceContext& context);
void integer_convolution(onnx::InferenceContext& context);
void pool(onnx::InferenceContext& context);
void quantized_convolution(onnx::InferenceContext& context);
void transposed_convolution(onnx::InferenceContext& context);

// ---- corrected_inference.cc ----
void broadcast_all(onnx::InferenceContext& context);
// The axis is an attribute before version 20 and an input from then on.
void dft_17(onnx::InferenceContext& context);
void dft_20(onnx::InferenceContext& context);
void gemm(onnx::InferenceContext& context);
void one_hot_encoder(onnx::InferenceContext& context);
void slice(onnx::InferenceContext& context);
void split_to_sequence(onnx::InferenceContext& context);
void squeeze(onnx::InferenceContext& context);
void stft(onnx::InferenceContext& context);
void transpose(onnx::InferenceContext& context);
void unsqueeze(onnx::InferenceContext& context);

}  // namespace ephost::onnx_io::infer
