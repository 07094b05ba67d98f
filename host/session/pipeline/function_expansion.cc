#include "host/session/pipeline/function_expansion.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/checks.h"
#include "host/graph/connect.h"
#include "host/graph/subgraphs.h"
#include "host/optimize/fold_budget.h"
#include "host/session/pipeline/renumbering.h"

namespace ephost::session {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using optimize::InlinedRange;

// Calls `visit(graph, node)` for all nodes until it returns true. Returns whether it did.
template <class Visitor>
bool any_node(const Graph& graph, const Visitor& visit) {
  for (const Node& node : graph.nodes) {
    bool found = visit(graph, node);
    if (!found) {
      graph::for_each_subgraph(
          node, [&](const Graph& subgraph) { found = found || any_node(subgraph, visit); });
    }
    if (found) return true;
  }
  return false;
}

constexpr uint64_t kBytesOfANode = 128;

// The size of a body: nodes, values, and the attributes that each call copies.
uint64_t size_of(const Graph& graph) {
  constexpr uint64_t kElementsOfANode = 16;
  uint64_t size = graph.nodes.size() + graph.values.size();
  for (const Node& node : graph.nodes) {
    for (const graph::Attribute& attribute : node.attributes) {
      const auto length = [](const auto& value) -> uint64_t {
        if constexpr (requires { value.size(); }) return value.size();
        return 0;
      };
      size += std::visit(length, attribute.value) / kElementsOfANode;
    }
    graph::for_each_subgraph(node, [&](const Graph& subgraph) { size += size_of(subgraph); });
  }
  return size;
}

// Bytes of tensors in a body: constants, and initializers of its subgraphs.
uint64_t bytes_of_tensors(const Graph& graph) {
  uint64_t bytes = 0;
  for (const graph::Tensor& tensor : graph.initializers) bytes += optimize::stored_bytes(tensor);
  for (const Node& node : graph.nodes) {
    for (const graph::Attribute& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<graph::Tensor>(&attribute.value)) {
        bytes += optimize::stored_bytes(*tensor);
      } else if (const auto* sparse = std::get_if<graph::SparseTensor>(&attribute.value)) {
        bytes += optimize::stored_bytes(sparse->values) + optimize::stored_bytes(sparse->indices);
      }
    }
    graph::for_each_subgraph(node,
                             [&](const Graph& subgraph) { bytes += bytes_of_tensors(subgraph); });
  }
  return bytes;
}

}  // namespace

Status FunctionInlining::open(const PreparedModel& prepared) {
  if (library_) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(library_, onnx_io::FunctionLibrary::create(prepared.model));
  return Status::ok_status();
}

Result<bool> FunctionInlining::may_inline(const PreparedModel& prepared) {
  EPHOST_RETURN_IF_ERROR(open(prepared));
  // Most nodes have one of a few operators, so the answer for one is kept for the next.
  std::unordered_map<std::string_view, std::pair<const Node*, bool>> known;
  return any_node(prepared.model.graph, [&](const Graph& graph, const Node& node) {
    auto& [last, has_body] = known[node.op_type];
    const bool is_same = last != nullptr && last->since_version == node.since_version &&
                         last->domain == node.domain && last->overload == node.overload;
    if (!is_same) has_body = library_->may_have_body(node);
    last = &node;
    if (!has_body || library_->overrides_operator(node)) return has_body;
    return std::ranges::none_of(prepared.providers, [&](const auto& provider) {
      return provider->kernels().fits(graph, node);
    });
  });
}

std::vector<FunctionInlining::Calls> FunctionInlining::find_unclaimed(
    PreparedModel& prepared) const {
  std::vector<Calls> local;
  std::vector<Calls> operators;
  for (PreparedGraph* one : prepared.graphs()) {
    Graph& graph = prepared.graph_of(*one);
    Calls of_local{&graph, &one->path, {}};
    Calls of_operators = of_local;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      const bool is_taken = one->partitioning.owner[id] != partition::kUnassigned;
      const bool is_local = library_->is_local(graph.nodes[id]);
      if (is_taken && !(is_local && library_->overrides_operator(graph.nodes[id]))) continue;
      if (is_local) {
        of_local.nodes.push_back(id);
      } else if (library_->may_have_body(graph.nodes[id])) {
        of_operators.nodes.push_back(id);
      }
    }
    if (!of_local.nodes.empty()) local.push_back(std::move(of_local));
    if (!of_operators.nodes.empty()) operators.push_back(std::move(of_operators));
  }
  return local.empty() ? operators : local;
}

