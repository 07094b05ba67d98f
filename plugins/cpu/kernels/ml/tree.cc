#include "plugins/cpu/kernels/ml/tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ephost_cpu {
namespace {

using NodeKey = std::pair<int64_t, int64_t>;  // tree id, node id

Branch branch_of(std::string_view name) {
  constexpr std::pair<std::string_view, Branch> kNames[] = {
      {"BRANCH_LEQ", Branch::kLeq}, {"BRANCH_LT", Branch::kLt}, {"BRANCH_GTE", Branch::kGte},
      {"BRANCH_GT", Branch::kGt},   {"BRANCH_EQ", Branch::kEq}, {"BRANCH_NEQ", Branch::kNeq},
      {"LEAF", Branch::kLeaf}};
  for (const auto& [known, branch] : kNames) {
    if (known == name) return branch;
  }
  fail(quoted(name) + " is no mode of a node");
}

void check_size(std::size_t size, std::size_t wanted, const std::string& name) {
  if (size == wanted) return;
  fail("attribute '" + name + "' has " + std::to_string(size) + " entries, expected " +
       std::to_string(wanted));
}

uint32_t index_in(int64_t index, std::size_t size, const std::string& name) {
  if (index < 0 || static_cast<uint64_t>(index) >= size) {
    fail("attribute '" + name + "' has the entry " + std::to_string(index) +
         ", which is out of range");
  }
  return static_cast<uint32_t>(index);
}

uint32_t feature_of(int64_t feature, const std::string& name) {
  constexpr std::size_t kMaxFeatures = std::numeric_limits<uint32_t>::max();
  return index_in(feature, kMaxFeatures, name);
}

}  // namespace

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
    fail("node " + std::to_string(lost - met.begin()) + " is reached from no root");
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
    fail("the trees look at " + std::to_string(features_) + " features, and there are " +
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

// ---- The attributes of the classifier and the regressor ---------------------------------------

TreeEnsemble read_ensemble(const eph::NodeView& node, const std::string& votes, uint32_t targets) {
  TreeEnsemble ensemble;
  ensemble.targets = targets;
  ensemble.base = numbers_of(node, "base_values");
  const std::vector<int64_t> tree_ids = ints_of(node, "nodes_treeids");
  const std::size_t count = tree_ids.size();
  const auto ints = [&](const char* name) {
    std::vector<int64_t> list = ints_of(node, name);
    check_size(list.size(), count, name);
    return list;
  };
  const std::vector<int64_t> node_ids = ints("nodes_nodeids");
  const std::vector<int64_t> features = ints("nodes_featureids");
  const std::vector<int64_t> true_ids = ints("nodes_truenodeids");
  const std::vector<int64_t> false_ids = ints("nodes_falsenodeids");
  const std::vector<double> values = numbers_of(node, "nodes_values");
  check_size(values.size(), count, "nodes_values");
  const eph::ArrayView<eph_string> modes = node.get_strings("nodes_modes");
  check_size(modes.size(), count, "nodes_modes");
  std::vector<int64_t> missing = ints_of(node, "nodes_missing_value_tracks_true");
  if (missing.empty()) missing.resize(count);
  check_size(missing.size(), count, "nodes_missing_value_tracks_true");

  std::map<NodeKey, uint32_t> by_id;
  for (std::size_t i = 0; i < count; ++i) {
    if (!by_id.emplace(NodeKey(tree_ids[i], node_ids[i]), static_cast<uint32_t>(i)).second) {
      fail("node " + std::to_string(node_ids[i]) + " of tree " + std::to_string(tree_ids[i]) +
           " is there twice");
    }
  }
  const auto find = [&](int64_t tree, int64_t id) {
    const auto found = by_id.find({tree, id});
    if (found != by_id.end()) return found->second;
    fail("tree " + std::to_string(tree) + " has no node " + std::to_string(id));
  };
  std::vector<bool> is_child(count);
  ensemble.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode& made = ensemble.nodes[i];
    made.mode = branch_of(eph::view(modes[i]));
    if (made.mode == Branch::kLeaf) continue;
    made.missing_is_true = missing[i] != 0;
    made.feature = feature_of(features[i], "nodes_featureids");
    made.value = values[i];
    made.true_node = find(tree_ids[i], true_ids[i]);
    made.false_node = find(tree_ids[i], false_ids[i]);
    is_child[made.true_node] = is_child[made.false_node] = true;
  }
  std::map<int64_t, int> roots_of;
  for (std::size_t i = 0; i < count; ++i) {
    roots_of[tree_ids[i]] += is_child[i] ? 0 : 1;
    if (!is_child[i]) ensemble.roots.push_back(static_cast<uint32_t>(i));
  }
  for (const auto& [tree, roots] : roots_of) {
    if (roots == 1) continue;
    fail("tree " + std::to_string(tree) + " has " + std::to_string(roots) +
         " nodes without parent");
  }

  // Votes in the order of their leaves.
  const std::vector<int64_t> vote_trees = ints_of(node, votes + "_treeids");
  const std::vector<int64_t> vote_nodes = ints_of(node, votes + "_nodeids");
  const std::vector<int64_t> vote_targets = ints_of(node, votes + "_ids");
  const std::vector<double> weights = numbers_of(node, votes + "_weights");
  check_size(vote_nodes.size(), vote_trees.size(), votes + "_nodeids");
  check_size(vote_targets.size(), vote_trees.size(), votes + "_ids");
  check_size(weights.size(), vote_trees.size(), votes + "_weights");
  std::vector<std::pair<uint32_t, Vote>> cast;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cast.push_back({find(vote_trees[i], vote_nodes[i]),
                    {index_in(vote_targets[i], targets, votes + "_ids"), weights[i]}});
  }
  std::stable_sort(cast.begin(), cast.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [at, vote] : cast) {
    TreeNode& made = ensemble.nodes[at];
    const auto position = static_cast<uint32_t>(ensemble.votes.size());
    if (made.mode == Branch::kLeaf) {
      if (made.begin == made.end) made.begin = position;
      made.end = position + 1;
    }
    ensemble.votes.push_back(vote);
  }
  ensemble.check();
  return ensemble;
}

