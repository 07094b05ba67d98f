#include "host/onnx_io/import/value_types.h"

#include <onnx/onnx_pb.h>

#include <memory>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/graph/checks.h"

namespace ephost::onnx_io {
namespace {

using graph::ElementType;
using graph::invalid_graph;
using graph::Shape;
using graph::ValueKind;
using graph::ValueType;

constexpr uint32_t kMaxTypeNesting = 16;

Result<Shape> import_shape(const onnx::TensorShapeProto& proto, DimSymbols& symbols) {
  Shape shape;
  shape.reserve(static_cast<size_t>(proto.dim_size()));
  for (const onnx::TensorShapeProto::Dimension& dim : proto.dim()) {
    if (dim.has_dim_param()) {
      shape.push_back(symbols.dim(dim.dim_param()));
    } else if (dim.has_dim_value()) {
      if (dim.dim_value() < -1) {
        return invalid_graph(formatted("a shape has the dimension {}", dim.dim_value()));
      }
      shape.push_back(dim.dim_value() < 0 ? graph::kUnknownDim : dim.dim_value());
    } else {
      shape.push_back(graph::kUnknownDim);
    }
  }
  return shape;
}

Result<ElementType> import_element(int32_t number, bool may_be_open) {
  const auto element = static_cast<ElementType>(number);
  if (graph::element_bits(element) > 0 || element == ElementType::kString) return element;
  if (element == ElementType::kUndefined && may_be_open) return element;
  return invalid_graph(formatted("the element type is {}, which does not exist", number));
}

// TypeProto.Tensor and TypeProto.SparseTensor have the same fields.
template <class TensorType>
Result<ValueType> import_tensor(ValueKind kind, const TensorType& proto, DimSymbols& symbols) {
  ValueType type{.kind = kind};
  EPHOST_ASSIGN_OR_RETURN(type.element, import_element(proto.elem_type(), true));
  if (proto.has_shape()) {
    EPHOST_ASSIGN_OR_RETURN(type.shape, import_shape(proto.shape(), symbols));
  }
  return type;
}

Result<ValueType> import_nested(const onnx::TypeProto& proto, DimSymbols& symbols, uint32_t depth);

Result<ValueType> import_container(ValueType type, const onnx::TypeProto& inner,
                                   DimSymbols& symbols, uint32_t depth) {
  EPHOST_ASSIGN_OR_RETURN(ValueType nested, import_nested(inner, symbols, depth + 1));
  type.nested = std::make_shared<const ValueType>(std::move(nested));
  return type;
}

Result<ValueType> import_nested(const onnx::TypeProto& proto, DimSymbols& symbols, uint32_t depth) {
  if (depth > kMaxTypeNesting) return invalid_graph("a type is nested too deeply");
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      return import_tensor(ValueKind::kTensor, proto.tensor_type(), symbols);
    case onnx::TypeProto::kSparseTensorType:
      return import_tensor(ValueKind::kSparseTensor, proto.sparse_tensor_type(), symbols);
    case onnx::TypeProto::kSequenceType:
      return import_container({.kind = ValueKind::kSequence}, proto.sequence_type().elem_type(),
                              symbols, depth);
    case onnx::TypeProto::kOptionalType:
      return import_container({.kind = ValueKind::kOptional}, proto.optional_type().elem_type(),
                              symbols, depth);
    case onnx::TypeProto::kMapType: {
      ValueType map{.kind = ValueKind::kMap};
      EPHOST_ASSIGN_OR_RETURN(map.element, import_element(proto.map_type().key_type(), false));
      return import_container(std::move(map), proto.map_type().value_type(), symbols, depth);
    }
    default:
      return ValueType{};
  }
}

template <class TensorType>
void export_tensor(const ValueType& type, const std::vector<std::string>& symbols,
                   TensorType& out) {
  out.set_elem_type(static_cast<int32_t>(type.element));
  if (!type.shape) return;
  onnx::TensorShapeProto& shape = *out.mutable_shape();
  for (const int64_t dim : *type.shape) {
    onnx::TensorShapeProto::Dimension& added = *shape.add_dim();
    if (graph::is_static_dim(dim)) {
      added.set_dim_value(dim);
    } else if (graph::is_symbolic_dim(dim) && graph::dim_symbol(dim) < symbols.size()) {
      added.set_dim_param(symbols[graph::dim_symbol(dim)]);
    }
  }
}

Shape merge_shapes(const Shape& known, const Shape& found, bool& conflict) {
  if (known.size() != found.size()) {
    conflict = true;
    return found;
  }
  Shape merged = known;
  for (size_t i = 0; i < merged.size(); ++i) {
    const bool both_static = graph::is_static_dim(known[i]) && graph::is_static_dim(found[i]);
    if (both_static && known[i] != found[i]) conflict = true;
    if (graph::is_static_dim(found[i]) || known[i] == graph::kUnknownDim) merged[i] = found[i];
  }
  return merged;
}

}  // namespace

