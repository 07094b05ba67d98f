#include "host/graph/extract.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "host/graph/clone.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"

namespace ephost::graph {
namespace {

class Extractor {
 public:
  Extractor(const Graph& source, std::span<const NodeId> nodes, std::string name)
      : source_(source) {
    result_.original_nodes.assign(nodes.begin(), nodes.end());
    std::sort(result_.original_nodes.begin(), result_.original_nodes.end());
    result_.graph.name = std::move(name);
  }

  Extraction run() && {
    reserve();
    for (const NodeId id : result_.original_nodes) take_node(id);
    for (const NodeId id : result_.original_nodes) {
      for (const ValueId output : source_.nodes[id].outputs) {
        if (output != kNoValue && is_used_outside(output)) {
          result_.graph.outputs.push_back(local_ids_.at(output));
        }
      }
    }
    take_annotations();
    connect(result_.graph);
    return std::move(result_);
  }

 private:
  void reserve() {
    size_t values = 0;
    for (const NodeId id : result_.original_nodes) {
      values += source_.nodes[id].inputs.size() + source_.nodes[id].outputs.size();
    }
    result_.graph.nodes.reserve(result_.original_nodes.size());
    result_.graph.values.reserve(values);
    result_.original_values.reserve(values);
    local_ids_.reserve(values);
  }

  void take_node(NodeId id) {
    Node node = clone(source_.nodes[id]);
    node.kept_constants.clear();
    for (ValueId& input : node.inputs) {
      if (input != kNoValue) input = use(input);
    }
    for_each_subgraph(node, [&](Graph& subgraph) {
      for (Value& value : subgraph.values) {
        if (value.outer != kNoValue) value.outer = use(value.outer);
      }
    });
    for (ValueId& output : node.outputs) {
      if (output != kNoValue) output = add_local(output);
    }
    result_.graph.add_node(std::move(node));
  }

  void take_annotations() {
    std::vector<QuantizationAnnotation>& taken = result_.graph.annotations;
    const size_t count = source_.annotations.empty() ? 0 : result_.original_values.size();
    for (ValueId local = 0; local < count; ++local) {
      const ValueId original = result_.original_values[local];
      const auto found = std::ranges::lower_bound(source_.annotations, original, std::less<>(),
                                                  &QuantizationAnnotation::value);
      if (found == source_.annotations.end() || found->value != original) continue;
      taken.push_back({.value = local});
      for (const auto& [name, id] : found->parameters) {
        const bool is_there = local_ids_.contains(id) || source_.constant(id) != nullptr;
        if (is_there) taken.back().parameters.emplace_back(name, use(id));
      }
    }
  }

  // The local id of a value that an extracted node reads.
  ValueId use(ValueId original) {
    if (const auto known = local_ids_.find(original); known != local_ids_.end()) {
      return known->second;
    }
    const ValueId local = add_local(original);
    if (const Tensor* constant = source_.constant(original)) {
      Graph& graph = result_.graph;
      graph.values[local].initializer = static_cast<uint32_t>(graph.initializers.size());
      graph.initializers.push_back(*constant);
    } else {
      result_.graph.inputs.push_back(local);
    }
    return local;
  }

  ValueId add_local(ValueId original) {
    const Value& value = source_.values[original];
    const ValueId local = result_.graph.add_value({.name = value.name, .type = value.type});
    result_.original_values.push_back(original);
    local_ids_.emplace(original, local);
    return local;
  }

  bool is_used_outside(ValueId output) const {
    const Value& value = source_.values[output];
    const auto& taken = result_.original_nodes;
    return value.is_graph_output ||
           std::any_of(value.consumers.begin(), value.consumers.end(), [&](NodeId consumer) {
             return !std::binary_search(taken.begin(), taken.end(), consumer);
           });
  }

  const Graph& source_;
  Extraction result_;
  std::unordered_map<ValueId, ValueId> local_ids_;  // by original id
};

}  // namespace

Extraction extract_subgraph(const Graph& graph, std::span<const NodeId> nodes, std::string name) {
  return Extractor(graph, nodes, std::move(name)).run();
}

}  // namespace ephost::graph
