// A model as text with all relevant details, for comparing models in tests.
#pragma once

#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>

#include "host/base/hash.h"
#include "host/graph/graph.h"

namespace ephost::onnx_io::testing {

class ModelText {
 public:
  explicit ModelText(const graph::Model& model) : model_(model) {}

  std::string text() && {
    out_ << "ir " << model_.ir_version << ' ' << model_.producer_name << ' '
         << model_.producer_version << ' ' << model_.domain << ' ' << model_.model_version << ' '
         << model_.doc << '\n';
    for (const auto& [domain, version] : model_.opset_imports) {
      out_ << "opset " << domain << ' ' << version << '\n';
    }
    for (const auto& [key, value] : model_.metadata) out_ << key << '=' << value << '\n';
    for (const auto& function : model_.functions) {
      out_ << "function " << function.domain << ' ' << function.name << ' '
           << checksum(function.serialized) << '\n';
    }
    graph(model_.graph);
    return out_.str();
  }

 private:
  static std::string checksum(std::string_view text) {
    return to_hex(content_checksum(std::as_bytes(std::span(text.data(), text.size()))));
  }

  void tensor(const graph::Tensor& tensor) {
    out_ << graph::element_type_name(tensor.type) << '[';
    for (const int64_t dim : tensor.shape) out_ << dim << ',';
    out_ << "] " << to_hex(content_checksum(tensor.data.bytes));
    if (tensor.strings) {
      for (const std::string& element : *tensor.strings) out_ << std::quoted(element);
    }
  }

  void sparse(const graph::SparseTensor& sparse) {
    tensor(sparse.values);
    tensor(sparse.indices);
    for (const int64_t dim : sparse.shape) out_ << dim << ',';
  }

  void type(const graph::ValueType& type) { out_ << graph::to_string(type, model_.symbols); }

  void ids(const std::vector<graph::ValueId>& ids, const graph::Graph& graph) {
    out_ << '(';
    for (const graph::ValueId id : ids) {
      out_ << (id == graph::kNoValue ? "-" : graph.values[id].name) << ' ';
    }
    out_ << ')';
  }

  template <class Held>
  void held(const Held& value) {
    if constexpr (std::is_same_v<Held, graph::Tensor>) {
      tensor(value);
    } else if constexpr (std::is_same_v<Held, graph::SparseTensor>) {
      sparse(value);
    } else if constexpr (std::is_same_v<Held, graph::ValueType>) {
      type(value);
    } else if constexpr (std::is_same_v<Held, std::unique_ptr<graph::Graph>>) {
      graph(*value);
    } else if constexpr (std::is_same_v<Held, graph::Blob>) {
      out_ << "blob " << to_hex(content_checksum(value.bytes));
    } else if constexpr (std::is_same_v<Held, std::string>) {
      out_ << std::quoted(value);
    } else if constexpr (std::is_arithmetic_v<Held>) {
      out_ << value;
    } else {
      out_ << '[';
      for (const auto& element : value) {
        held(element);
        out_ << ' ';
      }
      out_ << ']';
    }
  }

  void graph(const graph::Graph& graph) {
    out_ << "graph " << graph.name << ' ' << graph.doc << " inputs ";
    ids(graph.inputs, graph);
    out_ << " outputs ";
    ids(graph.outputs, graph);
    out_ << '\n';
    for (const graph::Value& value : graph.values) {
      out_ << "value " << value.name << " : ";
      type(value.type);
      if (value.initializer != graph::kNoInitializer) {
        out_ << " = ";
        tensor(graph.initializers[value.initializer]);
      }
      out_ << ' ' << static_cast<int64_t>(static_cast<int32_t>(value.outer)) << '\n';
    }
    for (const graph::Node& node : graph.nodes) {
      out_ << "node " << node.name << ' ' << node.domain << ':' << node.op_type << '-'
           << node.since_version;
      ids(node.inputs, graph);
      ids(node.implicit_inputs, graph);
      ids(node.outputs, graph);
      for (const graph::Attribute& attribute : node.attributes) {
        out_ << '\n' << attribute.name << '#' << attribute.value.index() << " = ";
        std::visit([&](const auto& value) { held(value); }, attribute.value);
      }
      out_ << '\n';
    }
  }

  const graph::Model& model_;
  std::ostringstream out_;
};

inline std::string to_text(const graph::Model& model) { return ModelText(model).text(); }

}  // namespace ephost::onnx_io::testing
