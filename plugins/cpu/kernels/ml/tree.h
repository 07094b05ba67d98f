// An ensemble of decision trees, as the three operators for it describe them in attributes. Checked
// when it is made: whatever the attributes hold, a walk ends at a leaf.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {

enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
enum class Aggregate { kAverage, kSum, kMin, kMax };

struct TreeNode {
  Branch mode = Branch::kLeaf;
  bool missing_is_true = false;  // a NaN takes the true branch
  uint32_t feature = 0;
  double value = 0;
  uint32_t true_node = 0;
  uint32_t false_node = 0;
  // For a leaf, a range of the ensemble's votes; for a member test, a range of its sets.
  uint32_t begin = 0;
  uint32_t end = 0;
};

// What a leaf adds to a target or class.
struct Vote {
  uint32_t target = 0;
  double weight = 0;
};

class TreeEnsemble {
 public:
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> roots;
  std::vector<Vote> votes;
  std::vector<double> members;  // of all sets, one after the other
  std::vector<double> base;     // empty, or one for each target
  Aggregate aggregate = Aggregate::kSum;
  uint32_t targets = 0;

  // Throws if a node is reached twice, a child or target is out of range, or `base` does not fit.
  void check();

  // The scores of all targets. Throws if the row has fewer features than the nodes use.
  [[nodiscard]] std::vector<double> scores(const std::vector<double>& row) const;

 private:
  [[nodiscard]] const TreeNode& leaf(uint32_t root, const std::vector<double>& row) const;
  [[nodiscard]] bool holds(const TreeNode& node, double feature) const;

  std::size_t features_ = 0;  // that the nodes use
};

// Reads the attributes nodes_* and <votes>_* of TreeEnsembleClassifier and -Regressor, where
// `votes` is "class" or "target". Two classes of which all leaves vote for one may have one base
// value.
[[nodiscard]] TreeEnsemble read_ensemble(const eph::NodeView& node, const std::string& votes,
                                         uint32_t targets);

// Reads those of TreeEnsemble.
[[nodiscard]] TreeEnsemble read_unified_ensemble(const eph::NodeView& node);

}  // namespace ephost_cpu
