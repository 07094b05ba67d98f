// Replacement of function calls by the functions' bodies. The caller decides which calls, and
// provides the bodies (onnx_io/import/model_functions.h); it also tracks what the new nodes mean to
// others.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::optimize {

// Names for new values, different from all other names in a model. As subgraphs capture by name
// when a model is written, each name is used in one graph only.
class UniqueNames {
 public:
  // Reserves the names of `graph` and its subgraphs.
  explicit UniqueNames(const graph::Graph& graph);

  // Returns `around/name`, truncated if it is long, and numbered if it is taken.
  [[nodiscard]] std::string make(std::string_view around, std::string_view name);

 private:
  void collect(const graph::Graph& graph);

  std::unordered_map<std::string, uint64_t> taken_;  // with the next number to try
};

struct FunctionCall {
  graph::NodeId node = graph::kNoNode;
  graph::FunctionBody body;  // for this call
};

// By old node: its first replacement, and the end of its replacements. All nodes except calls have
// one replacement.
struct InlinedRange {
  graph::NodeId begin = 0;
  graph::NodeId end = 0;
};

// Replaces the calls, in ascending order of node, in a connected and sorted graph, which stays so.
// Values of the bodies, including their subgraphs, get names from `names`; nodes get names that
// begin with the call's name. Existing values keep their ids.
std::vector<InlinedRange> inline_calls(graph::Graph& graph, std::vector<FunctionCall> calls,
                                       UniqueNames& names);

}  // namespace ephost::optimize
