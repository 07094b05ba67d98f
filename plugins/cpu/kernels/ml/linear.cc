// LinearClassifier and LinearRegressor of ai.onnx.ml.
#include <cmath>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {
namespace {

// Rows of coefficients, one for each class or target, and their intercepts.
class LinearModel {
 public:
  explicit LinearModel(const eph::NodeView& node)
      : coefficients_(node.get_floats("coefficients").to_vector()),
        intercepts_(node.get_floats("intercepts").to_vector()) {}

  // For rows of `columns` features. Throws unless there are `count` rows of coefficients.
  void check(int64_t columns, std::size_t count) const {
    const bool fits = coefficients_.size() == static_cast<std::size_t>(columns) * count;
    if (fits && (intercepts_.empty() || intercepts_.size() == count)) return;
    fail(std::to_string(coefficients_.size()) + " coefficients and " +
         std::to_string(intercepts_.size()) + " intercepts do not fit " + std::to_string(columns) +
         " features and " + std::to_string(count) + " results");
  }

  // The number of rows of coefficients for that number of features.
  [[nodiscard]] std::size_t count(int64_t columns) const {
    return columns == 0 ? 0 : coefficients_.size() / static_cast<std::size_t>(columns);
  }

  [[nodiscard]] std::vector<double> scores(const std::vector<double>& features,
                                           std::size_t count) const {
    std::vector<double> scores(count);
    const float* coefficient = coefficients_.data();
    for (std::size_t i = 0; i < count; ++i) {
      double sum = intercepts_.empty() ? 0 : intercepts_[i];
      for (const double feature : features) sum += feature * *coefficient++;
      scores[i] = sum;
    }
    return scores;
  }

 private:
  std::vector<float> coefficients_;
  std::vector<float> intercepts_;
};

class LinearClassifier final : public Kernel {
 public:
  explicit LinearClassifier(const NodeContext& context)
      : Kernel(context),
        model_(context.node()),
        labels_(context, "classlabels_strings", "classlabels_ints"),
        transform_(post_transform_of(context.node().get_string("post_transform", "NONE"))) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    Features features(*run.input(0));
    // Two classes may have one row of coefficients, which is that of the second class.
    const bool is_binary = labels_.size() == 2 && model_.count(features.columns()) == 1;
    const std::size_t count = is_binary ? 1 : labels_.size();
    model_.check(features.columns(), count);
    if (run.output(0) != nullptr) {
      allocate_output(run, 0, labels_.element_type(), {features.rows()});
    }
    ScoreTable table(run, 1, features.rows(), static_cast<int64_t>(labels_.size()));
    for (int64_t row = 0; row < features.rows(); ++row) {
      std::vector<double> scores = model_.scores(features.row(row), count);
      const std::size_t label = is_binary ? (scores[0] > 0 ? 1 : 0) : index_of_largest(scores);
      if (run.output(0) != nullptr) labels_.write(run, row, label);
      if (is_binary) {
        scores = two_scores(scores[0], false, transform_);
      } else {
        apply(transform_, scores);
      }
      table.set(row, scores);
    }
  }

 private:
  LinearModel model_;
  ClassLabels labels_;
  PostTransform transform_;
};

class LinearRegressor final : public Kernel {
 public:
  explicit LinearRegressor(const NodeContext& context)
      : Kernel(context),
        model_(context.node()),
        targets_(context.node().get_int("targets", 1)),
        transform_(post_transform_of(context.node().get_string("post_transform", "NONE"))) {
    if (targets_ < 1) fail("attribute 'targets' is " + std::to_string(targets_));
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    Features features(*run.input(0));
    const auto count = static_cast<std::size_t>(targets_);
    model_.check(features.columns(), count);
    ScoreTable table(run, 0, features.rows(), targets_);
    for (int64_t row = 0; row < features.rows(); ++row) {
      std::vector<double> scores = model_.scores(features.row(row), count);
      apply(transform_, scores);
      table.set(row, scores);
    }
  }

 private:
  LinearModel model_;
  int64_t targets_;
  PostTransform transform_;
};

constexpr KernelEntry kMlLinearKernels[] = {
    {"LinearClassifier", 1, 1, {}, kInputTypes<kFeatures>, &make<LinearClassifier>, kMlDomain},
    {"LinearRegressor", 1, 1, {}, kInputTypes<kFeatures>, &make<LinearRegressor>, kMlDomain},
};

}  // namespace

Table ml_linear_kernels() { return kMlLinearKernels; }

}  // namespace ephost_cpu
