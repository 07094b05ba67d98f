#include "host/onnx_io/export/model_encoder.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/subgraphs.h"
#include "host/onnx_io/import/version_wrappers.h"
#include "host/onnx_io/opsets/opset18_25_fields.h"

namespace ephost::onnx_io {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Tensor;
using graph::Value;
using graph::ValueId;
using graph::ValueKind;
using graph::ValueType;
using Length = MessageWriter::Length;

// Since this version a constant need not be listed as a graph input.
constexpr int64_t kLowestIrVersion = 4;
constexpr int64_t kFunctionsSince = 8;

// AttributeProto.AttributeType, in the order of the alternatives of AttributeValue.
constexpr uint64_t kAttributeTypes[] = {2, 1, 3, 3, 4, 11, 13, 5, 7, 6, 8, 9, 12, 14, 10};
static_assert(std::size(kAttributeTypes) == std::variant_size_v<graph::AttributeValue>);

// By ValueId: the names under which the values of a graph are written.
using ValueNames = std::vector<std::string_view>;

ValueNames names_of(const Graph& graph, const ValueNames* enclosing) {
  ValueNames names;
  names.reserve(graph.values.size());
  for (const Value& value : graph.values) {
    const bool captured = value.outer != kNoValue && enclosing;
    names.push_back(captured ? (*enclosing)[value.outer] : std::string_view(value.name));
  }
  return names;
}

bool is_large(const Tensor& tensor) { return tensor.data.bytes.size() >= kBorrowThreshold; }

bool is_large(const graph::Attribute& attribute) {
  if (const auto* blob = std::get_if<graph::Blob>(&attribute.value)) {
    return blob->bytes.size() >= kBorrowThreshold;
  }
  const auto* tensor = std::get_if<Tensor>(&attribute.value);
  return tensor && is_large(*tensor);
}

bool has_large_attribute(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const graph::Attribute& attribute) { return is_large(attribute); });
}

Length length_around(bool is_large) { return is_large ? Length::kWide : Length::kNarrow; }

class Encoder {
 public:
  Encoder(const graph::Model& model, const ExternalLayout& layout, bool marks_inferred,
          MessageWriter& writer)
      : model_(model),
        layout_(layout),
        marks_inferred_(marks_inferred),
        out_(writer),
        wrappers_(model) {}

  void model() {
    const bool has_functions = !model_.functions.empty() || !wrappers_.all().empty();
    const int64_t lowest = has_functions ? kFunctionsSince : kLowestIrVersion;
    out_.varint(1, static_cast<uint64_t>(std::max(model_.ir_version, lowest)));
    text(2, model_.producer_name);
    text(3, model_.producer_version);
    text(4, model_.domain);
    if (model_.model_version != 0) number(5, model_.model_version);
    text(6, model_.doc);
    out_.message(7, length_around(has_aligned_payload(model_.graph)),
                 [&] { graph(model_.graph, nullptr); });
    for (const auto& [domain, version] : model_.opset_imports) opset_import(8, domain, version);
    if (!wrappers_.all().empty() && !model_.opset_imports.contains(kWrapperDomain)) {
      opset_import(8, kWrapperDomain, 1);
    }
    for (const auto& [key, value] : model_.metadata) entry(14, key, value);
    for (const graph::Function& function : model_.functions) out_.bytes(25, function.serialized);
    for (const VersionWrapper& wrapper : wrappers_.all()) function(wrapper);
  }

 private:
  // Empty optional strings are omitted.
  void text(uint32_t field, std::string_view content) {
    if (!content.empty()) out_.bytes(field, content);
  }

  void opset_import(uint32_t field, const std::string& domain, int64_t version) {
    out_.message(field, Length::kNarrow, [&] {
      text(1, domain);
      number(2, version);
    });
  }

  // The function contains the wrapped node, whose attributes refer to those of the call.
  void function(const VersionWrapper& wrapper) {
    const Node& node = *wrapper.node;
    const auto formal = [](std::string_view stem, size_t i) { return formatted("{}{}", stem, i); };
    const auto list = [&](uint32_t field, std::string_view stem, size_t count) {
      for (size_t i = 0; i < count; ++i) out_.bytes(field, formal(stem, i));
    };
    out_.message(25, Length::kNarrow, [&] {
      out_.bytes(1, wrapper.name);
      list(4, "x", node.inputs.size());
      list(5, "y", node.outputs.size());
      for (const graph::Attribute& attribute : node.attributes) out_.bytes(6, attribute.name);
      out_.message(7, Length::kNarrow, [&] {
        list(1, "x", node.inputs.size());
        list(2, "y", node.outputs.size());
        out_.bytes(4, node.op_type);
        for (const graph::Attribute& attribute : node.attributes) reference(attribute);
        text(7, node.domain);
      });
      opset_import(9, node.domain, node.since_version);
      out_.bytes(10, kWrapperDomain);
    });
  }

  void reference(const graph::Attribute& attribute) {
    out_.message(5, Length::kNarrow, [&] {
      out_.bytes(1, attribute.name);
      out_.varint(20, kAttributeTypes[attribute.value.index()]);
      out_.bytes(21, attribute.name);
    });
  }

