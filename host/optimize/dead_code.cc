#include "host/optimize/dead_code.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/graph/rewrite.h"
#include "host/graph/subgraphs.h"

namespace ephost::optimize {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

class Sweep {
 public:
  Sweep(Graph& graph, DeadCode what)
      : graph_(graph),
        what_(what),
        live_nodes_(graph.nodes.size(), false),
        used_(graph.values.size(), false),
        kept_(graph.values.size(), false) {}

  uint64_t run() {
    for (const ValueId id : graph_.inputs) kept_[id] = true;
    for (const ValueId id : graph_.outputs) use(id);
    // Consumers come after producers, so one backward walk visits every use of a value before its
    // producer.
    for (size_t id = graph_.nodes.size(); id-- > 0;) {
      Node& node = graph_.nodes[id];
      live_nodes_[id] = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
        return output != kNoValue && (what_ == DeadCode::kOutputless || used_[output]);
      });
      if (live_nodes_[id]) {
        keep(node);
      } else {
        ++removed_;
      }
    }
    if (removed_ != 0 || !is_all(kept_)) graph::compact(graph_, live_nodes_, kept_);
    return removed_;
  }

 private:
  static bool is_all(const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), false) == flags.end();
  }

  void use(ValueId id) {
    if (id == kNoValue) return;
    used_[id] = true;
    kept_[id] = true;
  }

  void keep(Node& node) {
    for (const ValueId input : node.inputs) use(input);
    for (const ValueId kept : node.kept_constants) use(kept);
    graph::for_each_subgraph(
        node, [&](Graph& subgraph) { removed_ += remove_dead_code(subgraph, what_); });
    for (const ValueId captured : graph::captured_values(node)) use(captured);
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) kept_[output] = true;
    }
  }

  Graph& graph_;
  DeadCode what_;
  std::vector<bool> live_nodes_;
  std::vector<bool> used_;  // by a live node or as a graph output
  std::vector<bool> kept_;
  uint64_t removed_ = 0;
};

}  // namespace

uint64_t remove_dead_code(Graph& graph, DeadCode what) { return Sweep(graph, what).run(); }

graph::Renumbering remove_bare_nodes(Graph& graph,
                                     const std::function<bool(graph::NodeId)>& is_free) {
  std::vector<bool> keep_nodes(graph.nodes.size());
  std::vector<bool> keep_values(graph.values.size());
  const auto keep = [&](const std::vector<ValueId>& used) {
    for (const ValueId id : used) {
      if (id != kNoValue) keep_values[id] = true;
    }
  };
  keep(graph.inputs);
  keep(graph.outputs);
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].outer != kNoValue) keep_values[id] = true;
  }
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    const bool is_bare = std::ranges::all_of(node.outputs, [](ValueId o) { return o == kNoValue; });
    keep_nodes[id] = !is_bare || !is_free(id);
    if (!keep_nodes[id]) continue;
    keep(node.inputs);
    keep(node.outputs);
    keep(node.kept_constants);
    keep(graph::captured_values(node));
  }
  return graph::compact(graph, keep_nodes, keep_values);
}

}  // namespace ephost::optimize
