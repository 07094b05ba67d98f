#include "host/graph/subgraphs.h"

#include <algorithm>
#include <cassert>

namespace ephost::graph {

bool has_subgraphs(const Node& node) {
  bool found = false;
  for_each_subgraph(node, [&](const Graph&) { found = true; });
  return found;
}

std::vector<ValueId> captured_values(const Node& node) {
  std::vector<ValueId> captured;
  for_each_subgraph(node, [&](const Graph& subgraph) {
    for (const Value& value : subgraph.values) {
      if (value.outer != kNoValue) captured.push_back(value.outer);
    }
  });
  std::sort(captured.begin(), captured.end());
  captured.erase(std::unique(captured.begin(), captured.end()), captured.end());
  return captured;
}

void renumber_captures(Node& node, const std::vector<ValueId>& new_ids) {
  for_each_subgraph(node, [&](Graph& subgraph) {
    for (Value& value : subgraph.values) {
      if (value.outer == kNoValue) continue;
      value.outer = new_ids[value.outer];
      assert(value.outer != kNoValue && "a captured value was removed");
    }
  });
}

}  // namespace ephost::graph
