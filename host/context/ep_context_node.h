// `com.microsoft.EPContext` nodes as plain values: read from the nodes of a graph, and turned into
// nodes. Nothing here opens a file; the loader finds the payloads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/context/named_constants.h"
#include "host/graph/graph.h"

namespace ephost::context {

inline constexpr std::string_view kEpContextDomain = "com.microsoft";
inline constexpr std::string_view kEpContextOpType = "EPContext";
inline constexpr int32_t kEpContextVersion = 1;
// An attribute of our own. ONNX reserves names with two leading underscores for such ones: a
// checker of the operator ignores them.
inline constexpr std::string_view kNamedConstantsAttribute = "__ephost_constants";

// The attributes of a node, with the operator's defaults.
struct EpContextNode {
  // True: a primary node, which has the payload that contains its partition. False: a secondary
  // node, whose partition is in the payload of a primary node.
  bool main_context = true;
  bool embedded = true;  // embed_mode
  // The value of `ep_cache_context` is the payload of an embedded primary node, ...
  graph::Blob payload;
  // ... the path of a binary relative to the folder of the model (primary node that is not
  // embedded), or the partition_name of the primary node (secondary node; other hosts may leave it
  // empty or write something else).
  std::string reference;
  std::string sdk_version;
  std::string onnx_model_filename;
  std::string hardware_architecture;
  std::string partition_name;
  std::string source;
  std::string notes;
  int64_t max_size = 0;
  std::vector<NamedConstant> constants;  // that are outside of the payload; names differ
};

[[nodiscard]] bool is_ep_context(const graph::Node& node);

// INVALID_GRAPH, naming the node and the attribute, if a type or a number is wrong or a primary
// node has no `ep_cache_context`. The payload shares the owner of the node's attribute. A short
// string attribute has no owner; the payload then borrows the bytes of the node.
[[nodiscard]] Result<EpContextNode> read_ep_context_node(const graph::Graph& graph,
                                                         graph::NodeId node);

// Makes a node without inputs and outputs that is named after its partition. Leaves out optional
// attributes that are empty.
[[nodiscard]] graph::Node make_ep_context_node(EpContextNode attributes);

// A graph that consists of such a node, with name, inputs and outputs of a partition that was
// extracted as a graph of its own.
[[nodiscard]] graph::Graph make_ep_context_graph(const graph::Graph& partition,
                                                 EpContextNode attributes);

// A node of a model or of one of its nested graphs. Valid for as long as the model is neither moved
// nor changed.
struct NodePlace {
  const graph::Graph* graph = nullptr;
  graph::NodeId node = graph::kNoNode;
};

// All EPContext nodes of the graph and of its subgraphs, in the order of the nodes; those in the
// subgraphs of a node follow that node.
[[nodiscard]] std::vector<NodePlace> find_ep_context_nodes(const graph::Graph& graph);

// INVALID_GRAPH naming the first EPContext node, if there is one: a context model cannot be
// compiled again.
[[nodiscard]] Status refuse_ep_context_nodes(const graph::Graph& graph);

}  // namespace ephost::context
