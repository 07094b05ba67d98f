// Models of a few nodes each that work on many elements, so that runs take long enough to overlap
// and to be cancelled. Their first extent may be open.
#pragma once

#include <onnx/onnx_pb.h>

#include <array>
#include <cstdint>

namespace ephost::conformance {

enum class WideKind {
  kUnary,        // a chain of Relu, Neg, Abs, Sigmoid, Tanh
  kAffine,       // a chain of Mul and Add with constants of one element and of one for each column
  kBinary,       // Add, Mul and Sub of two inputs
  kProduct,      // MatMul with constants, and Relu
  kConvolution,  // Conv of four channels, and Relu
};
inline constexpr std::array kWideKinds = {WideKind::kUnary, WideKind::kAffine, WideKind::kBinary,
                                          WideKind::kProduct, WideKind::kConvolution};

struct WideShape {
  int64_t rows = 64;  // images of a convolution
  int64_t columns = 512;
  bool is_open = false;  // the rows are the symbol "rows"
  int repeats = 1;       // how often the chain is repeated
};

// The inputs are tensors of floats [rows,columns], or [rows,4,16,columns/16] of a convolution,
// whose columns are a multiple of 16. The same arguments make the same model.
[[nodiscard]] onnx::ModelProto wide_model(WideKind kind, const WideShape& shape);

}  // namespace ephost::conformance
