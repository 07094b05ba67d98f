// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <limits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/normalization/softmax.h"

namespace ephost_cpu {
namespace {

enum class Total { kNone, kSum, kMean };

Total parse_total(std::string_view text) {
  if (text == "none") return Total::kNone;
  if (text == "sum") return Total::kSum;
  if (text == "mean") return Total::kMean;
  fail("attribute reduction '" + std::string(text) + "' is not none, sum or mean");
}

// What both operators share: the loss computed from the logarithms of probabilities.
class LossKernel : public Kernel {
 public:
  explicit LossKernel(const NodeContext& context)
      : Kernel(context),
        total_(parse_total(context.node().get_string("reduction", "mean"))),
        ignores_(context.node().attribute("ignore_index") != nullptr),
        ignored_(context.node().get_int("ignore_index", 0)) {}

 protected:
  // Inputs 1 and 2 are the classes and, if given, their weights. Fills output 0. `log_prob` has the
  // shape of input 0.
  template <class T>
  void lose(eph::Run& run, const Dims& shape, const T* log_prob) const {
    const eph_value& target = *run.input(1);
    Dims samples = shape;
    samples.erase(1);
    const Dims loss_shape = total_ == Total::kNone ? samples : Dims();
    const eph_value& loss = allocate_output(run, 0, run.input(0)->element_type, loss_shape);
    dispatch<int32_t, int64_t>(target.element_type, [&](auto tag) {
      using I = typename decltype(tag)::type;
      const Sum sum = add_up(run, shape, log_prob, data<const I>(target),
                             total_ == Total::kNone ? data<T>(loss) : nullptr);
      if (total_ == Total::kSum) *data<T>(loss) = static_cast<T>(sum.loss);
      if (total_ == Total::kMean) *data<T>(loss) = static_cast<T>(sum.loss / sum.weight);
    });
  }

  // Throws unless target and weights fit scores of that shape.
  static void check_shapes(const eph::Run& run, const Dims& shape) {
    if (shape.size() < 2) fail("scores " + to_string(shape) + " lack a dimension of classes");
    Dims samples = shape;
    samples.erase(1);
    const Dims target = dims_of(*run.input(1));
    if (!(target == samples)) {
      fail("classes of shape " + to_string(target) + " do not match scores of shape " +
           to_string(shape));
    }
    const eph_value* weights = run.input(2);
    if (weights != nullptr && !(dims_of(*weights) == Dims{shape[1]})) {
      fail("weights of shape " + to_string(eph::shape_of(*weights)) + " do not match " +
           std::to_string(shape[1]) + " classes");
    }
  }

 private:
  struct Sum {
    double loss = 0, weight = 0;
  };

  // Stores each sample's loss in `y`, unless that is null.
  template <class T, class I>
  Sum add_up(const eph::Run& run, const Dims& shape, const T* log_prob, const I* target,
             T* y) const {
    const T* weights = run.input(2) != nullptr ? run.input_data<T>(2) : nullptr;
    const int64_t classes = shape[1];
    const int64_t inner = element_count(shape, 2, shape.size());
    const int64_t samples = checked_multiply(shape[0], inner);
    Sum sum;
    for (int64_t i = 0; i < samples; ++i) {
      const auto c = static_cast<int64_t>(target[i]);
      T loss = 0;
      if (!ignores_ || c != ignored_) {
        if (c < 0 || c >= classes) {
          fail("class " + std::to_string(c) + " is outside of [0, " + std::to_string(classes) +
               ")");
        }
        const T weight = weights != nullptr ? weights[c] : T{1};
        loss = -log_prob[(i / inner * classes + c) * inner + i % inner] * weight;
        sum.weight += static_cast<double>(weight);
      }
      sum.loss += static_cast<double>(loss);
      if (y != nullptr) y[i] = loss;
    }
    return sum;
  }

  Total total_;
  bool ignores_;
  int64_t ignored_;
};

class NegativeLogLikelihood final : public LossKernel {
 public:
  using LossKernel::LossKernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    check_shapes(run, shape);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      lose(run, shape, data<const T>(x));
    });
  }
};

// Output 1 is the logarithm of the softmax.
class SoftmaxCrossEntropy final : public LossKernel {
 public:
  using LossKernel::LossKernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    check_shapes(run, shape);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const int64_t count = element_count(shape);
      T* log_prob = nullptr;
      if (run.output(1) != nullptr) {
        log_prob = data<T>(allocate_output(run, 1, x.element_type, shape));
      } else {
        const int64_t bytes = checked_multiply(std::max<int64_t>(count, 1), sizeof(T));
        log_prob = static_cast<T*>(run.scratch(static_cast<uint64_t>(bytes)));
      }
      if (count > 0) {
        log_softmax(data<const T>(x), log_prob, shape[0], shape[1],
                    element_count(shape, 2, shape.size()));
      }
      if (run.output(0) != nullptr) lose(run, shape, static_cast<const T*>(log_prob));
    });
  }
};

constexpr Inputs kScores = {.required = 2, .same_type = 0b101};
constexpr auto& kLossTypes = kInputTypes<kFloat, kIndices, kFloat>;

constexpr KernelEntry kLossKernels[] = {
    {"NegativeLogLikelihoodLoss", 12, kNewest, kScores, kLossTypes, &make<NegativeLogLikelihood>},
    {"SoftmaxCrossEntropyLoss", 12, kNewest, kScores, kLossTypes, &make<SoftmaxCrossEntropy>},
};

}  // namespace

Table loss_kernels() { return kLossKernels; }

}  // namespace ephost_cpu
