// The graph of a model's nodes in which each accepted partition is contracted to one vertex, kept
// acyclic. It answers whether another set may be fused, and shows the cycle if not. It knows
// nothing about providers. Used by partition.cc only.
//
// It maintains a topological order of the vertices. A set can only close a cycle through vertices
// between its first and its last vertex in that order, so both searches stop there, and only what
// they found is renumbered afterwards. This is the bounded update of D. J. Pearce and P. H. J.
// Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", ACM Journal of
// Experimental Algorithmics 11 (2006), applied to the contraction of a set instead of the insertion
// of an edge. Boost.Graph has no dynamic topological order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::partition {

// A vertex is a node id, or number_of_nodes + k for the k-th contracted set.
using Vertex = uint32_t;

class ContractedGraph {
 public:
  // `graph` is topologically sorted and connected; it is borrowed.
  explicit ContractedGraph(const graph::Graph& graph);

  // If the graph stays acyclic, contracts `nodes`, which are distinct and in no contracted set, and
  // returns an empty list. Otherwise changes nothing and returns a shortest path that leaves the
  // set and comes back: its first and last vertices are nodes of the set, the others are not.
  [[nodiscard]] std::vector<Vertex> contract(std::span<const graph::NodeId> nodes);

 private:
  // The neighbours of a contracted set: nodes outside it that feed it or that it feeds, ascending,
  // without duplicates.
  struct Neighbours {
    std::vector<graph::NodeId> before;
    std::vector<graph::NodeId> after;
  };

  template <class Visit>
  void for_each_after(Vertex vertex, Visit visit) const;
  template <class Visit>
  void for_each_before(Vertex vertex, Visit visit) const;

  [[nodiscard]] bool in_set(Vertex vertex) const { return mark_[vertex] == epoch_; }
  void begin(std::span<const graph::NodeId> nodes);
  [[nodiscard]] std::vector<Vertex> search_after(std::span<const graph::NodeId> nodes);
  void search_before(std::span<const graph::NodeId> nodes);
  [[nodiscard]] std::vector<Vertex> path_to(Vertex last) const;
  [[nodiscard]] uint32_t reorder(std::span<const graph::NodeId> nodes);
  void add_vertex(std::span<const graph::NodeId> nodes, uint32_t position);

  const graph::Graph& graph_;
  std::vector<Vertex> vertex_of_;       // by node
  std::vector<Neighbours> contracted_;  // by contracted set
  std::vector<uint32_t> position_;      // by vertex: its place in the topological order, unique
  std::vector<Vertex> parent_;          // by vertex: where search_after came from
  // By vertex: epoch_ for the tested set, epoch_ + 1 and epoch_ + 2 for the results of the
  // searches.
  std::vector<uint64_t> mark_;
  uint64_t epoch_ = 0;
  uint32_t first_ = 0;  // positions of the set's first and last nodes
  uint32_t last_ = 0;
  std::vector<Vertex> after_;   // found after the set, within its window
  std::vector<Vertex> before_;  // found before it
};

}  // namespace ephost::partition