Status FunctionInlining::count_growth(const Graph& graph, NodeId call,
                                      const graph::FunctionBody& body) {
  const Node& node = graph.nodes[call];
  growth_ += size_of(body.graph);
  // The first body shares its content with the function; each further one is a copy.
  const bool is_first = inlined_.emplace(node.domain, node.op_type, node.overload).second;
  const uint64_t bytes = bytes_of_tensors(body.graph);
  const uint64_t stated = is_first ? library_->stated_bytes(node) : 0;
  growth_ += (bytes - std::min(bytes, stated)) / kBytesOfANode;
  return growth_ <= max_growth_ ? Status::ok_status()
                                : too_large(graph::describe_node(graph, call));
}

Status FunctionInlining::too_large(const std::string& call) const {
  return {StatusCode::kInvalidGraph,
          formatted("inlining {} would let the model grow by more than {} nodes and values; "
                    "its functions multiply, use them less often or raise "
                    "session.function_inlining_max_nodes",
                    call, max_growth_)};
}

Result<uint64_t> FunctionInlining::inline_in(PreparedModel& prepared, const Calls& calls,
                                             MadeComputations& made) {
  Graph& graph = *calls.graph;
  std::vector<optimize::FunctionCall> found;
  for (const NodeId id : calls.nodes) {
    EPHOST_RETURN_IF_ERROR(prepared.cancellation.check());
    // A model that would become too large is refused before it grows.
    if (library_->expanded_size(graph.nodes[id]) > max_growth_) {
      return too_large(graph::describe_node(graph, id));
    }
    Result<graph::FunctionBody> body = library_->body_of(prepared.model, graph, id);
    if (!body.ok()) {
      if (library_->is_local(graph.nodes[id])) return std::move(body).status();
      // The operator stays; partitioning reports why no provider supports it.
      const std::string& reason = body.status().message();
      const bool is_known = !prepared.notes.empty() && prepared.notes.back() == reason;
      if (body.status().code() != StatusCode::kNotFound && !is_known) {
        prepared.notes.push_back(reason);
      }
      continue;
    }
    EPHOST_RETURN_IF_ERROR(count_growth(graph, id, *body));
    for (const auto& [domain, version] : body->opset_imports) {
      prepared.model.opset_imports.emplace(domain, version);
    }
    prepared.inlined.push_back({*calls.path, graph::describe_node(graph, id),
                                graph.nodes[id].domain, body->graph.nodes.size()});
    found.push_back({id, std::move(body).value()});
  }
  const uint64_t count = found.size();
  if (count == 0) return count;
  const std::vector<InlinedRange> ranges = optimize::inline_calls(graph, std::move(found), *names_);
  renumber_nodes(graph, ranges, prepared, made);
  return count;
}

Result<bool> FunctionInlining::inline_unclaimed(PreparedModel& prepared, MadeComputations& made) {
  EPHOST_RETURN_IF_ERROR(open(prepared));
  const std::vector<Calls> calls = find_unclaimed(prepared);
  if (calls.empty()) return false;
  if (!names_) names_.emplace(prepared.model.graph);
  uint64_t count = 0;
  for (const Calls& of_graph : calls) {
    EPHOST_ASSIGN_OR_RETURN(const uint64_t inlined, inline_in(prepared, of_graph, made));
    count += inlined;
  }
  if (count == 0) return false;
  if (++depth_ > kMaxDepth) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("functions call each other more than {} deep, the last one being the "
                            "function of {}; flatten the model's functions",
                            kMaxDepth, prepared.inlined.back().call));
  }
  graph::connect(prepared.model.graph);
  EPHOST_RETURN_IF_ERROR(graph::check_graph(prepared.model.graph));
  drop_unused_functions(prepared.model);
  return true;
}

void FunctionInlining::drop_unused_functions(graph::Model& model) const {
  const bool is_used = any_node(
      model.graph, [&](const Graph&, const Node& node) { return library_->is_local(node); });
  if (!is_used) model.functions.clear();
}

}  // namespace ephost::session
