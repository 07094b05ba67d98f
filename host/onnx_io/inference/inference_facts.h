// What inference functions of our own read of a node and write about its outputs, with every doubt
// answered by "not known". Internal to opset18_25_inference.cc.
#pragma once

#include <onnx/defs/shape_inference.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace ephost::onnx_io::infer {

using Numbers = std::vector<int64_t>;

// Ends the inference of the node; its outputs stay as they are.
[[noreturn]] void fail(const std::string& message);

// Whether the input is there, known or not.
[[nodiscard]] bool is_given(onnx::InferenceContext& context, size_t input);

// Of a tensor; null where the input is left out or its rank isn't known.
[[nodiscard]] const onnx::TensorShapeProto* input_shape(onnx::InferenceContext& context,
                                                        size_t input);
// UNDEFINED where it isn't known.
[[nodiscard]] int32_t element_type(onnx::InferenceContext& context, size_t input);

[[nodiscard]] std::optional<int64_t> extent(const onnx::TensorShapeProto& shape, int d);

// Null where the input is no constant.
[[nodiscard]] const onnx::TensorProto* constant(onnx::InferenceContext& context, size_t input);

// The integers of a constant.
[[nodiscard]] std::optional<Numbers> integers(onnx::InferenceContext& context, size_t input);

// The integers of an attribute; nothing where it is left out.
[[nodiscard]] std::optional<Numbers> attribute(onnx::InferenceContext& context, const char* name);

template <class Element>
[[nodiscard]] std::vector<Element> elements(const onnx::TensorProto& constant) {
  const std::string& raw = constant.raw_data();
  std::vector<Element> values(raw.size() / sizeof(Element));
  if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(Element));
  return values;
}

// Counted from the front. Fails where they are out of range; all axes where none are given.
[[nodiscard]] int checked_axis(int64_t axis, int rank);
[[nodiscard]] std::vector<int> checked_axes(const std::optional<Numbers>& axes, int rank);

// Fails where the list is of another length.
void expect_size(const Numbers& numbers, size_t size, const char* what);

// Nothing happens for an output that is left out or for an unknown type.
void set_element_type(onnx::InferenceContext& context, size_t output, int32_t type);

// The output is a tensor of known rank then: of none but for the dimensions that are added.
onnx::TensorShapeProto& start_shape(onnx::InferenceContext& context, size_t output);
void add_dim(onnx::TensorShapeProto& shape, std::optional<int64_t> known);

// Output 0 has this shape but for these extents at these axes.
void set_shape_with(onnx::InferenceContext& context, const onnx::TensorShapeProto& shape,
                    const std::vector<int>& axes,
                    const std::vector<std::optional<int64_t>>& extents);

}  // namespace ephost::onnx_io::infer
