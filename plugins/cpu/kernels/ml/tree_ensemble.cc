// TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble of ai.onnx.ml.
#include <algorithm>

#include "plugins/cpu/kernels/ml/tree.h"

namespace ephost_cpu {
namespace {

class TreeEnsembleClassifier final : public Kernel {
 public:
  explicit TreeEnsembleClassifier(const NodeContext& context)
      : Kernel(context),
        labels_(context, "classlabels_strings", "classlabels_int64s"),
        ensemble_(read_ensemble(context.node(), "class", static_cast<uint32_t>(labels_.size()))),
        transform_(post_transform_of(context.node().get_string("post_transform", "NONE"))) {
    const auto& votes = ensemble_.votes;
    const bool is_single =
        !votes.empty() && std::all_of(votes.begin(), votes.end(), [&](const Vote& vote) {
          return vote.target == votes[0].target;
        });
    is_binary_ = labels_.size() == 2 && is_single;
    if (is_binary_) voted_ = votes[0].target;
    is_probability_ =
        (transform_ == PostTransform::kNone || transform_ == PostTransform::kProbit) &&
        std::all_of(votes.begin(), votes.end(), [](const Vote& vote) { return vote.weight >= 0; });
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    Features features(*run.input(0));
    if (run.output(0) != nullptr) {
      allocate_output(run, 0, labels_.element_type(), {features.rows()});
    }
    ScoreTable table(run, 1, features.rows(), static_cast<int64_t>(labels_.size()));
    for (int64_t row = 0; row < features.rows(); ++row) {
      std::vector<double> scores = ensemble_.scores(features.row(row));
      std::size_t label = index_of_largest(scores);
      if (is_binary_) {
        const double score = scores[voted_];
        label = score > (is_probability_ ? 0.5 : 0) ? 1 : 0;
        scores = two_scores(score, is_probability_, transform_);
      } else {
        apply(transform_, scores);
      }
      if (run.output(0) != nullptr) labels_.write(run, row, label);
      table.set(row, scores);
    }
  }

 private:
  ClassLabels labels_;
  TreeEnsemble ensemble_;
  PostTransform transform_;
  // Two classes, of which the leaves vote for one: its score is that of the second class. It is a
  // probability if no weight is negative and it is not transformed, else a decision value to
  // compare with 0. So the label is always the class with the larger score, "the top class" of
  // ONNX's text, also with LOGISTIC, where ONNX Runtime compares the untransformed score with 0.5.
  bool is_binary_ = false;
  bool is_probability_ = false;
  std::size_t voted_ = 0;
};

Aggregate aggregate_of(std::string_view name) {
  if (name == "SUM") return Aggregate::kSum;
  if (name == "AVERAGE") return Aggregate::kAverage;
  if (name == "MIN") return Aggregate::kMin;
  if (name == "MAX") return Aggregate::kMax;
  fail(quoted(name) + " is not an aggregate_function");
}

TreeEnsemble regression(const eph::NodeView& node) {
  const int64_t targets = node.get_int("n_targets", 1);
  if (targets < 1 || targets > 1 << 24) {
    fail("attribute 'n_targets' is " + std::to_string(targets));
  }
  TreeEnsemble ensemble = read_ensemble(node, "target", static_cast<uint32_t>(targets));
  ensemble.aggregate = aggregate_of(node.get_string("aggregate_function", "SUM"));
  return ensemble;
}

PostTransform numbered_transform(int64_t number) {
  constexpr PostTransform kTransforms[] = {PostTransform::kNone, PostTransform::kSoftmax,
                                           PostTransform::kLogistic, PostTransform::kSoftmaxZero,
                                           PostTransform::kProbit};
  if (number < 0 || number > 4) fail(std::to_string(number) + " is not a post_transform");
  return kTransforms[number];
}

// One score for each target and row.
class TreeRegressor : public Kernel {
 public:
  TreeRegressor(const NodeContext& context, TreeEnsemble ensemble, PostTransform transform)
      : Kernel(context), ensemble_(std::move(ensemble)), transform_(transform) {}

 protected:
  void run(eph::Run& run, eph::State*) final {
    const eph_value& x = *run.input(0);
    Features features(x);
    const bool is_double = x.element_type == EPH_ELEMENT_DOUBLE && keeps_type_;
    ScoreTable table(run, 0, features.rows(), ensemble_.targets,
                     is_double ? EPH_ELEMENT_DOUBLE : EPH_ELEMENT_FLOAT);
    for (int64_t row = 0; row < features.rows(); ++row) {
      std::vector<double> scores = ensemble_.scores(features.row(row));
      apply(transform_, scores);
      table.set(row, scores);
    }
  }
  bool keeps_type_ = false;

 private:
  TreeEnsemble ensemble_;
  PostTransform transform_;
};

class TreeEnsembleRegressor final : public TreeRegressor {
 public:
  explicit TreeEnsembleRegressor(const NodeContext& context)
      : TreeRegressor(context, regression(context.node()),
                      post_transform_of(context.node().get_string("post_transform", "NONE"))) {}
};

class UnifiedTreeEnsemble final : public TreeRegressor {
 public:
  explicit UnifiedTreeEnsemble(const NodeContext& context)
      : TreeRegressor(context, read_unified_ensemble(context.node()),
                      numbered_transform(context.node().get_int("post_transform", 0))) {
    keeps_type_ = true;
  }
};

constexpr KernelEntry kMlTreeKernels[] = {
    {"TreeEnsembleClassifier",
     1,
     4,
     {},
     kInputTypes<kFeatures>,
     &make<TreeEnsembleClassifier>,
     kMlDomain},
    {"TreeEnsembleRegressor",
     1,
     4,
     {},
     kInputTypes<kFeatures>,
     &make<TreeEnsembleRegressor>,
     kMlDomain},
    {"TreeEnsemble", 5, 5, {}, kInputTypes<kFloat>, &make<UnifiedTreeEnsemble>, kMlDomain},
};

}  // namespace

Table ml_tree_kernels() { return kMlTreeKernels; }

}  // namespace ephost_cpu
