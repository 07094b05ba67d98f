// `com.microsoft.EPContext` nodes as values: read from a graph that came from a file, and made for
// one that goes to a file. Knows no files; where payloads come from is the loader's matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/graph/graph.h"

namespace ephost::context {

inline constexpr std::string_view kEpContextDomain = "com.microsoft";
inline constexpr std::string_view kEpContextOpType = "EPContext";
inline constexpr int32_t kEpContextVersion = 1;

// The attributes of a node, with the operator's defaults.
struct EpContextNode {
  // Primary: the node brings the payload that holds its graph. Otherwise secondary: its graph lies
  // in the payload of a primary node.
  bool main_context = true;
  bool embedded = true;  // embed_mode
  // What `ep_cache_context` holds: the payload of an embedded primary node, ...
  graph::Blob payload;
  // ... the path of another primary's binary, relative to the model's folder, or the partition_name
  // of a secondary's primary (models from elsewhere may leave that empty or hold something else).
  std::string reference;
  std::string sdk_version;
  std::string onnx_model_filename;
  std::string hardware_architecture;
  std::string partition_name;
  std::string source;
  std::string notes;
  int64_t max_size = 0;
};

[[nodiscard]] bool is_ep_context(const graph::Node& node);

// INVALID_GRAPH naming node and attribute where a type or range is wrong or a primary node lacks
// its `ep_cache_context`. The payload shares the owner of the node's attribute; without one (a
// short string attribute) it borrows from the node.
[[nodiscard]] Result<EpContextNode> read_ep_context_node(const graph::Graph& graph,
                                                         graph::NodeId node);

// A node without inputs and outputs, named after its partition. Optional attributes that are empty
// are left out.
[[nodiscard]] graph::Node make_ep_context_node(EpContextNode attributes);

// A node of a model, nested graphs included. Valid while the model stays where it is.
struct NodePlace {
  const graph::Graph* graph = nullptr;
  graph::NodeId node = graph::kNoNode;
};

// All EPContext nodes of the graph and of its subgraphs: nodes in order, those of a node's
// subgraphs at the node's place.
[[nodiscard]] std::vector<NodePlace> find_ep_context_nodes(const graph::Graph& graph);

// INVALID_GRAPH naming the first EPContext node: a context model cannot be compiled again.
[[nodiscard]] Status refuse_ep_context_nodes(const graph::Graph& graph);

}  // namespace ephost::context
