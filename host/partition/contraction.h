// The graph of a model's nodes in which each accepted partition is contracted to one vertex, kept
// acyclic: it answers whether a further set may be fused, and shows the cycle if not. Knows nothing
// of providers. Used by partition.cc only.
//
// It keeps a topological order of the vertices. A set can only close a cycle through vertices that
// lie between its first and its last in that order, so both searches stop there, and afterwards
// only what they found is renumbered. That is the bounded update of D. J. Pearce and P. H. J.
// Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", ACM Journal of
// Experimental Algorithmics 11 (2006), applied to the contraction of a set instead of the insertion
// of an edge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::partition {

// A vertex is a node by its id, or number_of_nodes + k for the k-th contracted set.
using Vertex = uint32_t;

class ContractedGraph {
 public:
  // `graph` is topologically sorted and connected; borrowed.
  explicit ContractedGraph(const graph::Graph& graph);

  // Contracts `nodes`, which are distinct and in no contracted set, if the graph stays acyclic and
  // returns an empty list. Otherwise changes nothing and returns a shortest path that leaves the
  // set and comes back: its first and last vertices are nodes of the set, those between are not.
  [[nodiscard]] std::vector<Vertex> contract(std::span<const graph::NodeId> nodes);

 private:
  // The nodes outside of a contracted set that its nodes feed or are fed by, ascending, each once.
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
  // By vertex: epoch_ for the set under test, epoch_ + 1 and + 2 for what the searches found.
  std::vector<uint64_t> mark_;
  uint64_t epoch_ = 0;
  uint32_t first_ = 0;  // positions of the set's first and last nodes
  uint32_t last_ = 0;
  std::vector<Vertex> after_;   // found behind the set, inside its window
  std::vector<Vertex> before_;  // found before it
};

}  // namespace ephost::partition
