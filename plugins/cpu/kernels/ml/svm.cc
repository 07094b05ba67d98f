// SVMClassifier and SVMRegressor of ai.onnx.ml: support vector machines as libsvm defines them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {
namespace {

// The kernel function between two rows of features.
class KernelFunction {
 public:
  explicit KernelFunction(const eph::NodeView& node)
      : type_(node.get_string("kernel_type", "LINEAR")) {
    const std::vector<float> numbers = node.get_floats("kernel_params").to_vector();
    if (!numbers.empty() && numbers.size() < 3) fail("attribute 'kernel_params' is not 3 numbers");
    if (!numbers.empty()) {
      gamma_ = numbers[0];
      coef0_ = numbers[1];
      degree_ = numbers[2];
    }
    if (type_ != "LINEAR" && type_ != "POLY" && type_ != "RBF" && type_ != "SIGMOID") {
      fail(quoted(type_) + " is not a kernel_type");
    }
  }

  [[nodiscard]] double operator()(const std::vector<double>& row, const float* other) const {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      sum += type_ == "RBF" ? (row[i] - other[i]) * (row[i] - other[i]) : row[i] * other[i];
    }
    if (type_ == "RBF") return std::exp(-gamma_ * sum);
    if (type_ == "POLY") return std::pow(gamma_ * sum + coef0_, degree_);
    if (type_ == "SIGMOID") return std::tanh(gamma_ * sum + coef0_);
    return sum;
  }

 private:
  std::string type_;
  double gamma_ = 0;
  double coef0_ = 0;
  double degree_ = 0;
};

// The probabilities of classes from those of pairs: r[i][j] is that of i against j. Minimises
// sum over i < j of (r[j][i] p[i] - r[i][j] p[j])^2 by fixed-point steps on each p.
std::vector<double> couple(const std::vector<std::vector<double>>& r) {
  const std::size_t n = r.size();
  std::vector<std::vector<double>> q(n, std::vector<double>(n));
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t j = 0; j < n; ++j) {
      if (j == t) continue;
      q[t][t] += r[j][t] * r[j][t];
      q[t][j] = -r[j][t] * r[t][j];
    }
  }
  std::vector<double> p(n, 1.0 / static_cast<double>(n));
  const int rounds = std::max<int>(100, static_cast<int>(n));
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> qp(n);
    double pqp = 0;
    for (std::size_t t = 0; t < n; ++t) {
      qp[t] = std::inner_product(q[t].begin(), q[t].end(), p.begin(), 0.0);
      pqp += p[t] * qp[t];
    }
    double error = 0;
    for (std::size_t t = 0; t < n; ++t) error = std::max(error, std::abs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(n)) break;
    for (std::size_t t = 0; t < n; ++t) {
      if (q[t][t] == 0) continue;
      const double step = (pqp - qp[t]) / q[t][t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (std::size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

class SVMClassifier final : public Kernel {
 public:
  explicit SVMClassifier(const NodeContext& context)
      : Kernel(context),
        function_(context.node()),
        labels_(context, "classlabels_strings", "classlabels_ints"),
        transform_(post_transform_of(context.node().get_string("post_transform", "NONE"))),
        vectors_per_class_(ints_of(context.node(), "vectors_per_class")),
        vectors_(context.node().get_floats("support_vectors").to_vector()),
        coefficients_(context.node().get_floats("coefficients").to_vector()),
        rho_(context.node().get_floats("rho").to_vector()),
        prob_a_(context.node().get_floats("prob_a").to_vector()),
        prob_b_(context.node().get_floats("prob_b").to_vector()) {
    check();
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    Features features(*run.input(0));
    const auto columns = static_cast<std::size_t>(features.columns());
    const bool fits = is_linear() ? coefficients_.size() == columns * labels_.size()
                                  : vectors_.size() == columns * vector_count_;
    if (!fits) fail("the model does not fit " + std::to_string(columns) + " features");
    if (run.output(0) != nullptr) {
      allocate_output(run, 0, labels_.element_type(), {features.rows()});
    }
    ScoreTable table(run, 1, features.rows(), static_cast<int64_t>(score_count()));
    for (int64_t row = 0; row < features.rows(); ++row) {
      std::size_t label = 0;
      std::vector<double> scores = is_linear() ? linear_scores(features.row(row), label)
                                               : pair_scores(features.row(row), label);
      apply(transform_, scores);
      if (run.output(0) != nullptr) labels_.write(run, row, label);
      table.set(row, scores);
    }
  }

 private:
  [[nodiscard]] bool is_linear() const { return vectors_per_class_.empty(); }
  [[nodiscard]] std::size_t pairs() const { return labels_.size() * (labels_.size() - 1) / 2; }
  // One for each class, except for raw scores of more than two classes, which are one for each
  // pair.
  [[nodiscard]] std::size_t score_count() const {
    const bool by_class = is_linear() || !prob_a_.empty() || labels_.size() == 2;
    return by_class ? labels_.size() : pairs();
  }

  void check() {
    const std::size_t classes = labels_.size();
    if (is_linear()) {
      if (rho_.size() != 1 && rho_.size() != classes) fail("attribute 'rho' has another size");
      return;
    }
    for (const int64_t count : vectors_per_class_) {
      if (count < 0) fail("attribute 'vectors_per_class' has a negative number");
      first_vector_.push_back(vector_count_);
      vector_count_ += static_cast<std::size_t>(count);
    }
    first_vector_.push_back(vector_count_);
    const bool has_pairs = rho_.size() == pairs() && prob_a_.size() == prob_b_.size() &&
                           (prob_a_.empty() || prob_a_.size() == pairs());
    if (vectors_per_class_.size() != classes || classes < 2 || !has_pairs ||
        coefficients_.size() != (classes - 1) * vector_count_) {
      fail("the sizes of coefficients, rho, prob_a, prob_b and vectors_per_class do not fit " +
           std::to_string(classes) + " classes");
    }
  }

  std::vector<double> linear_scores(const std::vector<double>& row, std::size_t& label) const {
    std::vector<double> scores;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      scores.push_back(function_(row, coefficients_.data() + i * row.size()) +
                       rho_[rho_.size() == 1 ? 0 : i]);
    }
    label = index_of_largest(scores);
    return scores;
  }

  std::vector<double> pair_scores(const std::vector<double>& row, std::size_t& label) const {
    std::vector<double> similar(vector_count_);
    for (std::size_t i = 0; i < vector_count_; ++i) {
      similar[i] = function_(row, vectors_.data() + i * row.size());
    }
    std::vector<double> decisions;
    std::vector<double> votes(labels_.size());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      for (std::size_t j = i + 1; j < labels_.size(); ++j) {
        const double sum = rho_[decisions.size()] + weigh(similar, i, j - 1) + weigh(similar, j, i);
        votes[sum > 0 ? i : j] += 1;
        decisions.push_back(sum);
      }
    }
    label = index_of_largest(votes);
    if (prob_a_.empty()) {
      // A positive decision is for the first class; the score is that of the second.
      return labels_.size() == 2 ? two_scores(decisions[0], false, PostTransform::kNone)
                                 : decisions;
    }
    return probabilities(decisions);
  }

  // The contribution of the vectors of one class to a decision against another one.
  [[nodiscard]] double weigh(const std::vector<double>& similar, std::size_t of,
                             std::size_t line) const {
    double sum = 0;
    for (std::size_t v = first_vector_[of]; v < first_vector_[of + 1]; ++v) {
      sum += similar[v] * coefficients_[line * vector_count_ + v];
    }
    return sum;
  }

  [[nodiscard]] std::vector<double> probabilities(const std::vector<double>& decisions) const {
    constexpr double kLeast = 1e-7;
    const std::size_t n = labels_.size();
    std::vector<std::vector<double>> r(n, std::vector<double>(n));
    std::size_t pair = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j, ++pair) {
        const double share = 1 / (1 + std::exp(decisions[pair] * prob_a_[pair] + prob_b_[pair]));
        r[i][j] = std::clamp(share, kLeast, 1 - kLeast);
        r[j][i] = 1 - r[i][j];
      }
    }
    return couple(r);
  }

  KernelFunction function_;
  ClassLabels labels_;
  PostTransform transform_;
  std::vector<int64_t> vectors_per_class_;
  std::vector<float> vectors_;
  std::vector<float> coefficients_;
  std::vector<float> rho_;
  std::vector<float> prob_a_;
  std::vector<float> prob_b_;
  std::vector<std::size_t> first_vector_;  // by class, with the end after the last one
  std::size_t vector_count_ = 0;
};

