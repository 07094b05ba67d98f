#include <onnx/onnx_pb.h>

#include <array>
#include <optional>

#include "host/base/text.h"
#include "host/graph/checks.h"
#include "host/onnx_io/import/graph_import.h"

namespace ephost::onnx_io {
namespace {

using graph::AttributeValue;
using graph::invalid_graph;
using onnx::AttributeProto;

struct FieldState {
  AttributeProto::AttributeType type;
  bool is_set;
};

std::array<FieldState, 14> field_states(const AttributeProto& proto) {
  return {{{AttributeProto::FLOAT, proto.has_f()},
           {AttributeProto::INT, proto.has_i()},
           {AttributeProto::STRING, proto.has_s()},
           {AttributeProto::TENSOR, proto.has_t()},
           {AttributeProto::GRAPH, proto.has_g()},
           {AttributeProto::SPARSE_TENSOR, proto.has_sparse_tensor()},
           {AttributeProto::TYPE_PROTO, proto.has_tp()},
           {AttributeProto::FLOATS, proto.floats_size() > 0},
           {AttributeProto::INTS, proto.ints_size() > 0},
           {AttributeProto::STRINGS, proto.strings_size() > 0},
           {AttributeProto::TENSORS, proto.tensors_size() > 0},
           {AttributeProto::GRAPHS, proto.graphs_size() > 0},
           {AttributeProto::SPARSE_TENSORS, proto.sparse_tensors_size() > 0},
           {AttributeProto::TYPE_PROTOS, proto.type_protos_size() > 0}}};
}

bool is_list(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::FLOATS:
    case AttributeProto::INTS:
    case AttributeProto::STRINGS:
    case AttributeProto::TENSORS:
    case AttributeProto::GRAPHS:
    case AttributeProto::SPARSE_TENSORS:
    case AttributeProto::TYPE_PROTOS:
      return true;
    default:
      return false;
  }
}

// The stated type, or that of the only field in use: files of IR version 1 have no type.
Result<AttributeProto::AttributeType> attribute_type(const AttributeProto& proto) {
  if (!proto.ref_attr_name().empty())
    return invalid_graph("it refers to an attribute of a function");
  std::optional<AttributeProto::AttributeType> used;
  for (const FieldState& field : field_states(proto)) {
    if (!field.is_set) continue;
    if (used) return invalid_graph("it holds values of several types");
    used = field.type;
  }
  const AttributeProto::AttributeType stated = proto.type();
  if (stated == AttributeProto::UNDEFINED) {
    if (!used) return invalid_graph("it has neither a type nor a value");
    return *used;
  }
  if (used && *used != stated) return invalid_graph("its value does not have the stated type");
  // An empty list leaves no trace in the message; a single value must be present.
  if (!used && !is_list(stated)) return invalid_graph("it has no value");
  return stated;
}

AttributeValue import_string(const AttributeProto& proto, const ImportContext& context) {
  if (std::optional<graph::Blob> payload = context.tensors.lifted(proto.s())) return *payload;
  return proto.s();
}

template <class Element, class Field, class Import>
Result<AttributeValue> import_list(Field& field, Import import) {
  std::vector<Element> elements;
  elements.reserve(static_cast<size_t>(field.size()));
  for (auto& entry : field) {
    EPHOST_ASSIGN_OR_RETURN(Element element, import(entry));
    elements.push_back(std::move(element));
  }
  return AttributeValue(std::move(elements));
}

template <class Element>
Result<AttributeValue> as_attribute(Result<Element> element) {
  if (!element.ok()) return std::move(element).status();
  return AttributeValue(std::move(element).value());
}

}  // namespace

Result<AttributeValue> import_attribute(AttributeProto& proto, ImportContext& context,
                                        const SubgraphImporter& subgraph) {
  EPHOST_ASSIGN_OR_RETURN(const AttributeProto::AttributeType type, attribute_type(proto));
  proto.set_type(type);  // the checker needs a type
  const auto tensor = [&](const onnx::TensorProto& t) {
    return context.tensors.tensor(t, "tensor");
  };
  const auto sparse = [&](const onnx::SparseTensorProto& t) {
    return context.tensors.sparse_tensor(t, "sparse tensor");
  };
  const auto value_type = [&](const onnx::TypeProto& t) { return import_type(t, context.symbols); };
  switch (type) {
    case AttributeProto::FLOAT:
      return AttributeValue(proto.f());
    case AttributeProto::INT:
      return AttributeValue(int64_t{proto.i()});
    case AttributeProto::STRING:
      return import_string(proto, context);
    case AttributeProto::TENSOR:
      return as_attribute(tensor(proto.t()));
    case AttributeProto::GRAPH:
      return as_attribute(subgraph(*proto.mutable_g()));
    case AttributeProto::SPARSE_TENSOR:
      return as_attribute(sparse(proto.sparse_tensor()));
    case AttributeProto::TYPE_PROTO:
      return as_attribute(value_type(proto.tp()));
    case AttributeProto::FLOATS:
      return AttributeValue(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::INTS:
      return AttributeValue(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::STRINGS:
      return AttributeValue(
          std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::TENSORS:
      return import_list<graph::Tensor>(proto.tensors(), tensor);
    case AttributeProto::GRAPHS:
      return import_list<std::unique_ptr<graph::Graph>>(*proto.mutable_graphs(), subgraph);
    case AttributeProto::SPARSE_TENSORS:
      return import_list<graph::SparseTensor>(proto.sparse_tensors(), sparse);
    case AttributeProto::TYPE_PROTOS:
      return import_list<graph::ValueType>(proto.type_protos(), value_type);
    default:
      return invalid_graph("its type is unknown");
  }
}

}  // namespace ephost::onnx_io
