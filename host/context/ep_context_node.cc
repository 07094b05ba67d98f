#include "host/context/ep_context_node.h"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"

namespace ephost::context {

using graph::Attribute;
using graph::Blob;
using graph::Graph;
using graph::Node;
using graph::NodeId;

namespace {

constexpr std::string_view kCacheContext = "ep_cache_context";
// No system opens a longer path (PATH_MAX), so it is refused before anything parses it.
constexpr size_t kMaxPathBytes = 4096;

class AttributeReader {
 public:
  AttributeReader(const Graph& graph, NodeId node) : graph_(graph), node_(node) {}

  Status error(std::string_view attribute, std::string_view what) const {
    return Status(StatusCode::kInvalidGraph,
                  formatted("attribute {} of {} {}; compile the source model again",
                            quote(attribute), graph::describe_node(graph_, node_), what));
  }

  Result<int64_t> integer(std::string_view name, int64_t default_value, int64_t max) const {
    if (!attributes().attribute(name)) return default_value;
    const std::optional<int64_t> value = attributes().integer(name);
    if (!value) return error(name, "is not an integer");
    if (*value < 0 || *value > max) return error(name, formatted("is out of range: {}", *value));
    return *value;
  }

  Status text(std::string_view name, std::string& out_text) const {
    if (!attributes().attribute(name)) return {};
    const std::optional<std::string_view> value = attributes().string(name);
    if (!value) return error(name, "is not a string");
    out_text = *value;
    return {};
  }

  Status constants(std::vector<NamedConstant>& out_constants) const {
    const graph::AttributeValue* value = attributes().attribute(kNamedConstantsAttribute);
    if (!value) return {};
    const auto* list = std::get_if<std::vector<std::string>>(value);
    if (!list) return error(kNamedConstantsAttribute, "is not a list of strings");
    std::unordered_set<std::string_view> names;
    out_constants.reserve(list->size());
    for (const std::string& text : *list) {
      std::optional<NamedConstant> parsed = parse_named_constant(text);
      if (!parsed) {
        return error(kNamedConstantsAttribute, "has the entry " + quote(text) +
                                                   ", which is not a type, a checksum and a name");
      }
      const auto& added = out_constants.emplace_back(std::move(*parsed));
      if (!names.insert(added.name).second) {
        return error(kNamedConstantsAttribute, "names " + quote(added.name) + " twice");
      }
    }
    return {};
  }

  // The bytes of a string attribute, with their owner if they have one.
  Result<Blob> blob(std::string_view name) const {
    const graph::AttributeValue* value = attributes().attribute(name);
    if (!value) return error(name, "is missing, though main_context is 1");
    if (const auto* large = std::get_if<Blob>(value)) return *large;
    const auto* small = std::get_if<std::string>(value);
    if (!small) return error(name, "is not a string");
    return Blob{.bytes = std::as_bytes(std::span(*small)), .owner = nullptr};
  }

 private:
  const Node& attributes() const { return graph_.nodes[node_]; }

  const Graph& graph_;
  NodeId node_;
};

Status read_reference(const AttributeReader& reader, EpContextNode& read) {
  if (read.main_context && read.embedded) {
    EPHOST_ASSIGN_OR_RETURN(read.payload, reader.blob(kCacheContext));
    return {};
  }
  if (read.main_context) {
    EPHOST_ASSIGN_OR_RETURN(const Blob path, reader.blob(kCacheContext));
    if (path.bytes.size() > kMaxPathBytes) {
      return reader.error(kCacheContext,
                          formatted("is not a path: it has {} bytes", path.bytes.size()));
    }
  }
  return reader.text(kCacheContext, read.reference);
}

void add_text(Node& node, std::string_view name, std::string& text) {
  if (!text.empty()) node.attributes.push_back({std::string(name), std::move(text)});
}

void collect(const Graph& graph, std::vector<NodePlace>& places) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (is_ep_context(graph.nodes[id])) places.push_back({.graph = &graph, .node = id});
    graph::for_each_subgraph(graph.nodes[id],
                             [&](const Graph& subgraph) { collect(subgraph, places); });
  }
}

}  // namespace

bool is_ep_context(const Node& node) {
  return node.op_type == kEpContextOpType && node.domain == kEpContextDomain;
}

