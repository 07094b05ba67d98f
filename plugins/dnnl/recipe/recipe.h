// recipe.h: a partition as the provider understands it: tensors of floats or quantised integers
// with static shapes, and operations on them in execution order. Lowering makes it from a graph,
// passes rewrite it, the context binary stores it, and the assembler turns it into oneDNN
// primitives.
//
// A recipe says nothing about layouts: they follow from it, the library and the machine.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dnnl/recipe/operators.h"

namespace ephost_dnnl {

using TensorId = uint32_t;

// Bounds that hold for every tensor; the library's kernels count elements with 32 bits.
inline constexpr std::size_t kMaxRank = 8;
inline constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

// Far more than any window parameter of a model; the library counts with int.
inline constexpr int64_t kMaxWindow = 1 << 20;

// More primitives than the library has for any operation.
inline constexpr uint8_t kMaxFailedPrimitives = 64;

struct Tensor {
  Dims dims;  // rank 1 ... kMaxRank, extents > 0
  ElementType type = ElementType::kF32;
};

enum class PostOpKind : uint8_t { kSum, kEltwise, kBinary };
constexpr PostOpKind last_of(PostOpKind) { return PostOpKind::kBinary; }

// Applied to the result of an operation before it is stored, in order.
struct PostOp {
  PostOpKind kind = PostOpKind::kEltwise;
  Eltwise eltwise;       // kEltwise
  Binary binary;         // kBinary: function(result, operand)
  TensorId operand = 0;  // kSum: has the result's dimensions; kBinary: broadcasts to them

  [[nodiscard]] bool has_operand() const { return kind != PostOpKind::kEltwise; }
};

// How an operation reads and writes integers. Unless the operation says otherwise, the elements of
// a float operand count as they are.
//
// Convolution and MatMul sum (data - data_zero_point) * (weights - weights_zero_point) exactly,
// multiply the sum by `scales` (one, or one for each channel or column of the output), run the
// post-ops and add output_zero_point. Their bias is float and in the units of the sum or of the
// scaled sum: see bias_is_scaled in library/quantization.h.
// Binary multiplies its inputs by the two `scales` first; its zero points are 0.
//
// The result is rounded half to even and saturated if the output has integers. NaN is quantised to
// `nan_result`, the zero point of the model, which post-ops may have added already.
struct Quantization {
  std::vector<float> scales;
  int64_t data_zero_point = 0, weights_zero_point = 0, output_zero_point = 0;
  int64_t nan_result = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor& visit) {
    visit(self.scales);
    visit(self.data_zero_point);
    visit(self.weights_zero_point);
    visit(self.output_zero_point);
    visit(self.nan_result);
  }
};

struct Op {
  Parameters parameters;
  std::vector<TensorId> inputs;
  TensorId output = 0;
  std::vector<PostOp> post_ops;
  std::optional<Quantization> quantization;  // Convolution, MatMul and Binary on integers
  // Number of the library's primitives for this operation that have failed, in order of preference;
  // the next one is used. At most kMaxFailedPrimitives.
  uint8_t failed_primitives = 0;
  std::string name;  // name of the ONNX node that it comes from, for messages
};

// The operator's name, e.g. "Convolution".
[[nodiscard]] std::string_view op_type(const Op& op);

// "Convolution 'layer1/conv'", for messages.
[[nodiscard]] std::string describe(const Op& op);

template <class T>
[[nodiscard]] const T* get_if(const Op& op) {
  return std::get_if<T>(&op.parameters);
}

// An input or output of the partition. Its shape may differ from the tensor's dimensions where ONNX
// has rank 0; the elements are the same.
struct Port {
  TensorId tensor = 0;
  Dims shape;
};

struct Recipe {
  std::vector<Tensor> tensors;
  std::vector<Port> inputs;
  std::vector<Port> outputs;        // a tensor may appear twice, and may be an input or a constant
  std::vector<TensorId> constants;  // ascending; their elements are stored elsewhere
  std::vector<Op> ops;              // every input of an op is defined before it

  [[nodiscard]] const Dims& dims(TensorId tensor) const { return tensors[tensor].dims; }
  [[nodiscard]] ElementType type(TensorId tensor) const { return tensors[tensor].type; }
};

// Size of an element in bytes.
[[nodiscard]] constexpr std::size_t size_of(ElementType type) { return is_integer(type) ? 1 : 4; }

// "float", "uint8" or "int8".
[[nodiscard]] std::string_view to_text(ElementType type);

// Number of elements. The dimensions obey the bounds above.
[[nodiscard]] int64_t element_count(const Dims& dims);

// "[1, 3, 224, 224]".
[[nodiscard]] std::string to_text(const Dims& dims);

// How often each tensor is read: by operations, their post-ops, and the partition's outputs.
[[nodiscard]] std::vector<uint32_t> count_uses(const Recipe& recipe);

}  // namespace ephost_dnnl
