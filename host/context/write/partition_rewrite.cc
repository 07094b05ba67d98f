#include "host/context/write/partition_rewrite.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/named_constants.h"
#include "host/graph/checks.h"
#include "host/graph/connect.h"
#include "host/graph/rewrite.h"
#include "host/graph/subgraphs.h"

namespace ephost::context {

using graph::Graph;
using graph::ValueId;

namespace {

Status cannot_write(const WrittenPartition& partition, std::string_view reason) {
  return Status(StatusCode::kInvalidArgument,
                formatted("partition {} cannot be written: {}", quote(partition.name), reason));
}

Graph* subgraph_at(Graph& graph, const SubgraphStep& step) {
  if (step.node >= graph.nodes.size()) return nullptr;
  Graph* found = nullptr;
  uint32_t index = 0;
  graph::for_each_subgraph(graph.nodes[step.node], [&](Graph& subgraph) {
    if (index++ == step.subgraph) found = &subgraph;
  });
  return found;
}

Result<Graph*> graph_of(graph::Model& model, const WrittenPartition& partition) {
  Graph* graph = &model.graph;
  for (const SubgraphStep& step : partition.graph) {
    graph = subgraph_at(*graph, step);
    if (!graph) return cannot_write(partition, "its nested graph does not exist");
  }
  const auto exists = [&](ValueId id) {
    return id == graph::kNoValue || id < graph->values.size();
  };
  if (!std::all_of(partition.inputs.begin(), partition.inputs.end(), exists) ||
      !std::all_of(partition.outputs.begin(), partition.outputs.end(), exists)) {
    return cannot_write(partition, "an input or output does not exist");
  }
  for (const ValueId id : partition.constants) {
    if (id >= graph->values.size() || !graph->values[id].is_constant()) {
      return cannot_write(partition, formatted("value {}, which it keeps, is not a constant", id));
    }
  }
  return graph;
}

// Computes the checksum of each constant once.
class ConstantStatements {
 public:
  NamedConstant state(const Graph& graph, ValueId id) {
    const graph::Tensor& tensor = graph.initializers[graph.values[id].initializer];
    const auto [entry, is_new] = checksums_.try_emplace(&tensor);
    if (is_new) {
      const graph::Blob bytes = checked_bytes(tensor);
      entry->second = {.hash = content_checksum(bytes.bytes), .size = bytes.bytes.size()};
    }
    return {
        .type = describe_type(tensor), .checksum = entry->second, .name = graph.values[id].name};
  }

 private:
  std::map<const graph::Tensor*, ContentChecksum> checksums_;
};

// The node of a partition; `primary` is the partition whose node has the payload.
graph::Node context_node(const Graph& graph, const WrittenPartition& partition,
                         const WrittenPartition& primary, const PayloadPlacement& payload,
                         const std::string& onnx_model_filename, ConstantStatements& statements) {
  EpContextNode attributes{.main_context = &partition == &primary,
                           .embedded = payload.embedded,
                           .onnx_model_filename = onnx_model_filename};
  if (!attributes.main_context) {
    attributes.reference = primary.name;
  } else if (payload.embedded) {
    attributes.payload = payload.bytes;
  } else {
    attributes.reference = payload.file_name;
  }
  attributes.partition_name = partition.name;
  attributes.source = partition.source;
  attributes.sdk_version = partition.sdk_version;
  attributes.hardware_architecture = partition.hardware_architecture;
  attributes.notes = partition.notes;
  attributes.max_size = partition.max_size;
  for (const ValueId id : partition.constants) {
    attributes.constants.push_back(statements.state(graph, id));
  }
  graph::Node node = make_ep_context_node(std::move(attributes));
  node.inputs = partition.inputs;
  node.outputs = partition.outputs;
  node.kept_constants = partition.constants;
  return node;
}

// The partitions of one graph.
struct Level {
  Graph* graph = nullptr;
  size_t depth = 0;
  std::vector<graph::Group> groups;
};

Result<std::vector<Level>> group_by_graph(graph::Model& model,
                                          std::span<const WrittenPartition> partitions,
                                          std::span<const PayloadPlacement> payloads,
                                          const std::string& onnx_model_filename) {
  std::vector<Level> levels;
  ConstantStatements statements;
  std::vector<const WrittenPartition*> primaries(payloads.size(), nullptr);
  for (const WrittenPartition& partition : partitions) {
    if (partition.payload >= payloads.size()) return cannot_write(partition, "it has no payload");
    EPHOST_ASSIGN_OR_RETURN(Graph * graph, graph_of(model, partition));
    auto level = std::find_if(levels.begin(), levels.end(),
                              [&](const Level& candidate) { return candidate.graph == graph; });
    if (level == levels.end()) {
      level = levels.insert(levels.end(), {.graph = graph, .depth = partition.graph.size()});
    }
    const WrittenPartition*& primary = primaries[partition.payload];
    if (!primary) primary = &partition;
    level->groups.push_back(
        {.nodes = partition.nodes,
         .replacement = context_node(*graph, partition, *primary, payloads[partition.payload],
                                     onnx_model_filename, statements)});
  }
  return levels;
}

// Removes values that nothing produces or uses, mostly initializers. Innermost graphs go first, as
// they may contain the last use of an outer value.
void drop_unused_values(Graph& graph) {
  for (graph::Node& node : graph.nodes) graph::for_each_subgraph(node, drop_unused_values);
  graph::connect(graph);
  std::vector<bool> keep(graph.values.size());
  std::transform(graph.values.begin(), graph.values.end(), keep.begin(),
                 [](const graph::Value& value) {
                   return value.producer != graph::kNoNode || !value.consumers.empty() ||
                          value.is_graph_input || value.is_graph_output;
                 });
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  graph::compact(graph, std::vector<bool>(graph.nodes.size(), true), keep);
}

}  // namespace

Status replace_partitions(graph::Model& model, std::span<const WrittenPartition> partitions,
                          std::span<const PayloadPlacement> payloads,
                          const std::string& onnx_model_filename) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<Level> levels,
                          group_by_graph(model, partitions, payloads, onnx_model_filename));
  // Paths to nested graphs count the nodes of the unchanged model, so all are resolved by now.
  // Inner graphs are rewritten first, so that an outer partition contains them in their final form.
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.depth > b.depth; });
  for (Level& level : levels) {
    const auto replaced = graph::replace_nodes(*level.graph, std::move(level.groups));
    if (!replaced.ok()) return Status(replaced.status()).with_context("writing the context model");
    // A nested graph may capture fewer values now.
    graph::connect(model.graph);
  }
  drop_unused_values(model.graph);
  if (!partitions.empty()) {
    model.opset_imports.emplace(std::string(kEpContextDomain), kEpContextVersion);
  }
  return graph::check_graph(model.graph).with_context("checking the context model");
}

}  // namespace ephost::context
