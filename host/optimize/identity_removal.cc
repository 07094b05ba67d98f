#include "host/optimize/identity_removal.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "host/graph/rewrite.h"
#include "host/graph/subgraphs.h"
#include "host/optimize/identity_rules.h"

namespace ephost::optimize {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

// One graph level. Of two equal values, one is removed and the other replaces it; all users are
// updated at the end.
class Removal {
 public:
  Removal(Graph& graph, const PassSelection& passes, const NodePredicate& keeps)
      : graph_(graph),
        passes_(passes),
        keeps_(keeps),
        stands_for_(graph.values.size(), kNoValue),
        is_captured_(graph.values.size(), false),
        keep_nodes_(graph.nodes.size(), true),
        keep_values_(graph.values.size(), true) {
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.implicit_inputs) is_captured_[id] = true;
    }
  }

  uint64_t run() {
    uint64_t inside = 0;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      graph::for_each_subgraph(graph_.nodes[id], [&](Graph& subgraph) {
        inside += remove_identities(subgraph, passes_, keeps_);
      });
      const std::optional<Pass> pass = identity_pass(graph_, id);
      if (pass && passes_.runs(*pass) && !is_kept(id) && remove(id)) ++removed_;
    }
    if (removed_ > 0) rewrite();
    return removed_ + inside;
  }

 private:
  [[nodiscard]] bool is_kept(NodeId id) const {
    if (!keeps_) return false;
    const auto keeps = [&](NodeId node) { return node != kNoNode && keeps_(graph_, node); };
    const Node& node = graph_.nodes[id];
    return keeps(id) || keeps(graph_.values[node.inputs[0]].producer) ||
           std::ranges::any_of(graph_.values[node.outputs[0]].consumers, keeps);
  }

  // The value that currently replaces `id`.
  ValueId find(ValueId id) {
    ValueId last = id;
    while (stands_for_[last] != kNoValue) last = stands_for_[last];
    while (id != last) id = std::exchange(stands_for_[id], last);
    return last;
  }

  bool remove(NodeId id) {
    const Node& node = graph_.nodes[id];
    const ValueId input = find(node.inputs[0]);
    const ValueId output = node.outputs[0];
    if (is_removable(output)) {
      replace(output, input);
    } else if (graph_.values[input].producer != kNoNode && is_removable(input)) {
      graph_.values[output].producer = graph_.values[input].producer;
      replace(input, output);
    } else {
      return false;
    }
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) keep_values_[node.outputs[i]] = false;
    }
    keep_nodes_[id] = false;
    return true;
  }

  // Subgraphs capture by name, and may already use the other value.
  [[nodiscard]] bool is_removable(ValueId id) const {
    return !graph_.values[id].is_graph_output && !is_captured_[id];
  }

  void replace(ValueId gone, ValueId kept) {
    refine(graph_.values[kept], graph_.values[gone]);
    stands_for_[gone] = kept;
    keep_values_[gone] = false;
  }

  static void refine(graph::Value& known, const graph::Value& other) {
    graph::ValueType& type = known.type;
    if (type.kind == graph::ValueKind::kUnknown) {
      type = other.type;
    } else if (type.kind == other.type.kind && type.element == other.type.element && !type.shape) {
      type.shape = other.type.shape;
    } else {
      return;
    }
    // What is declared about a value inside the graph says nothing about an output of the model.
    if (!known.is_graph_output) known.declared = other.declared;
  }

  void rewrite() {
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (!keep_nodes_[id]) continue;
      for (std::vector<ValueId>* used : {&graph_.nodes[id].inputs, &graph_.nodes[id].outputs}) {
        for (ValueId& value : *used) value = value == kNoValue ? kNoValue : find(value);
      }
    }
    move_annotations();
    graph::compact(graph_, keep_nodes_, keep_values_);
  }

  // What is known about a value holds for the one that replaces it, which may have an annotation
  // itself.
  void move_annotations() {
    std::vector<graph::QuantizationAnnotation>& annotations = graph_.annotations;
    for (graph::QuantizationAnnotation& annotation : annotations) {
      annotation.value = find(annotation.value);
      for (auto& [name, id] : annotation.parameters) id = find(id);
    }
    std::ranges::stable_sort(annotations, {}, &graph::QuantizationAnnotation::value);
    const auto is_same = [](const auto& a, const auto& b) { return a.value == b.value; };
    annotations.erase(std::unique(annotations.begin(), annotations.end(), is_same),
                      annotations.end());
  }

  Graph& graph_;
  const PassSelection& passes_;
  const NodePredicate& keeps_;
  std::vector<ValueId> stands_for_;  // kNoValue: itself
  std::vector<bool> is_captured_;
  std::vector<bool> keep_nodes_;
  std::vector<bool> keep_values_;
  uint64_t removed_ = 0;
};

}  // namespace

uint64_t remove_identities(Graph& graph, const PassSelection& passes, const NodePredicate& keeps) {
  return Removal(graph, passes, keeps).run();
}

}  // namespace ephost::optimize
