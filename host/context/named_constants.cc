#include "host/context/named_constants.h"

#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/context/ep_context_node.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"

namespace ephost::context {

using graph::Graph;
using graph::ValueId;

namespace {

// The values of a graph by name; made for the first node that names a constant.
using Names = std::unordered_map<std::string_view, ValueId>;

Names names_of(const Graph& graph) {
  Names names;
  names.reserve(graph.values.size());
  for (ValueId id = 0; id < graph.values.size(); ++id) names.emplace(graph.values[id].name, id);
  return names;
}

// Whether a node of the graph or of its subgraphs keeps a constant now.
bool keep(Graph& graph) {
  bool keeps = false;
  std::optional<Names> names;
  for (graph::NodeId id = 0; id < graph.nodes.size(); ++id) {
    graph::Node& node = graph.nodes[id];
    graph::for_each_subgraph(node, [&](Graph& subgraph) { keeps = keep(subgraph) || keeps; });
    if (!is_ep_context(node) || node.attribute(kNamedConstantsAttribute) == nullptr) continue;
    const Result<EpContextNode> read = read_ep_context_node(graph, id);
    if (!read.ok()) continue;
    if (!names) names = names_of(graph);
    node.kept_constants.clear();
    for (const NamedConstant& constant : read->constants) {
      const auto found = names->find(constant.name);
      if (found == names->end() || !graph.values[found->second].is_constant()) continue;
      node.kept_constants.push_back(found->second);
      keeps = true;
    }
  }
  return keeps;
}

void append_size(std::vector<std::byte>& bytes, uint64_t size) {
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(std::byte(size >> shift & 0xff));
}

}  // namespace

std::string to_string(const NamedConstant& constant) {
  return formatted("{} {} {}", constant.type, to_string(constant.checksum), constant.name);
}

std::optional<NamedConstant> parse_named_constant(std::string_view text) {
  const size_t type_end = text.find(' ');
  if (type_end == text.npos || type_end == 0) return std::nullopt;
  const size_t checksum_end = text.find(' ', type_end + 1);
  if (checksum_end == text.npos || checksum_end + 1 == text.size()) return std::nullopt;
  const auto checksum =
      parse_content_checksum(text.substr(type_end + 1, checksum_end - type_end - 1));
  if (!checksum) return std::nullopt;
  return NamedConstant{.type = std::string(text.substr(0, type_end)),
                       .checksum = *checksum,
                       .name = std::string(text.substr(checksum_end + 1))};
}

std::string describe_type(const graph::Tensor& tensor) {
  return graph::to_string({.kind = graph::ValueKind::kTensor,
                           .element = tensor.type,
                           .shape = tensor.shape,
                           .nested = nullptr},
                          {});
}

graph::Blob checked_bytes(const graph::Tensor& tensor) {
  if (!tensor.strings) return tensor.data;
  std::vector<std::byte> bytes;
  for (const std::string& text : *tensor.strings) {
    append_size(bytes, text.size());
    const auto own = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), own.begin(), own.end());
  }
  return graph::make_blob(std::move(bytes));
}

void keep_named_constants(Graph& graph) {
  if (keep(graph)) graph::connect(graph);
}

}  // namespace ephost::context
