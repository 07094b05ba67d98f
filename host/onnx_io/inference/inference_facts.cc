#include "host/onnx_io/inference/inference_facts.h"

#include "host/base/format.h"

namespace ephost::onnx_io::infer {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;

void fail(const std::string& message) { throw onnx::InferenceError(message); }

const TensorShapeProto* input_shape(InferenceContext& context, size_t input) {
  if (!onnx::hasInputShape(context, input)) return nullptr;
  const onnx::TypeProto& type = *context.getInputType(input);
  return type.has_tensor_type() ? &type.tensor_type().shape() : nullptr;
}

std::optional<int64_t> extent(const TensorShapeProto& shape, int d) {
  if (d < 0 || d >= shape.dim_size() || !shape.dim(d).has_dim_value()) return std::nullopt;
  return shape.dim(d).dim_value();
}

int32_t element_type(InferenceContext& context, size_t input) {
  if (input >= context.getNumInputs() || context.getInputType(input) == nullptr) return 0;
  return context.getInputType(input)->tensor_type().elem_type();
}

void set_element_type(InferenceContext& context, size_t output, int32_t type) {
  if (output >= context.getNumOutputs() || type == TensorProto::UNDEFINED) return;
  context.getOutputType(output)->mutable_tensor_type()->set_elem_type(type);
}

TensorShapeProto& start_shape(InferenceContext& context, size_t output) {
  return *context.getOutputType(output)->mutable_tensor_type()->mutable_shape();
}

void add_dim(TensorShapeProto& shape, std::optional<int64_t> known) {
  TensorShapeProto::Dimension& dim = *shape.add_dim();
  if (known) dim.set_dim_value(*known);
}

const TensorProto* constant(InferenceContext& context, size_t input) {
  return input < context.getNumInputs() ? context.getInputData(input) : nullptr;
}

std::optional<Numbers> integers(InferenceContext& context, size_t input) {
  const TensorProto* known = constant(context, input);
  if (known == nullptr) return std::nullopt;
  if (known->data_type() == TensorProto::INT64) return elements<int64_t>(*known);
  if (known->data_type() != TensorProto::INT32) return std::nullopt;
  const std::vector<int32_t> narrow = elements<int32_t>(*known);
  return Numbers(narrow.begin(), narrow.end());
}

std::optional<Numbers> attribute(InferenceContext& context, const char* name) {
  const onnx::AttributeProto* found = context.getAttribute(name);
  if (found == nullptr) return std::nullopt;
  return Numbers(found->ints().begin(), found->ints().end());
}

bool is_given(InferenceContext& context, size_t input) {
  return input < context.getNumInputs() && context.getInputType(input) != nullptr;
}

int checked_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    fail(formatted("axis {} is out of range for rank {}", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> checked_axes(const std::optional<Numbers>& axes, int rank) {
  std::vector<int> checked;
  if (axes) {
    for (const int64_t axis : *axes) checked.push_back(checked_axis(axis, rank));
  } else {
    for (int axis = 0; axis < rank; ++axis) checked.push_back(axis);
  }
  return checked;
}

void expect_size(const Numbers& numbers, size_t size, const char* what) {
  if (numbers.size() == size) return;
  fail(formatted("{} has {} values instead of {}", what, numbers.size(), size));
}

void set_shape_with(InferenceContext& context, const TensorShapeProto& shape,
                    const std::vector<int>& axes,
                    const std::vector<std::optional<int64_t>>& extents) {
  TensorShapeProto changed = shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    TensorShapeProto::Dimension& dim = *changed.mutable_dim(axes[i]);
    dim.Clear();
    if (extents[i]) dim.set_dim_value(*extents[i]);
  }
  start_shape(context, 0) = changed;
}

}  // namespace ephost::onnx_io::infer
