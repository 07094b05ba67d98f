#include "plugins/dnnl/capability/capability.h"

#include <algorithm>
#include <map>

#include "plugins/dnnl/capability/clusters.h"
#include "plugins/dnnl/capability/row_chains.h"
#include "plugins/dnnl/context/recipe_codec.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/lowering/lowering.h"
#include "plugins/dnnl/lowering/node_lowerings.h"

namespace ephost_dnnl {
namespace {

// What is known about one unit.
struct Support {
  bool is_supported = false;
  bool is_heavy = false;  // worth a partition of its own
  std::string reason;
};

bool is_view(const Op& op) {
  return get_if<Reshape>(op) != nullptr || get_if<Transpose>(op) != nullptr;
}

bool is_heavy(const Op& op) {
  return get_if<Convolution>(op) != nullptr || get_if<MatMul>(op) != nullptr ||
         get_if<Pooling>(op) != nullptr;
}

// Asks the library once for each distinct recipe; models repeat their layers.
class LibraryQuery {
 public:
  explicit LibraryQuery(const dnnl::engine& engine) : engine_(engine) {}

  // Why the library cannot compute a recipe; empty if it can.
  const std::string& refusal(const Recipe& recipe) {
    Recipe anonymous = recipe;
    for (Op& op : anonymous.ops) op.name.clear();
    ByteWriter key;
    encode(anonymous, key);
    const auto [entry, is_new] = known_.try_emplace(key.bytes());
    if (is_new) entry->second = ask(anonymous);
    return entry->second;
  }

 private:
  [[nodiscard]] std::string ask(const Recipe& recipe) const {
    std::vector<bool> is_constant(recipe.tensors.size(), false);
    for (const TensorId constant : recipe.constants) is_constant[constant] = true;
    try {
      for (const Op& op : recipe.ops) {
        if (!is_view(op)) {
          static_cast<void>(choose_primitive(plain_request(recipe, op, is_constant), engine_));
        }
      }
      return {};
    } catch (const NoPrimitive& error) {
      return error.what();
    }
  }

