#include "host/optimize/function_inlining.h"

#include <cassert>
#include <utility>

#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"

namespace ephost::optimize {
namespace {

using graph::FunctionBody;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::Value;
using graph::ValueId;

// Names of nested functions must not grow without bound.
constexpr size_t kLongestPart = 200;

// The call's own name, or the name of the function it calls.
std::string name_of_call(const Node& node) { return node.name.empty() ? node.op_type : node.name; }

class Inliner {
 public:
  Inliner(Graph& graph, UniqueNames& names) : graph_(graph), names_(names) {}

  void inline_call(const Node& call, FunctionBody body, std::vector<Node>& out_nodes) {
    around_ = name_of_call(call);
    const std::vector<ValueId> ids = place_values(call, body.graph);
    const auto renumber = [&](std::vector<ValueId>& values) {
      for (ValueId& id : values) id = id == kNoValue ? kNoValue : ids[id];
    };
    for (Node& node : body.graph.nodes) {
      renumber(node.inputs);
      renumber(node.outputs);
      graph::renumber_captures(node, ids);
      const std::string& own = node.name.empty() ? node.op_type : node.name;
      node.name = (around_ + "/" + own).substr(0, 2 * kLongestPart);
      graph::for_each_subgraph(node, [&](Graph& subgraph) { rename(subgraph, graph_); });
      out_nodes.push_back(std::move(node));
    }
  }

 private:
  // Maps the values of the body to the graph around the call: those of the call, captured ones, and
  // new ones.
  std::vector<ValueId> place_values(const Node& call, Graph& body) {
    std::vector<ValueId> ids(body.values.size(), kNoValue);
    bind(call.inputs, body.inputs, ids);
    bind(call.outputs, body.outputs, ids);
    for (ValueId id = 0; id < body.values.size(); ++id) {
      Value& value = body.values[id];
      if (ids[id] != kNoValue) continue;
      if (value.outer != kNoValue) {
        ids[id] = value.outer;
      } else {
        ids[id] = graph_.add_value({.name = names_.make(around_, value.name),
                                    .type = std::move(value.type),
                                    .declared = std::move(value.declared)});
      }
    }
    return ids;
  }

  static void bind(const std::vector<ValueId>& actual, const std::vector<ValueId>& formal,
                   std::vector<ValueId>& ids) {
    size_t next = 0;
    for (const ValueId id : actual) {
      if (id != kNoValue) ids[formal[next++]] = id;
    }
    assert(next == formal.size());
  }

  void rename(Graph& subgraph, const Graph& enclosing) {
    for (Value& value : subgraph.values) {
      value.name = value.outer != kNoValue ? enclosing.values[value.outer].name
                                           : names_.make(around_, value.name);
    }
    for (Node& node : subgraph.nodes) {
      graph::for_each_subgraph(node, [&](Graph& inner) { rename(inner, subgraph); });
    }
  }

  Graph& graph_;
  UniqueNames& names_;
  std::string around_;
};

}  // namespace

UniqueNames::UniqueNames(const Graph& graph) { collect(graph); }

void UniqueNames::collect(const Graph& graph) {
  for (const Value& value : graph.values) taken_.emplace(value.name, 0);
  for (const Node& node : graph.nodes) {
    graph::for_each_subgraph(node, [&](const Graph& subgraph) { collect(subgraph); });
  }
}

std::string UniqueNames::make(std::string_view around, std::string_view name) {
  std::string wanted(around.substr(0, kLongestPart));
  wanted += "/";
  wanted += name.substr(0, kLongestPart);
  const auto [known, is_new] = taken_.emplace(wanted, 0);
  if (is_new) return wanted;
  for (;;) {
    std::string numbered = wanted + "_" + std::to_string(++known->second);
    if (taken_.emplace(numbered, 0).second) return numbered;
  }
}

std::vector<InlinedRange> inline_calls(Graph& graph, std::vector<FunctionCall> calls,
                                       UniqueNames& names) {
  std::vector<InlinedRange> ranges;
  std::vector<Node> nodes;
  Inliner inliner(graph, names);
  size_t next = 0;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const auto begin = static_cast<NodeId>(nodes.size());
    if (next < calls.size() && calls[next].node == id) {
      inliner.inline_call(graph.nodes[id], std::move(calls[next++].body), nodes);
    } else {
      nodes.push_back(std::move(graph.nodes[id]));
    }
    ranges.push_back({begin, static_cast<NodeId>(nodes.size())});
  }
  assert(next == calls.size());
  graph.nodes = std::move(nodes);
  graph::connect(graph);
  return ranges;
}

}  // namespace ephost::optimize
