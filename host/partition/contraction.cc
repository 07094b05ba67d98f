#include "host/partition/contraction.h"

#include <algorithm>
#include <numeric>

namespace ephost::partition {

using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::NodeId;
using graph::ValueId;

namespace {

template <class Visit>
void for_each_consumer(const Graph& graph, NodeId node, Visit visit) {
  for (const ValueId output : graph.nodes[node].outputs) {
    if (output == kNoValue) continue;
    for (const NodeId consumer : graph.values[output].consumers) visit(consumer);
  }
}

template <class Visit>
void for_each_producer(const Graph& graph, NodeId node, Visit visit) {
  const auto visit_values = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values) {
      if (value == kNoValue) continue;
      if (const NodeId producer = graph.values[value].producer; producer != kNoNode)
        visit(producer);
    }
  };
  visit_values(graph.nodes[node].inputs);
  visit_values(graph.nodes[node].implicit_inputs);
}

void sort_unique(std::vector<NodeId>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

ContractedGraph::ContractedGraph(const Graph& graph)
    : graph_(graph),
      vertex_of_(graph.nodes.size()),
      position_(graph.nodes.size()),
      parent_(graph.nodes.size()),
      mark_(graph.nodes.size(), 0) {
  std::iota(vertex_of_.begin(), vertex_of_.end(), 0U);
  std::iota(position_.begin(), position_.end(), 0U);
}

std::vector<Vertex> ContractedGraph::contract(std::span<const NodeId> nodes) {
  if (nodes.empty()) return {};
  begin(nodes);
  if (std::vector<Vertex> cycle = search_after(nodes); !cycle.empty()) return cycle;
  search_before(nodes);
  add_vertex(nodes, reorder(nodes));
  return {};
}

template <class Visit>
void ContractedGraph::for_each_after(Vertex vertex, Visit visit) const {
  const auto visit_node = [&](NodeId node) { visit(vertex_of_[node]); };
  if (vertex < graph_.nodes.size()) {
    for_each_consumer(graph_, vertex, visit_node);
  } else {
    for (const NodeId node : contracted_[vertex - graph_.nodes.size()].after) visit_node(node);
  }
}

template <class Visit>
void ContractedGraph::for_each_before(Vertex vertex, Visit visit) const {
  const auto visit_node = [&](NodeId node) { visit(vertex_of_[node]); };
  if (vertex < graph_.nodes.size()) {
    for_each_producer(graph_, vertex, visit_node);
  } else {
    for (const NodeId node : contracted_[vertex - graph_.nodes.size()].before) visit_node(node);
  }
}

void ContractedGraph::begin(std::span<const NodeId> nodes) {
  epoch_ += 3;
  after_.clear();
  before_.clear();
  first_ = position_[nodes.front()];
  last_ = first_;
  for (const NodeId node : nodes) {
    mark_[node] = epoch_;
    first_ = std::min(first_, position_[node]);
    last_ = std::max(last_, position_[node]);
  }
}

std::vector<Vertex> ContractedGraph::search_after(std::span<const NodeId> nodes) {
  const auto discover = [&](Vertex vertex, Vertex from) {
    if (in_set(vertex) || mark_[vertex] == epoch_ + 1 || position_[vertex] > last_) return;
    mark_[vertex] = epoch_ + 1;
    parent_[vertex] = from;
    after_.push_back(vertex);
  };
  for (const NodeId node : nodes) {
    for_each_after(node, [&](Vertex next) { discover(next, node); });
  }
  for (size_t i = 0; i < after_.size(); ++i) {  // breadth-first; `after_` is the queue
    const Vertex vertex = after_[i];
    Vertex back = vertex;
    for_each_after(vertex, [&](Vertex next) {
      if (in_set(next) && back == vertex) back = next;
      discover(next, vertex);
    });
    if (back != vertex) {
      parent_[back] = vertex;
      return path_to(back);
    }
  }
  return {};
}

std::vector<Vertex> ContractedGraph::path_to(Vertex last) const {
  std::vector<Vertex> path = {last};
  do {
    path.push_back(parent_[path.back()]);
  } while (!in_set(path.back()));
  std::reverse(path.begin(), path.end());
  return path;
}

void ContractedGraph::search_before(std::span<const NodeId> nodes) {
  const auto discover = [&](Vertex vertex) {
    if (in_set(vertex) || mark_[vertex] == epoch_ + 2 || position_[vertex] < first_) return;
    mark_[vertex] = epoch_ + 2;
    before_.push_back(vertex);
  };
  for (const NodeId node : nodes) for_each_before(node, discover);
  for (size_t i = 0; i < before_.size(); ++i) for_each_before(before_[i], discover);
}

// Redistributes the positions of the set and of all vertices found: those before the set get the
// smallest, those after it the largest, each in their old order. The former only move down and the
// latter only up, and any vertex in the window that was not found is not connected to them in the
// other direction, so every edge still points forward. Returns the set's own position.
uint32_t ContractedGraph::reorder(std::span<const NodeId> nodes) {
  std::vector<uint32_t> pool;
  pool.reserve(nodes.size() + before_.size() + after_.size());
  for (const NodeId node : nodes) pool.push_back(position_[node]);
  for (const Vertex vertex : before_) pool.push_back(position_[vertex]);
  for (const Vertex vertex : after_) pool.push_back(position_[vertex]);
  std::sort(pool.begin(), pool.end());

  const auto by_position = [&](Vertex a, Vertex b) { return position_[a] < position_[b]; };
  std::sort(before_.begin(), before_.end(), by_position);
  std::sort(after_.begin(), after_.end(), by_position);
  for (size_t i = 0; i < before_.size(); ++i) position_[before_[i]] = pool[i];
  const size_t tail = pool.size() - after_.size();
  for (size_t i = 0; i < after_.size(); ++i) position_[after_[i]] = pool[tail + i];
  return pool[before_.size()];
}

void ContractedGraph::add_vertex(std::span<const NodeId> nodes, uint32_t position) {
  Neighbours neighbours;
  for (const NodeId node : nodes) {
    for_each_consumer(graph_, node, [&](NodeId next) {
      if (!in_set(vertex_of_[next])) neighbours.after.push_back(next);
    });
    for_each_producer(graph_, node, [&](NodeId previous) {
      if (!in_set(vertex_of_[previous])) neighbours.before.push_back(previous);
    });
  }
  sort_unique(neighbours.after);
  sort_unique(neighbours.before);
  const auto vertex = static_cast<Vertex>(graph_.nodes.size() + contracted_.size());
  for (const NodeId node : nodes) vertex_of_[node] = vertex;
  contracted_.push_back(std::move(neighbours));
  position_.push_back(position);
  parent_.push_back(vertex);
  mark_.push_back(0);
}

}  // namespace ephost::partition