// ---- The attributes of TreeEnsemble -----------------------------------------------------------

namespace {

std::vector<double> tensor_numbers(const eph::NodeView& node, const char* name) {
  const eph_value* tensor = node.get_tensor(name);
  return tensor == nullptr ? std::vector<double>() : numbers_in(*tensor);
}

// Sets end with NaN, but for the last one, which may go without.
void read_members(const eph::NodeView& node, TreeEnsemble& ensemble, std::size_t branches) {
  const std::vector<double> listed = tensor_numbers(node, "membership_values");
  std::size_t next = 0;
  for (std::size_t i = 0; i < branches; ++i) {
    TreeNode& made = ensemble.nodes[i];
    if (made.mode != Branch::kMember) continue;
    made.begin = static_cast<uint32_t>(ensemble.members.size());
    for (; next < listed.size() && !std::isnan(listed[next]); ++next) {
      ensemble.members.push_back(listed[next]);
    }
    ++next;
    made.end = static_cast<uint32_t>(ensemble.members.size());
  }
}

}  // namespace

TreeEnsemble read_unified_ensemble(const eph::NodeView& node) {
  constexpr std::array<Branch, 7> kModes = {Branch::kLeq, Branch::kLt,  Branch::kGte,   Branch::kGt,
                                            Branch::kEq,  Branch::kNeq, Branch::kMember};
  constexpr std::array<Aggregate, 4> kAggregates = {Aggregate::kAverage, Aggregate::kSum,
                                                    Aggregate::kMin, Aggregate::kMax};
  TreeEnsemble ensemble;
  const int64_t targets = node.get_int("n_targets", 1);
  ensemble.targets = index_in(targets, std::size_t{1} << 24, "n_targets");
  ensemble.aggregate = kAggregates[index_in(node.get_int("aggregate_function", 1),
                                            kAggregates.size(), "aggregate_function")];
  const eph_value* modes = node.get_tensor("nodes_modes");
  if (modes == nullptr || modes->element_type != EPH_UINT8)
    fail("attribute 'nodes_modes' is missing");
  const auto mode_list = eph::elements<uint8_t>(*modes);
  const std::size_t branches = mode_list.size();
  const auto ints = [&](const char* name) {
    std::vector<int64_t> list = ints_of(node, name);
    check_size(list.size(), branches, name);
    return list;
  };
  const std::vector<int64_t> features = ints("nodes_featureids");
  const std::vector<int64_t> true_ids = ints("nodes_truenodeids");
  const std::vector<int64_t> false_ids = ints("nodes_falsenodeids");
  const std::vector<int64_t> true_leafs = ints("nodes_trueleafs");
  const std::vector<int64_t> false_leafs = ints("nodes_falseleafs");
  const std::vector<double> splits = tensor_numbers(node, "nodes_splits");
  check_size(splits.size(), branches, "nodes_splits");
  std::vector<int64_t> missing = ints_of(node, "nodes_missing_value_tracks_true");
  if (missing.empty()) missing.resize(branches);
  check_size(missing.size(), branches, "nodes_missing_value_tracks_true");
  const std::vector<int64_t> leaf_targets = ints_of(node, "leaf_targetids");
  const std::vector<double> weights = tensor_numbers(node, "leaf_weights");
  check_size(weights.size(), leaf_targets.size(), "leaf_weights");

  for (std::size_t i = 0; i < leaf_targets.size(); ++i) {
    ensemble.votes.push_back(
        {index_in(leaf_targets[i], ensemble.targets, "leaf_targetids"), weights[i]});
  }
  ensemble.nodes.resize(branches);
  // A leaf may hang on several branches: each gets a node of its own.
  const auto child = [&](int64_t id, bool is_leaf) {
    if (!is_leaf) return index_in(id, branches, "nodes_truenodeids or nodes_falsenodeids");
    TreeNode leaf;
    leaf.begin = index_in(id, weights.size(), "nodes_truenodeids or nodes_falsenodeids");
    leaf.end = leaf.begin + 1;
    ensemble.nodes.push_back(leaf);
    return static_cast<uint32_t>(ensemble.nodes.size() - 1);
  };
  for (std::size_t i = 0; i < branches; ++i) {
    TreeNode made;
    made.mode = kModes[index_in(mode_list[i], kModes.size(), "nodes_modes")];
    made.missing_is_true = missing[i] != 0;
    made.feature = feature_of(features[i], "nodes_featureids");
    made.value = splits[i];
    made.true_node = child(true_ids[i], true_leafs[i] != 0);
    made.false_node = child(false_ids[i], false_leafs[i] != 0);
    ensemble.nodes[i] = made;
  }
  read_members(node, ensemble, branches);
  for (const int64_t root : ints_of(node, "tree_roots")) {
    ensemble.roots.push_back(index_in(root, branches, "tree_roots"));
  }
  ensemble.check();
  return ensemble;
}

}  // namespace ephost_cpu
