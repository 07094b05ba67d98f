#include "plugins/cpu/kernels/ml/tree.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "plugins/cpu/kernels/ml/tree_attributes.h"

namespace ephost_cpu {
void TreeEnsemble::check() {
  if (!base.empty() && base.size() != targets) {
    fail(std::to_string(base.size()) + " base values do not fit " + std::to_string(targets) +
         " targets");
  }
  for (const Vote& vote : votes) index_in(vote.target, targets, "target or class id");
  // Nodes on the way down; one that is met twice would be a cycle, or part of two trees.
  std::vector<bool> met(nodes.size());
  std::vector<uint32_t> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const uint32_t id = open.back();
    open.pop_back();
    if (id >= nodes.size()) fail("a node has a child that does not exist");
    if (met[id]) fail("node " + std::to_string(id) + " has two parents");
    met[id] = true;
    const TreeNode& node = nodes[id];
    if (node.mode == Branch::kLeaf) continue;
    features_ = std::max<std::size_t>(features_, std::size_t{node.feature} + 1);
    open.push_back(node.true_node);
    open.push_back(node.false_node);
  }
  const auto lost = std::find(met.begin(), met.end(), false);
  if (lost != met.end()) {
    fail("node " + std::to_string(lost - met.begin()) + " cannot be reached from a root");
  }
}

bool TreeEnsemble::holds(const TreeNode& node, double feature) const {
  if (std::isnan(feature) && node.missing_is_true) return true;
  switch (node.mode) {
    case Branch::kLeq:
      return feature <= node.value;
    case Branch::kLt:
      return feature < node.value;
    case Branch::kGte:
      return feature >= node.value;
    case Branch::kGt:
      return feature > node.value;
    case Branch::kEq:
      return feature == node.value;
    case Branch::kNeq:
      return feature != node.value;
    case Branch::kMember:
      return std::find(members.begin() + node.begin, members.begin() + node.end, feature) !=
             members.begin() + node.end;
    case Branch::kLeaf:
      break;
  }
  return false;
}

const TreeNode& TreeEnsemble::leaf(uint32_t root, const std::vector<double>& row) const {
  const TreeNode* node = &nodes[root];
  while (node->mode != Branch::kLeaf) {
    node = &nodes[holds(*node, row[node->feature]) ? node->true_node : node->false_node];
  }
  return *node;
}

std::vector<double> TreeEnsemble::scores(const std::vector<double>& row) const {
  if (row.size() < features_) {
    fail("the trees use " + std::to_string(features_) + " features, but there are " +
         std::to_string(row.size()));
  }
  std::vector<double> scores(targets);
  std::vector<bool> seen(targets);
  for (const uint32_t root : roots) {
    const TreeNode& end = leaf(root, row);
    for (uint32_t i = end.begin; i < end.end; ++i) {
      const auto [target, weight] = votes[i];
      double& score = scores[target];
      if (aggregate == Aggregate::kMin) {
        score = seen[target] ? std::min(score, weight) : weight;
      } else if (aggregate == Aggregate::kMax) {
        score = seen[target] ? std::max(score, weight) : weight;
      } else {
        score += weight;
      }
      seen[target] = true;
    }
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (aggregate == Aggregate::kAverage && !roots.empty()) {
      scores[i] /= static_cast<double>(roots.size());
    }
    if (!base.empty()) scores[i] += base[i];
  }
  return scores;
}

}  // namespace ephost_cpu
