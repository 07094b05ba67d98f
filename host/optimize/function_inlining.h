// Puts the bodies of functions in the place of their calls. Which calls, and where the bodies come
// from, is the caller's to know (onnx_io/import/model_functions.h); so is what the new nodes mean
// for others.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::optimize {

// Names for new values, different from all others of a model. As subgraphs capture by name when a
// model is written, a name is used in one graph only, whichever that is.
class UniqueNames {
 public:
  // `graph` with its subgraphs.
  explicit UniqueNames(const graph::Graph& graph);

  // `around/name`, cut where it is long, with a number where it is taken.
  [[nodiscard]] std::string make(std::string_view around, std::string_view name);

 private:
  void collect(const graph::Graph& graph);

  std::unordered_map<std::string, uint64_t> taken_;  // and how many were asked for since
};

struct FunctionCall {
  graph::NodeId node = graph::kNoNode;
  graph::FunctionBody body;  // of this call
};

// By old node: the first of the nodes that it became, and the first after them; one node for all
// but calls.
struct InlinedRange {
  graph::NodeId begin = 0;
  graph::NodeId end = 0;
};

// Replaces the calls, ascending by node, in a connected and sorted graph, which stays so. Values of
// the bodies get names of `names`, those of their subgraphs too; nodes get names that begin with
// the call's. Values that were there keep their ids.
std::vector<InlinedRange> inline_calls(graph::Graph& graph, std::vector<FunctionCall> calls,
                                       UniqueNames& names);

}  // namespace ephost::optimize
