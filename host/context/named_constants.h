// Constants that stay outside of a payload: an EPContext node names them, and the model keeps them
// as initializers of the node's graph, once for all nodes that name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/context/metadata.h"
#include "host/graph/graph.h"

namespace ephost::context {

// A constant as a node names it: "TYPE[EXTENTS] CHECKSUM NAME".
struct NamedConstant {
  std::string type;  // with its shape, e.g. "float[64,3]"
  ContentChecksum checksum;
  std::string name;  // of a value of the node's graph

  friend bool operator==(const NamedConstant&, const NamedConstant&) = default;
};

[[nodiscard]] std::string to_string(const NamedConstant& constant);
// nullopt unless `to_string` could have written `text`.
[[nodiscard]] std::optional<NamedConstant> parse_named_constant(std::string_view text);

// Type and shape of a tensor as text in a node.
[[nodiscard]] std::string describe_type(const graph::Tensor& tensor);

// The bytes of a tensor that its checksum covers: its data, or for strings the size of each in 8
// bytes, the lowest first, followed by its bytes.
[[nodiscard]] graph::Blob checked_bytes(const graph::Tensor& tensor);

// Sets Node::kept_constants of all EPContext nodes to the constants that they name, so that no pass
// removes them. Names without a constant are left to the examination. To be called after import.
void keep_named_constants(graph::Graph& graph);

}  // namespace ephost::context