  void number(uint32_t field, int64_t value) { out_.varint(field, static_cast<uint64_t>(value)); }

  void entry(uint32_t field, std::string_view key, std::string_view value) {
    out_.message(field, Length::kNarrow, [&] {
      out_.bytes(1, key);
      out_.bytes(2, value);
    });
  }

  bool is_embedded(const Tensor& tensor) const { return !layout_.find(tensor); }

  bool has_aligned_payload(const Graph& graph) const {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), has_large_attribute) ||
           std::any_of(
               graph.initializers.begin(), graph.initializers.end(),
               [&](const Tensor& tensor) { return is_large(tensor) && is_embedded(tensor); });
  }

  void graph(const Graph& graph, const ValueNames* enclosing) {
    const ValueNames names = names_of(graph, enclosing);
    for (const Node& encoded : graph.nodes) {
      out_.message(1, length_around(has_large_attribute(encoded)), [&] { node(encoded, names); });
    }
    text(2, graph.name);
    for (ValueId id = 0; id < graph.values.size(); ++id) {
      const uint32_t index = graph.values[id].initializer;
      if (index != graph::kNoInitializer) initializer(graph.initializers[index], names[id]);
    }
    text(10, graph.doc);
    for (const ValueId id : graph.inputs) value_info(11, graph.values[id], names[id]);
    for (const ValueId id : graph.outputs) value_info(12, graph.values[id], names[id]);
    for (ValueId id = 0; id < graph.values.size(); ++id) {
      const Value& value = graph.values[id];
      const bool is_inner = value.producer != graph::kNoNode && !value.is_graph_output;
      if (is_inner && value.type.kind != ValueKind::kUnknown) value_info(13, value, names[id]);
    }
    for (const graph::QuantizationAnnotation& annotation : graph.annotations) {
      out_.message(14, Length::kNarrow, [&] {
        out_.bytes(1, names[annotation.value]);
        for (const auto& [key, id] : annotation.parameters) entry(2, key, names[id]);
      });
    }
  }

  void node(const Node& node, const ValueNames& names) {
    for (const ValueId id : node.inputs) out_.bytes(1, id == kNoValue ? "" : names[id]);
    for (const ValueId id : node.outputs) out_.bytes(2, id == kNoValue ? "" : names[id]);
    text(3, node.name);
    const std::string* wrapper = wrappers_.find(node);
    out_.bytes(4, wrapper != nullptr ? *wrapper : node.op_type);
    for (const graph::Attribute& encoded : node.attributes) {
      out_.message(5, length_around(is_large(encoded)), [&] { attribute(encoded, names); });
    }
    text(7, wrapper != nullptr ? kWrapperDomain : node.domain);
    text(8, node.overload);
    for (const auto& [key, value] : node.metadata) entry(9, key, value);
  }

  void attribute(const graph::Attribute& attribute, const ValueNames& names) {
    out_.bytes(1, attribute.name);
    const uint64_t type = kAttributeTypes[attribute.value.index()];
    const bool type_follows =
        std::holds_alternative<graph::SparseTensor>(attribute.value) ||
        std::holds_alternative<std::vector<graph::SparseTensor>>(attribute.value);
    if (type_follows) out_.varint(20, type);
    std::visit([&](const auto& held) { attribute_value(held, names); }, attribute.value);
    if (!type_follows) out_.varint(20, type);
  }

  void attribute_value(float value, const ValueNames&) { out_.fixed32(2, value); }
  void attribute_value(int64_t value, const ValueNames&) { number(3, value); }
  void attribute_value(const std::string& value, const ValueNames&) { out_.bytes(4, value); }
  void attribute_value(const graph::Blob& value, const ValueNames&) { out_.payload(4, value); }
  void attribute_value(const Tensor& value, const ValueNames&) { tensor(5, value); }
  void attribute_value(const std::unique_ptr<Graph>& value, const ValueNames& names) {
    out_.message(6, Length::kNarrow, [&] { graph(*value, &names); });
  }
  void attribute_value(const std::vector<float>& values, const ValueNames&) {
    for (const float value : values) out_.fixed32(7, value);
  }
  void attribute_value(const std::vector<int64_t>& values, const ValueNames&) {
    for (const int64_t value : values) number(8, value);
  }
  void attribute_value(const std::vector<std::string>& values, const ValueNames&) {
    for (const std::string& value : values) out_.bytes(9, value);
  }
  void attribute_value(const std::vector<Tensor>& values, const ValueNames&) {
    for (const Tensor& value : values) {
      out_.message(10, Length::kNarrow, [&] { tensor_fields(value, "", nullptr); });
    }
  }
  void attribute_value(const std::vector<std::unique_ptr<Graph>>& values, const ValueNames& names) {
    for (const auto& value : values) {
      out_.message(11, Length::kNarrow, [&] { graph(*value, &names); });
    }
  }
  void attribute_value(const ValueType& value, const ValueNames&) { type(14, value); }
  void attribute_value(const std::vector<ValueType>& values, const ValueNames&) {
    for (const ValueType& value : values) type(15, value);
  }
  void attribute_value(const graph::SparseTensor& value, const ValueNames&) { sparse(22, value); }
  void attribute_value(const std::vector<graph::SparseTensor>& values, const ValueNames&) {
    for (const graph::SparseTensor& value : values) sparse(23, value);
  }

  void sparse(uint32_t field, const graph::SparseTensor& sparse) {
    out_.message(field, Length::kNarrow, [&] {
      out_.message(1, Length::kNarrow, [&] { tensor_fields(sparse.values, "", nullptr); });
      out_.message(2, Length::kNarrow, [&] { tensor_fields(sparse.indices, "", nullptr); });
      for (const int64_t dim : sparse.shape) number(3, dim);
    });
  }

  void tensor(uint32_t field, const Tensor& tensor) {
    out_.message(field, length_around(is_large(tensor)),
                 [&] { tensor_fields(tensor, "", nullptr); });
  }

  void initializer(const Tensor& tensor, std::string_view name) {
    const ExternalRange* range = layout_.find(tensor);
    out_.message(5, length_around(is_large(tensor) && !range),
                 [&] { tensor_fields(tensor, name, range); });
  }

  void tensor_fields(const Tensor& tensor, std::string_view name, const ExternalRange* range) {
    for (const int64_t dim : tensor.shape) number(1, dim);
    number(2, static_cast<int64_t>(tensor.type));
    if (tensor.strings) {
      for (const std::string& element : *tensor.strings) out_.bytes(6, element);
    }
    text(8, name);
    if (range) {
      entry(13, "location", range->location);
      entry(13, "offset", std::to_string(range->offset));
      entry(13, "length", std::to_string(range->size));
      out_.varint(14, 1);
    } else if (!tensor.data.bytes.empty()) {
      out_.payload(9, tensor.data);
    }
  }

  void value_info(uint32_t field, const Value& value, std::string_view name) {
    out_.message(field, Length::kNarrow, [&] {
      out_.bytes(1, name);
      if (value.type.kind == ValueKind::kUnknown) return;
      type(2, value.type);
      const bool is_inferred = value.declared == nullptr || !(*value.declared == value.type);
      if (marks_inferred_ && is_inferred) entry(4, kTypeKey, kInferredType);
    });
  }

  void type(uint32_t field, const ValueType& type) {
    out_.message(field, Length::kNarrow, [&] { type_fields(type); });
  }

  void type_fields(const ValueType& value) {
    const auto inner = [&](uint32_t outer_field, uint32_t field) {
      out_.message(outer_field, Length::kNarrow, [&] {
        if (value.kind == ValueKind::kMap) number(1, static_cast<int64_t>(value.element));
        if (value.nested) type(field, *value.nested);
      });
    };
    switch (value.kind) {
      case ValueKind::kTensor:
        tensor_type(1, value);
        break;
      case ValueKind::kSequence:
        inner(4, 1);
        break;
      case ValueKind::kMap:
        inner(5, 2);
        break;
      case ValueKind::kSparseTensor:
        tensor_type(8, value);
        break;
      case ValueKind::kOptional:
        inner(9, 1);
        break;
      case ValueKind::kUnknown:
        break;
    }
  }

  void tensor_type(uint32_t field, const ValueType& value) {
    out_.message(field, Length::kNarrow, [&] {
      number(1, static_cast<int64_t>(value.element));
      if (!value.shape) return;
      out_.message(2, Length::kNarrow, [&] {
        for (const int64_t dim : *value.shape) dimension(dim);
      });
    });
  }

  void dimension(int64_t dim) {
    out_.message(1, Length::kNarrow, [&] {
      if (graph::is_static_dim(dim)) {
        number(1, dim);
      } else if (graph::is_symbolic_dim(dim) && graph::dim_symbol(dim) < model_.symbols.size()) {
        out_.bytes(2, model_.symbols[graph::dim_symbol(dim)]);
      }
    });
  }

  const graph::Model& model_;
  const ExternalLayout& layout_;
  const bool marks_inferred_;
  MessageWriter& out_;
  VersionWrappers wrappers_;
};

Status check_level(const Graph& graph, const ValueNames* enclosing) {
  const ValueNames names = names_of(graph, enclosing);
  std::unordered_set<std::string_view> seen;
  for (const std::string_view name : names) {
    if (seen.insert(name).second) continue;
    return {StatusCode::kInvalidGraph, formatted("subgraph {} captures {} and has a value of that "
                                                 "name of its own; rename one to export the model",
                                                 quote(graph.name), quote(name))};
  }
  Status status;
  for (const Node& node : graph.nodes) {
    graph::for_each_subgraph(node, [&](const Graph& subgraph) {
      if (status.ok()) status = check_level(subgraph, &names);
    });
  }
  return status;
}

}  // namespace

void encode_model(const graph::Model& model, const ExternalLayout& layout, bool marks_inferred,
                  MessageWriter& writer) {
  Encoder(model, layout, marks_inferred, writer).model();
}

Status check_capture_names(const Graph& graph) { return check_level(graph, nullptr); }

}  // namespace ephost::onnx_io
