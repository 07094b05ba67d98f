// Facts about a node and its outputs that the host's own inference functions read and write;
// anything uncertain counts as unknown. Internal to opset18_25_inference.cc.
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

// Whether the input is present, known or not.
[[nodiscard]] bool is_given(onnx::InferenceContext& context, size_t input);

// The shape of a tensor; null if the input is omitted or its rank is unknown.
[[nodiscard]] const onnx::TensorShapeProto* input_shape(onnx::InferenceContext& context,
                                                        size_t input);
// UNDEFINED if it is unknown.
[[nodiscard]] int32_t element_type(onnx::InferenceContext& context, size_t input);

[[nodiscard]] std::optional<int64_t> extent(const onnx::TensorShapeProto& shape, int d);

// Null if the input is not a constant.
[[nodiscard]] const onnx::TensorProto* constant(onnx::InferenceContext& context, size_t input);

// The integers of a constant.
[[nodiscard]] std::optional<Numbers> integers(onnx::InferenceContext& context, size_t input);

// The integers of an attribute; nothing if it is omitted.
[[nodiscard]] std::optional<Numbers> attribute(onnx::InferenceContext& context, const char* name);

template <class Element>
[[nodiscard]] std::vector<Element> elements(const onnx::TensorProto& constant) {
  const std::string& raw = constant.raw_data();
  std::vector<Element> values(raw.size() / sizeof(Element));
  if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(Element));
  return values;
}

// Axes counted from the front. Fails if they are out of range; returns all axes if none are given.
[[nodiscard]] int checked_axis(int64_t axis, int rank);
[[nodiscard]] std::vector<int> checked_axes(const std::optional<Numbers>& axes, int rank);

// Fails if the list has a different length.
void expect_size(const Numbers& numbers, size_t size, const char* what);

// Does nothing for an omitted output or an unknown type.
void set_element_type(onnx::InferenceContext& context, size_t output, int32_t type);

// Makes the output a tensor of known rank: 0, plus one for each dimension that is added.
onnx::TensorShapeProto& start_shape(onnx::InferenceContext& context, size_t output);
void add_dim(onnx::TensorShapeProto& shape, std::optional<int64_t> known);

// Gives output 0 this shape, except for these extents at these axes.
void set_shape_with(onnx::InferenceContext& context, const onnx::TensorShapeProto& shape,
                    const std::vector<int>& axes,
                    const std::vector<std::optional<int64_t>>& extents);

}  // namespace ephost::onnx_io::infer
