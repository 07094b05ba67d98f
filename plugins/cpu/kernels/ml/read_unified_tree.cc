// The attributes of TreeEnsemble as an ensemble: inner nodes are listed by index, and leaves apart.
#include <array>
#include <cmath>

#include "plugins/cpu/kernels/ml/tree.h"
#include "plugins/cpu/kernels/ml/tree_attributes.h"

namespace ephost_cpu {
namespace {

constexpr std::array<Branch, 7> kBranches = {Branch::kLeq,   Branch::kLt, Branch::kGte,
                                             Branch::kGt,    Branch::kEq, Branch::kNeq,
                                             Branch::kMember};
constexpr std::array<Aggregate, 4> kAggregates = {Aggregate::kAverage, Aggregate::kSum,
                                                  Aggregate::kMin, Aggregate::kMax};

std::vector<double> tensor_numbers(const eph::NodeView& node, const char* name) {
  const eph_value* tensor = node.get_tensor(name);
  return tensor == nullptr ? std::vector<double>() : numbers_in(*tensor);
}

eph::ArrayView<uint8_t> read_modes(const eph::NodeView& node) {
  const eph_value* modes = node.get_tensor("nodes_modes");
  if (modes == nullptr || modes->element_type != EPH_ELEMENT_UINT8) {
    fail("attribute 'nodes_modes' is missing");
  }
  return eph::elements<uint8_t>(*modes);
}

// The attributes nodes_*, one entry for each inner node, and leaf_*, one for each leaf.
struct TreeLists {
  explicit TreeLists(const eph::NodeView& node)
      : modes(read_modes(node)),
        features(sized_ints(node, "nodes_featureids", size())),
        true_ids(sized_ints(node, "nodes_truenodeids", size())),
        false_ids(sized_ints(node, "nodes_falsenodeids", size())),
        true_leafs(sized_ints(node, "nodes_trueleafs", size())),
        false_leafs(sized_ints(node, "nodes_falseleafs", size())),
        splits(tensor_numbers(node, "nodes_splits")) {
    check_size(splits.size(), size(), "nodes_splits");
    missing = missing_value_tracks(node, size());
    leaf_targets = ints_of(node, "leaf_targetids");
    leaf_weights = tensor_numbers(node, "leaf_weights");
    check_size(leaf_weights.size(), leaf_targets.size(), "leaf_weights");
  }
  [[nodiscard]] std::size_t size() const { return modes.size(); }

  eph::ArrayView<uint8_t> modes;
  std::vector<int64_t> features, true_ids, false_ids, true_leafs, false_leafs;
  std::vector<double> splits;
  std::vector<int64_t> missing, leaf_targets;
  std::vector<double> leaf_weights;
};

// Adds the inner nodes, and the leaves after them. Several branches may share a leaf: each gets a
// node of its own.
void add_nodes(const TreeLists& lists, TreeEnsemble& ensemble) {
  ensemble.nodes.resize(lists.size());
  const auto child = [&](int64_t id, bool is_leaf) {
    constexpr const char* kName = "nodes_truenodeids or nodes_falsenodeids";
    if (!is_leaf) return index_in(id, lists.size(), kName);
    TreeNode leaf;
    leaf.begin = index_in(id, lists.leaf_weights.size(), kName);
    leaf.end = leaf.begin + 1;
    ensemble.nodes.push_back(leaf);
    return static_cast<uint32_t>(ensemble.nodes.size() - 1);
  };
  for (std::size_t i = 0; i < lists.size(); ++i) {
    TreeNode made;
    made.mode = kBranches[index_in(lists.modes[i], kBranches.size(), "nodes_modes")];
    made.missing_is_true = lists.missing[i] != 0;
    made.feature = feature_of(lists.features[i]);
    made.value = lists.splits[i];
    made.true_node = child(lists.true_ids[i], lists.true_leafs[i] != 0);
    made.false_node = child(lists.false_ids[i], lists.false_leafs[i] != 0);
    ensemble.nodes[i] = made;
  }
}

// Adds the sets of the member tests. Sets end with NaN, which the last one may omit.
void add_members(const eph::NodeView& node, std::size_t branches, TreeEnsemble& ensemble) {
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
  TreeEnsemble ensemble;
  const int64_t targets = node.get_int("n_targets", 1);
  ensemble.targets = index_in(targets, std::size_t{1} << 24, "n_targets");
  ensemble.aggregate = kAggregates[index_in(node.get_int("aggregate_function", 1),
                                            kAggregates.size(), "aggregate_function")];
  const TreeLists lists(node);
  for (std::size_t i = 0; i < lists.leaf_targets.size(); ++i) {
    ensemble.votes.push_back({index_in(lists.leaf_targets[i], ensemble.targets, "leaf_targetids"),
                              lists.leaf_weights[i]});
  }
  add_nodes(lists, ensemble);
  add_members(node, lists.size(), ensemble);
  for (const int64_t root : ints_of(node, "tree_roots")) {
    ensemble.roots.push_back(index_in(root, lists.size(), "tree_roots"));
  }
  ensemble.check();
  return ensemble;
}

}  // namespace ephost_cpu
