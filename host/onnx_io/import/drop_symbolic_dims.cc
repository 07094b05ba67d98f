#include "host/onnx_io/import/drop_symbolic_dims.h"

#include <memory>
#include <utility>
#include <vector>

#include "host/graph/subgraphs.h"

namespace ephost::onnx_io {
namespace {

void forget(graph::ValueType& type) {
  if (type.shape) {
    for (int64_t& dim : *type.shape) {
      if (graph::is_symbolic_dim(dim)) dim = graph::kUnknownDim;
    }
  }
  if (!type.nested) return;
  graph::ValueType nested = *type.nested;
  forget(nested);
  type.nested = std::make_shared<const graph::ValueType>(std::move(nested));
}

}  // namespace

void drop_symbolic_dims(graph::Graph& graph) {
  for (graph::Value& value : graph.values) forget(value.type);
  for (graph::Node& node : graph.nodes) {
    for (graph::Attribute& attribute : node.attributes) {
      if (auto* type = std::get_if<graph::ValueType>(&attribute.value)) forget(*type);
      if (auto* types = std::get_if<std::vector<graph::ValueType>>(&attribute.value)) {
        for (graph::ValueType& type : *types) forget(type);
      }
    }
    graph::for_each_subgraph(node, [](graph::Graph& subgraph) { drop_symbolic_dims(subgraph); });
  }
}

}  // namespace ephost::onnx_io