DimSymbols::DimSymbols(std::vector<std::string>& names, std::map<std::string, int64_t> sizes)
    : names_(names), sizes_(std::move(sizes)) {
  for (size_t id = 0; id < names.size(); ++id) ids_.emplace(names[id], static_cast<uint32_t>(id));
}

int64_t DimSymbols::dim(const std::string& name) {
  if (name.empty()) return graph::kUnknownDim;
  if (const auto size = sizes_.find(name); size != sizes_.end()) {
    sized_names_.insert(name);
    return size->second;
  }
  const auto [entry, is_new] = ids_.emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return graph::symbolic_dim(entry->second);
}

Result<ValueType> import_type(const onnx::TypeProto& proto, DimSymbols& symbols) {
  return import_nested(proto, symbols, 1);
}

void export_type(const ValueType& type, const std::vector<std::string>& symbols,
                 onnx::TypeProto& out) {
  static const ValueType kOpen;
  const ValueType& nested = type.nested ? *type.nested : kOpen;
  switch (type.kind) {
    case ValueKind::kTensor:
      export_tensor(type, symbols, *out.mutable_tensor_type());
      break;
    case ValueKind::kSparseTensor:
      export_tensor(type, symbols, *out.mutable_sparse_tensor_type());
      break;
    case ValueKind::kSequence:
      export_type(nested, symbols, *out.mutable_sequence_type()->mutable_elem_type());
      break;
    case ValueKind::kOptional:
      export_type(nested, symbols, *out.mutable_optional_type()->mutable_elem_type());
      break;
    case ValueKind::kMap:
      out.mutable_map_type()->set_key_type(static_cast<int32_t>(type.element));
      export_type(nested, symbols, *out.mutable_map_type()->mutable_value_type());
      break;
    case ValueKind::kUnknown:
      break;
  }
}

ValueType without_shape(ValueType type) {
  type.shape.reset();
  if (type.nested) type.nested = std::make_shared<const ValueType>(without_shape(*type.nested));
  return type;
}

ValueType merge_types(const ValueType& known, const ValueType& found, bool& conflict) {
  if (found.kind == ValueKind::kUnknown) return known;
  if (known.kind == ValueKind::kUnknown) return found;
  if (known.kind != found.kind) {
    conflict = true;
    return found;
  }
  ValueType merged = known;
  if (found.element != ElementType::kUndefined) {
    if (known.element != ElementType::kUndefined && known.element != found.element) conflict = true;
    merged.element = found.element;
  }
  if (found.shape) {
    merged.shape = known.shape ? merge_shapes(*known.shape, *found.shape, conflict) : found.shape;
  }
  if (known.nested && found.nested) {
    merged.nested =
        std::make_shared<const ValueType>(merge_types(*known.nested, *found.nested, conflict));
  } else if (found.nested) {
    merged.nested = found.nested;
  }
  return merged;
}

}  // namespace ephost::onnx_io
