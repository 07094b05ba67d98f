// operators.h: the operations of recipes, as plain values. Semantics are ONNX's, with padding
// already explicit and shapes static; nothing here knows ONNX nodes or oneDNN.
//
// Each parameter struct lists its members in `fields`, the single source for encoding, decoding and
// comparison. A visitor is called with each member in turn.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace ephost_dnnl {

using Dims = std::vector<int64_t>;

enum class ElementType : uint8_t { kF32, kU8, kS8 };
constexpr ElementType last_of(ElementType) { return ElementType::kS8; }
[[nodiscard]] constexpr bool is_integer(ElementType type) { return type != ElementType::kF32; }

enum class EltwiseFunction : uint8_t {
  kRelu,      // x < 0 ? alpha * x : x
  kElu,       // x < 0 ? alpha * (exp(x) - 1) : x
  kTanh,      //
  kLogistic,  // 1 / (1 + exp(-x))
  kExp,
  kLog,
  kSqrt,
  kSquare,
  kAbs,
  kClip,       // min(max(x, alpha), beta)
  kLinear,     // alpha * x + beta
  kPow,        // alpha * x^beta
  kGeluErf,    // x / 2 * (1 + erf(x / sqrt 2))
  kHardSwish,  // x * clip(x / 6 + 1 / 2, 0, 1)
  kGeluTanh,   // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
  kSwish       // x / (1 + exp(-alpha * x))
};
constexpr EltwiseFunction last_of(EltwiseFunction) { return EltwiseFunction::kSwish; }

enum class BinaryFunction : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };
constexpr BinaryFunction last_of(BinaryFunction) { return BinaryFunction::kMin; }

enum class PoolingKind : uint8_t { kMax, kAverageIncludePadding, kAverageExcludePadding };
constexpr PoolingKind last_of(PoolingKind) { return PoolingKind::kAverageExcludePadding; }

enum class ReductionKind : uint8_t { kMean, kSum, kMax, kMin, kProduct };
constexpr ReductionKind last_of(ReductionKind) { return ReductionKind::kProduct; }

// Inputs: data [N, C, spatial...], weights [M, C / groups, spatial...], optional bias [M].
struct Convolution {
  Dims strides, dilations, pads_begin,
      pads_end;  // one for each spatial dimension; dilation 1: none
  int64_t groups = 1;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.strides);
    visit(self.dilations);
    visit(self.pads_begin);
    visit(self.pads_end);
    visit(self.groups);
  }
};

// Inputs: a [..., M, K], b [K, N] or [..., K, N] of a's rank with batch dimensions that broadcast,
// optional bias [N].
struct MatMul {
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&) {}
};

// Input: data [N, C, spatial...].
struct Pooling {
  PoolingKind kind = PoolingKind::kMax;
  Dims kernel, strides, dilations, pads_begin, pads_end;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.kind);
    visit(self.kernel);
    visit(self.strides);
    visit(self.dilations);
    visit(self.pads_begin);
    visit(self.pads_end);
  }
};

// Inputs: data [N, C, ...], scale, bias, mean, variance [C].
struct BatchNormalization {
  float epsilon = 1e-5F;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.epsilon);
  }
};

// Normalizes over the last dimension. Inputs: data [..., N], scale [N], optional bias [N].
struct LayerNormalization {
  float epsilon = 1e-5F;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.epsilon);
  }
};

// Normalizes across channels. Input: data [N, C, ...].
struct Lrn {
  int64_t size = 5;  // odd
  float alpha = 1e-4F, beta = 0.75F, bias = 1.0F;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.size);
    visit(self.alpha);
    visit(self.beta);
    visit(self.bias);
  }
};

struct Softmax {
  int64_t axis = 0;
  uint8_t logarithm = 0;  // 1: LogSoftmax

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.axis);
    visit(self.logarithm);
  }
};

struct Eltwise {
  EltwiseFunction function = EltwiseFunction::kRelu;
  float alpha = 0, beta = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.function);
    visit(self.alpha);
    visit(self.beta);
  }
};

// Inputs: a and b of one rank; the output has the dimensions of a, and b broadcasts to them.
struct Binary {
  BinaryFunction function = BinaryFunction::kAdd;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.function);
  }
};

// Keeps the reduced dimensions with extent 1.
struct Reduction {
  ReductionKind kind = ReductionKind::kMean;
  Dims axes;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.kind);
    visit(self.axes);
  }
};

struct Concat {
  int64_t axis = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.axis);
  }
};

// The same elements in the same order, with the dimensions of the output tensor.
struct Reshape {
  Dims dims;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.dims);
  }
};

// Output dimension i is input dimension permutation[i].
struct Transpose {
  Dims permutation;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.permutation);
  }
};

// Quantises, dequantises or requantises: an element x becomes
//   (x - input_zero_point) * input_scale / output_scale + output_zero_point,
// which is rounded half to even and saturated if the output has integers. Scales are positive; a
// side that is float has scale 1 and zero point 0.
struct Conversion {
  ElementType type = ElementType::kF32;  // of the output
  float input_scale = 1, output_scale = 1;
  int64_t input_zero_point = 0, output_zero_point = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.type);
    visit(self.input_scale);
    visit(self.output_scale);
    visit(self.input_zero_point);
    visit(self.output_zero_point);
  }
};

// The order is part of the context format: only append.
using Parameters =
    std::variant<Convolution, MatMul, Pooling, BatchNormalization, LayerNormalization, Lrn, Softmax,
                 Eltwise, Binary, Reduction, Concat, Reshape, Transpose, Conversion>;

}  // namespace ephost_dnnl
