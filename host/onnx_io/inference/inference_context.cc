#include "host/onnx_io/inference/inference_context.h"

#include <cstring>
#include <utility>

namespace ephost::onnx_io {
namespace {

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

template <class Element>
onnx::TensorShapeProto as_shape(const std::string& raw) {
  onnx::TensorShapeProto shape;
  for (size_t i = 0; i + sizeof(Element) <= raw.size(); i += sizeof(Element)) {
    Element element{};
    std::memcpy(&element, raw.data() + i, sizeof(element));
    shape.add_dim()->set_dim_value(element);
  }
  return shape;
}

}  // namespace

const onnx::AttributeProto* TypeContext::getAttribute(const std::string& name) const {
  return find_attribute(node_, name);
}

onnx::GraphInferencer* TypeContext::getGraphAttributeInferencer(const std::string& name) {
  std::unique_ptr<onnx::GraphInferencer>& inferencer = graph_inferencers_[name];
  if (!inferencer) inferencer = inferencer_(name);
  return inferencer.get();
}

const onnx::AttributeProto* ShapeDataContext::getAttribute(const std::string& name) const {
  return find_attribute(node_, name);
}

// Empty lists are hidden: onnx's arithmetic reads the first element of the shorter one.
const onnx::TensorShapeProto* ShapeDataContext::getInputData(size_t index) {
  if (const onnx::TensorShapeProto* known = checked_at(facts_.shape_data, index)) return known;
  const onnx::TensorProto* constant = checked_at(facts_.constants, index);
  if (!constant || constant->dims_size() > 1 || constant->raw_data().empty()) return nullptr;
  if (const auto known = from_constants_.find(index); known != from_constants_.end()) {
    return &known->second;
  }
  if (constant->data_type() == onnx::TensorProto::INT64) {
    return &(from_constants_[index] = as_shape<int64_t>(constant->raw_data()));
  }
  if (constant->data_type() == onnx::TensorProto::INT32) {
    return &(from_constants_[index] = as_shape<int32_t>(constant->raw_data()));
  }
  return nullptr;
}

void ShapeDataContext::addOutputData(size_t index, onnx::TensorShapeProto&& data) {
  if (data.dim_size() == 0 || data.dim_size() > kMaxShapeData) return;
  checked_at(found_, index) = std::make_unique<onnx::TensorShapeProto>(std::move(data));
}

}  // namespace ephost::onnx_io
