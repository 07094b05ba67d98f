#include "plugins/dnnl/capability/clusters.h"

#include <algorithm>
#include <numeric>

namespace ephost_dnnl {
namespace {

// Disjoint sets; the smallest member represents its set.
class Sets {
 public:
  explicit Sets(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }
  uint32_t find(uint32_t member) {
    while (parents_[member] != member) {
      parents_[member] = parents_[parents_[member]];
      member = parents_[member];
    }
    return member;
  }
  void merge(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parents_;
};

// The level of each unit: how often a path into it changes from unsupported to supported units, at
// most. A path between two supported units of one level stays among supported units of that level,
// so joining neighbours of one level creates no cycle.
std::vector<uint32_t> levels(const UnitGraph& graph) {
  std::vector<std::vector<uint32_t>> before(graph.is_supported.size());
  for (const auto& [from, to] : graph.edges) before[to].push_back(from);
  std::vector<uint32_t> level(graph.is_supported.size(), 0);
  for (std::size_t unit = 0; unit < level.size(); ++unit) {
    for (const uint32_t from : before[unit]) {
      const bool enters = graph.is_supported[unit] && !graph.is_supported[from];
      level[unit] = std::max(level[unit], level[from] + (enters ? 1U : 0U));
    }
  }
  return level;
}

// Joins neighbouring clusters of different levels where that creates no cycle.
class Joiner {
 public:
  Joiner(const UnitGraph& graph, Sets& sets) : graph_(graph), sets_(sets) { contract(); }

  void run() {
    // Every edge is tried again after a join: what was a detour may have become part of a cluster.
    for (bool joined = true; joined;) {
      joined = false;
      for (const auto& [from, to] : graph_.edges) {
        if (!graph_.is_supported[from] || !graph_.is_supported[to]) continue;
        const uint32_t a = sets_.find(from), b = sets_.find(to);
        if (a == b || has_detour(a, b)) continue;
        sets_.merge(a, b);
        contract();
        joined = true;
      }
    }
  }

 private:
  // The successors of each set.
  void contract() {
    after_.assign(graph_.is_supported.size(), {});
    for (const auto& [from, to] : graph_.edges) {
      const uint32_t a = sets_.find(from), b = sets_.find(to);
      if (a != b) after_[a].push_back(b);
    }
    for (std::vector<uint32_t>& successors : after_) {
      std::sort(successors.begin(), successors.end());
      successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
    }
  }
  // Whether a path leads from a to b through another set.
  [[nodiscard]] bool has_detour(uint32_t a, uint32_t b) const {
    std::vector<bool> seen(after_.size(), false);
    std::vector<uint32_t> open;
    for (const uint32_t next : after_[a]) {
      if (next != b) open.push_back(next);
    }
    while (!open.empty()) {
      const uint32_t set = open.back();
      open.pop_back();
      if (set == b) return true;
      if (seen[set]) continue;
      seen[set] = true;
      open.insert(open.end(), after_[set].begin(), after_[set].end());
    }
    return false;
  }

  const UnitGraph& graph_;
  Sets& sets_;
  std::vector<std::vector<uint32_t>> after_;
};

}  // namespace

std::vector<uint32_t> find_clusters(const UnitGraph& graph) {
  Sets sets(graph.is_supported.size());
  const std::vector<uint32_t> level = levels(graph);
  for (const auto& [from, to] : graph.edges) {
    if (graph.is_supported[from] && graph.is_supported[to] && level[from] == level[to]) {
      sets.merge(from, to);
    }
  }
  Joiner(graph, sets).run();

  std::vector<uint32_t> clusters(graph.is_supported.size(), kNoCluster);
  std::vector<uint32_t> number(graph.is_supported.size(), kNoCluster);
  uint32_t count = 0;
  for (uint32_t unit = 0; unit < clusters.size(); ++unit) {
    if (!graph.is_supported[unit]) continue;
    uint32_t& of_set = number[sets.find(unit)];
    if (of_set == kNoCluster) of_set = count++;
    clusters[unit] = of_set;
  }
  return clusters;
}

}  // namespace ephost_dnnl