class SVMRegressor final : public Kernel {
 public:
  explicit SVMRegressor(const NodeContext& context)
      : Kernel(context),
        function_(context.node()),
        transform_(post_transform_of(context.node().get_string("post_transform", "NONE"))),
        vectors_(context.node().get_floats("support_vectors").to_vector()),
        coefficients_(context.node().get_floats("coefficients").to_vector()),
        is_one_class_(context.node().get_int("one_class", 0) != 0) {
    const std::vector<float> rho = context.node().get_floats("rho").to_vector();
    if (rho.size() > 1) fail("attribute 'rho' has more than one number");
    rho_ = rho.empty() ? 0 : rho[0];
    const int64_t count = context.node().get_int("n_supports", 0);
    if (count < 0 || (count > 0 && coefficients_.size() != static_cast<std::size_t>(count))) {
      fail("attribute 'n_supports' does not fit the coefficients");
    }
    // Without support vectors the coefficients are those of a linear function.
    vector_count_ = static_cast<std::size_t>(count);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    Features features(*run.input(0));
    const auto columns = static_cast<std::size_t>(features.columns());
    const bool fits = vector_count_ == 0 ? coefficients_.size() == columns
                                         : vectors_.size() == columns * vector_count_;
    if (!fits) fail("the model does not fit " + std::to_string(columns) + " features");
    ScoreTable table(run, 0, features.rows(), 1);
    for (int64_t row = 0; row < features.rows(); ++row) {
      const std::vector<double>& numbers = features.row(row);
      double sum = rho_;
      if (vector_count_ == 0) sum += function_(numbers, coefficients_.data());
      for (std::size_t i = 0; i < vector_count_; ++i) {
        sum += coefficients_[i] * function_(numbers, vectors_.data() + i * columns);
      }
      std::vector<double> scores = {is_one_class_ ? (sum > 0 ? 1.0 : -1.0) : sum};
      if (!is_one_class_) apply(transform_, scores);
      table.set(row, scores);
    }
  }

 private:
  KernelFunction function_;
  PostTransform transform_;
  std::vector<float> vectors_;
  std::vector<float> coefficients_;
  bool is_one_class_;
  double rho_ = 0;
  std::size_t vector_count_ = 0;
};

constexpr KernelEntry kMlSvmKernels[] = {
    {"SVMClassifier", 1, 1, {}, kInputTypes<kFeatures>, &make<SVMClassifier>, kMlDomain},
    {"SVMRegressor", 1, 1, {}, kInputTypes<kFeatures>, &make<SVMRegressor>, kMlDomain},
};

}  // namespace

Table ml_svm_kernels() { return kMlSvmKernels; }

}  // namespace ephost_cpu
