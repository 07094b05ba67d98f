#include "host/onnx_io/import/version_wrappers.h"

#include <utility>

#include "host/base/format.h"
#include "host/graph/subgraphs.h"

namespace ephost::onnx_io {
namespace {

using graph::Graph;
using graph::Node;

bool is_wrapped(const Node& node) { return node.is_of_other_opset && !graph::has_subgraphs(node); }

// Equal for nodes that one function can represent.
std::string signature_of(const Node& node) {
  std::string text = formatted("{}\n{}\n{} {} {}", node.domain, node.op_type, node.since_version,
                               node.inputs.size(), node.outputs.size());
  for (const graph::Attribute& attribute : node.attributes) {
    text += formatted("\n{}{}", attribute.value.index(), attribute.name);
  }
  return text;
}

}  // namespace

VersionWrappers::VersionWrappers(const graph::Model& model) {
  std::set<std::string> taken;
  for (const graph::Function& function : model.functions) {
    if (function.domain == kWrapperDomain) taken.insert(function.name);
  }
  collect(model.graph, taken);
}

void VersionWrappers::collect(const Graph& graph, const std::set<std::string>& taken) {
  for (const Node& node : graph.nodes) {
    graph::for_each_subgraph(node, [&](const Graph& subgraph) { collect(subgraph, taken); });
    if (!is_wrapped(node)) continue;
    if (!by_signature_.emplace(signature_of(node), wrappers_.size()).second) continue;
    std::string name;
    do {
      name = formatted("{}_{}_{}", node.op_type, node.since_version, next_++);
    } while (taken.contains(name));
    wrappers_.push_back({std::move(name), &node});
  }
}

const std::string* VersionWrappers::find(const Node& node) const {
  if (!is_wrapped(node)) return nullptr;
  return &wrappers_[by_signature_.at(signature_of(node))].name;
}

Status check_versions(const Graph& graph) {
  Status status;
  for (graph::NodeId id = 0; status.ok() && id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    const bool is_same_everywhere =
        node.domain.empty() && (node.op_type == "If" || node.op_type == "Loop" ||
                                (node.op_type == "Scan" && node.since_version >= 9));
    if (node.is_of_other_opset && graph::has_subgraphs(node) && !is_same_everywhere) {
      return {StatusCode::kNotImplemented,
              formatted("{} has version {}, which a model that imports a different opset cannot "
                        "express; convert the model's functions to its own opset",
                        graph::describe_node(graph, id), node.since_version)};
    }
    graph::for_each_subgraph(node, [&](const Graph& subgraph) {
      if (status.ok()) status = check_versions(subgraph);
    });
  }
  return status;
}

}  // namespace ephost::onnx_io
