#include "host/graph/body_path.h"

#include "host/graph/subgraphs.h"

namespace ephost::graph {
namespace {

std::string search(const Graph& wanted, const Graph& graph, const std::string& around) {
  std::string found;
  for (NodeId id = 0; id < graph.nodes.size() && found.empty(); ++id) {
    for_each_subgraph(graph.nodes[id], [&](const Graph& body, const std::string& attribute) {
      if (!found.empty()) return;
      const std::string path = body_path(around, graph, id, attribute);
      found = &body == &wanted ? path : search(wanted, body, path);
    });
  }
  return found;
}

}  // namespace

std::string body_path(const std::string& around, const Graph& graph, NodeId node,
                      const std::string& attribute) {
  const Node& holder = graph.nodes[node];
  const std::string name =
      holder.name.empty() ? holder.op_type + "#" + std::to_string(node) : holder.name;
  return (around.empty() ? "" : around + "/") + name + "/" + attribute;
}

std::string path_of(const Graph& wanted, const Graph& graph) { return search(wanted, graph, ""); }

}  // namespace ephost::graph