  const dnnl::engine& engine_;
  std::map<std::string, std::string> known_;
};

// Whether the unit depends on constants only, so that the host computes it once. Quantised
// constants are different: the host leaves them to the provider that reads them.
bool is_for_the_host(const eph::GraphView& graph, const Unit& unit) {
  if (graph.node(unit.nodes.back()).op_type() == "DequantizeLinear") return false;
  for (const uint32_t node : unit.nodes) {
    const eph::ArrayView<uint32_t> inputs = graph.node(node).inputs();
    for (const uint32_t input : inputs) {
      if (input != EPH_NONE && graph.value(input).constant() == nullptr) return false;
    }
  }
  return true;
}

Support find_support(const eph::GraphView& graph, const Unit& unit, LibraryQuery& library) {
  Support support;
  try {
    if (is_for_the_host(graph, unit)) throw Unsupported("all inputs are constant");
    const LoweredPartition lowered = lower_unit(graph, unit);
    support.is_heavy = std::any_of(lowered.recipe.ops.begin(), lowered.recipe.ops.end(), &is_heavy);
    support.reason = library.refusal(lowered.recipe);
    support.is_supported = support.reason.empty();
  } catch (const Unsupported& reason) {
    support.reason = reason.what();
  } catch (const eph::Failure& failure) {  // an attribute or constant of the wrong kind
    support.reason = failure.what();
  }
  return support;
}

bool is_taken(const eph::GraphView& graph, const Unit& unit) {
  return std::any_of(unit.nodes.begin(), unit.nodes.end(),
                     [&](uint32_t node) { return graph.node(node).is_taken(); });
}

// Values that a node reads, including those that its subgraphs read.
std::vector<uint32_t> all_inputs(const eph::GraphView& graph, uint32_t node) {
  const eph::NodeView view = graph.node(node);
  std::vector<uint32_t> inputs = view.inputs().to_vector();
  inputs.insert(inputs.end(), view.implicit_inputs().begin(), view.implicit_inputs().end());
  return inputs;
}

std::vector<std::pair<uint32_t, uint32_t>> find_edges(const eph::GraphView& graph,
                                                      const std::vector<uint32_t>& unit_of_node) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (uint32_t node = 0; node < graph.node_count(); ++node) {
    for (const uint32_t input : all_inputs(graph, node)) {
      if (input == EPH_NONE) continue;
      const uint32_t producer = graph.value(input).producer();
      if (producer >= unit_of_node.size()) continue;
      const uint32_t from = unit_of_node[producer], to = unit_of_node[node];
      if (from != to) edges.emplace_back(from, to);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// As is_heavy, of operators: ONNX's and those that ONNX Runtime fuses, such as FusedConv.
bool is_heavy_operator(std::string_view op_type) {
  static constexpr std::string_view kEnds[] = {"Conv", "Gemm", "MatMul", "Pool"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return op_type.ends_with(end); });
}

bool has_lowering(const eph::NodeView& node) {
  try {
    return find_node_lowering(node) != nullptr;
  } catch (const Unsupported&) {
    return false;
  }
}

bool is_open_float(const eph::GraphView& graph, uint32_t value) {
  if (value == EPH_NONE) return false;
  const eph::ValueView view = graph.value(value);
  return view.kind() == EPH_KIND_TENSOR && view.element_type() == EPH_ELEMENT_FLOAT &&
         !view.has_static_shape();
}

}  // namespace

std::vector<uint32_t> find_open_nodes(const eph::GraphView& graph) {
  std::vector<uint32_t> nodes;
  bool is_worth_it = false;
  for (uint32_t index = 0; index < graph.node_count(); ++index) {
    const eph::NodeView node = graph.node(index);
    if (node.is_taken() || !has_lowering(node)) continue;
    const auto is_open = [&](uint32_t value) { return is_open_float(graph, value); };
    if (std::none_of(node.inputs().begin(), node.inputs().end(), is_open) &&
        std::none_of(node.outputs().begin(), node.outputs().end(), is_open)) {
      continue;
    }
    nodes.push_back(index);
    is_worth_it = is_worth_it || is_heavy_operator(node.op_type());
  }
  if (!is_worth_it) nodes.clear();
  return nodes;
}

Capability find_capability(const eph::GraphView& graph, const dnnl::engine& engine,
                           int64_t least_open_rows) {
  const std::vector<Unit> units = find_units(graph);
  std::vector<uint32_t> unit_of_node(graph.node_count(), 0);
  std::vector<Support> support;
  UnitGraph unit_graph;
  LibraryQuery library(engine);
  for (uint32_t i = 0; i < units.size(); ++i) {
    for (const uint32_t node : units[i].nodes) unit_of_node[node] = i;
    support.push_back(is_taken(graph, units[i]) ? Support{}
                                                : find_support(graph, units[i], library));
    unit_graph.is_supported.push_back(support.back().is_supported);
  }
  unit_graph.edges = find_edges(graph, unit_of_node);

  Capability capability;
  capability.reasons.resize(graph.node_count());
  std::map<uint32_t, std::vector<uint32_t>> members;  // units of each cluster
  const std::vector<uint32_t> clusters = find_clusters(unit_graph);
  for (uint32_t i = 0; i < units.size(); ++i) {
    if (clusters[i] != kNoCluster) members[clusters[i]].push_back(i);
    for (const uint32_t node : units[i].nodes) capability.reasons[node] = support[i].reason;
  }
  for (const auto& [cluster, of_cluster] : members) {
    std::vector<uint32_t> nodes;
    bool is_worth_it = false;
    for (const uint32_t unit : of_cluster) {
      nodes.insert(nodes.end(), units[unit].nodes.begin(), units[unit].nodes.end());
      is_worth_it = is_worth_it || support[unit].is_heavy;
    }
    std::sort(nodes.begin(), nodes.end());
    if (is_worth_it) {
      capability.partitions.push_back(std::move(nodes));
      continue;
    }
    for (const uint32_t node : nodes) {
      capability.reasons[node] = "no convolution, matrix product or pooling to fuse with";
    }
  }
  capability.open_partitions = find_row_chains(graph, engine, least_open_rows);
  for (const std::vector<uint32_t>& nodes : capability.open_partitions) {
    for (const uint32_t node : nodes) capability.reasons[node].clear();
  }
  return capability;
}

}  // namespace ephost_dnnl