Result<EpContextNode> read_ep_context_node(const Graph& graph, NodeId node) {
  const AttributeReader reader(graph, node);
  EpContextNode read;
  EPHOST_ASSIGN_OR_RETURN(const int64_t main_context, reader.integer("main_context", 1, 1));
  EPHOST_ASSIGN_OR_RETURN(const int64_t embed_mode, reader.integer("embed_mode", 1, 1));
  EPHOST_ASSIGN_OR_RETURN(read.max_size,
                          reader.integer("max_size", 0, std::numeric_limits<int64_t>::max()));
  read.main_context = main_context == 1;
  read.embedded = embed_mode == 1;
  EPHOST_RETURN_IF_ERROR(read_reference(reader, read));
  EPHOST_RETURN_IF_ERROR(reader.text("ep_sdk_version", read.sdk_version));
  EPHOST_RETURN_IF_ERROR(reader.text("onnx_model_filename", read.onnx_model_filename));
  EPHOST_RETURN_IF_ERROR(reader.text("hardware_architecture", read.hardware_architecture));
  EPHOST_RETURN_IF_ERROR(reader.text("partition_name", read.partition_name));
  EPHOST_RETURN_IF_ERROR(reader.text("source", read.source));
  EPHOST_RETURN_IF_ERROR(reader.text("notes", read.notes));
  EPHOST_RETURN_IF_ERROR(reader.constants(read.constants));
  return read;
}

Node make_ep_context_node(EpContextNode attributes) {
  Node node{.name = attributes.partition_name,
            .op_type = std::string(kEpContextOpType),
            .domain = std::string(kEpContextDomain),
            .since_version = kEpContextVersion};
  node.attributes.push_back({"main_context", int64_t{attributes.main_context}});
  node.attributes.push_back({"embed_mode", int64_t{attributes.embedded}});
  Attribute cache{.name = std::string(kCacheContext), .value = std::string()};
  if (attributes.main_context && attributes.embedded) {
    cache.value = std::move(attributes.payload);
  } else {
    cache.value = std::move(attributes.reference);
  }
  node.attributes.push_back(std::move(cache));
  add_text(node, "ep_sdk_version", attributes.sdk_version);
  add_text(node, "onnx_model_filename", attributes.onnx_model_filename);
  add_text(node, "hardware_architecture", attributes.hardware_architecture);
  add_text(node, "partition_name", attributes.partition_name);
  add_text(node, "source", attributes.source);
  add_text(node, "notes", attributes.notes);
  if (attributes.max_size != 0) node.attributes.push_back({"max_size", attributes.max_size});
  if (!attributes.constants.empty()) {
    std::vector<std::string> entries;
    for (const NamedConstant& constant : attributes.constants) {
      entries.push_back(to_string(constant));
    }
    node.attributes.push_back({std::string(kNamedConstantsAttribute), std::move(entries)});
  }
  return node;
}

Graph make_ep_context_graph(const Graph& partition, EpContextNode attributes) {
  Graph graph{.name = partition.name};
  Node node = make_ep_context_node(std::move(attributes));
  const auto copy = [&](graph::ValueId id) {
    const graph::Value& value = partition.values[id];
    return graph.add_value({.name = value.name, .type = value.type});
  };
  for (const graph::ValueId input : partition.inputs) node.inputs.push_back(copy(input));
  for (const graph::ValueId output : partition.outputs) node.outputs.push_back(copy(output));
  graph.inputs = node.inputs;
  graph.outputs = node.outputs;
  graph.add_node(std::move(node));
  graph::connect(graph);
  return graph;
}

std::vector<NodePlace> find_ep_context_nodes(const Graph& graph) {
  std::vector<NodePlace> places;
  collect(graph, places);
  return places;
}

Status refuse_ep_context_nodes(const Graph& graph) {
  const std::vector<NodePlace> places = find_ep_context_nodes(graph);
  if (places.empty()) return {};
  return Status(StatusCode::kInvalidGraph,
                formatted("the model is a context model already: it contains {}; compile the model "
                          "that it was made from",
                          graph::describe_node(*places[0].graph, places[0].node)));
}

}  // namespace ephost::context
