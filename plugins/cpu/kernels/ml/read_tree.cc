// The attributes of TreeEnsembleClassifier and TreeEnsembleRegressor as an ensemble: nodes are
// listed by the ids of tree and node, and so are the votes of the leaves.
#include <algorithm>
#include <map>
#include <utility>

#include "plugins/cpu/kernels/ml/tree.h"
#include "plugins/cpu/kernels/ml/tree_attributes.h"

namespace ephost_cpu {
namespace {

Branch branch_of(std::string_view name) {
  constexpr std::pair<std::string_view, Branch> kNames[] = {
      {"BRANCH_LEQ", Branch::kLeq}, {"BRANCH_LT", Branch::kLt}, {"BRANCH_GTE", Branch::kGte},
      {"BRANCH_GT", Branch::kGt},   {"BRANCH_EQ", Branch::kEq}, {"BRANCH_NEQ", Branch::kNeq},
      {"LEAF", Branch::kLeaf}};
  for (const auto& [known, branch] : kNames) {
    if (known == name) return branch;
  }
  fail(quoted(name) + " is not a node mode");
}

// The attributes nodes_*, one entry for each node.
struct NodeLists {
  explicit NodeLists(const eph::NodeView& node)
      : tree_ids(ints_of(node, "nodes_treeids")),
        node_ids(sized_ints(node, "nodes_nodeids", size())),
        features(sized_ints(node, "nodes_featureids", size())),
        true_ids(sized_ints(node, "nodes_truenodeids", size())),
        false_ids(sized_ints(node, "nodes_falsenodeids", size())),
        values(numbers_of(node, "nodes_values")),
        modes(node.get_strings("nodes_modes")) {
    check_size(values.size(), size(), "nodes_values");
    check_size(modes.size(), size(), "nodes_modes");
    missing = missing_value_tracks(node, size());
  }
  [[nodiscard]] std::size_t size() const { return tree_ids.size(); }

  std::vector<int64_t> tree_ids, node_ids, features, true_ids, false_ids;
  std::vector<double> values;
  eph::ArrayView<eph_string> modes;
  std::vector<int64_t> missing;
};

// Finds the index of a node by its ids.
class NodeIndex {
 public:
  explicit NodeIndex(const NodeLists& lists) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto [tree, id] = std::pair(lists.tree_ids[i], lists.node_ids[i]);
      if (!by_id_.emplace(std::pair(tree, id), static_cast<uint32_t>(i)).second) {
        fail("node " + std::to_string(id) + " of tree " + std::to_string(tree) +
             " is defined twice");
      }
    }
  }

  [[nodiscard]] uint32_t find(int64_t tree, int64_t id) const {
    const auto found = by_id_.find({tree, id});
    if (found != by_id_.end()) return found->second;
    fail("tree " + std::to_string(tree) + " has no node " + std::to_string(id));
  }

 private:
  std::map<std::pair<int64_t, int64_t>, uint32_t> by_id_;
};

// Adds the nodes without the votes of leaves; returns which nodes have a parent.
std::vector<bool> add_nodes(const NodeLists& lists, const NodeIndex& index,
                            TreeEnsemble& ensemble) {
  std::vector<bool> is_child(lists.size());
  ensemble.nodes.resize(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    TreeNode& made = ensemble.nodes[i];
    made.mode = branch_of(eph::view(lists.modes[i]));
    if (made.mode == Branch::kLeaf) continue;
    made.missing_is_true = lists.missing[i] != 0;
    made.feature = feature_of(lists.features[i]);
    made.value = lists.values[i];
    made.true_node = index.find(lists.tree_ids[i], lists.true_ids[i]);
    made.false_node = index.find(lists.tree_ids[i], lists.false_ids[i]);
    is_child[made.true_node] = is_child[made.false_node] = true;
  }
  return is_child;
}

// Adds the roots, of which each tree must have one.
void add_roots(const NodeLists& lists, const std::vector<bool>& is_child, TreeEnsemble& ensemble) {
  std::map<int64_t, int> roots_of;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    roots_of[lists.tree_ids[i]] += is_child[i] ? 0 : 1;
    if (!is_child[i]) ensemble.roots.push_back(static_cast<uint32_t>(i));
  }
  for (const auto& [tree, roots] : roots_of) {
    if (roots == 1) continue;
    fail("tree " + std::to_string(tree) + " has " + std::to_string(roots) +
         " nodes without a parent");
  }
}

// Adds the attributes <votes>_* in the order of their leaves.
void add_votes(const eph::NodeView& node, const std::string& votes, const NodeIndex& index,
               TreeEnsemble& ensemble) {
  const std::vector<int64_t> tree_ids = ints_of(node, votes + "_treeids");
  const std::vector<int64_t> node_ids = ints_of(node, votes + "_nodeids");
  const std::vector<int64_t> targets = ints_of(node, votes + "_ids");
  const std::vector<double> weights = numbers_of(node, votes + "_weights");
  check_size(node_ids.size(), tree_ids.size(), votes + "_nodeids");
  check_size(targets.size(), tree_ids.size(), votes + "_ids");
  check_size(weights.size(), tree_ids.size(), votes + "_weights");
  std::vector<std::pair<uint32_t, Vote>> cast;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    cast.push_back({index.find(tree_ids[i], node_ids[i]),
                    {index_in(targets[i], ensemble.targets, votes + "_ids"), weights[i]}});
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
}

// Two classes of which all leaves vote for one may have one base value, which is that class's.
void spread_base(TreeEnsemble& ensemble) {
  const std::vector<Vote>& votes = ensemble.votes;
  if (ensemble.targets != 2 || ensemble.base.size() != 1 || votes.empty()) return;
  const uint32_t voted = votes[0].target;
  const bool is_single = std::all_of(votes.begin(), votes.end(),
                                     [&](const Vote& vote) { return vote.target == voted; });
  if (!is_single) return;
  ensemble.base.resize(2);
  if (voted == 1) std::swap(ensemble.base[0], ensemble.base[1]);
}

}  // namespace

TreeEnsemble read_ensemble(const eph::NodeView& node, const std::string& votes, uint32_t targets) {
  TreeEnsemble ensemble;
  ensemble.targets = targets;
  ensemble.base = numbers_of(node, "base_values");
  const NodeLists lists(node);
  const NodeIndex index(lists);
  const std::vector<bool> is_child = add_nodes(lists, index, ensemble);
  add_roots(lists, is_child, ensemble);
  add_votes(node, votes, index, ensemble);
  if (votes == "class") spread_base(ensemble);
  ensemble.check();
  return ensemble;
}

}  // namespace ephost_cpu
