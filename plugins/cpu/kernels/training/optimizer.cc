// Adagrad, Adam and Momentum of ai.onnx.preview.training: one step of an optimiser for any number
// of tensors, each with its gradient and accumulated values.
#include <array>
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// What a step works on: elements of the tensor, its gradient, and two accumulated values; the new
// ones are written to the outputs. Inputs and outputs may be the same memory.
template <class T>
struct StepData {
  const T* x;
  const T* gradient;
  const T* first;
  const T* second;  // unused by methods with one accumulated value
  T* new_x;
  T* new_first;
  T* new_second;
};

// The first two inputs are scalars, the rate and the number of updates. The others are the tensors,
// then their gradients, then kAccumulated times as many accumulated values.
template <class Method>
class Optimizer final : public Kernel {
 public:
  explicit Optimizer(const NodeContext& context) : Kernel(context), method_(context) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    constexpr uint32_t kPerTensor = 2 + Method::kAccumulated;
    const uint32_t given = run.input_count() - 2;
    if (given == 0 || given % kPerTensor != 0) {
      fail(std::to_string(given) + " tensors are not a multiple of " + std::to_string(kPerTensor));
    }
    const uint32_t tensors = given / kPerTensor;
    if (run.output_count() > tensors * (kPerTensor - 1)) fail("there are too many outputs");
    const double rate = read_rate(*run.input(0));
    const double updates = static_cast<double>(read_int(*run.input(1)));
    for (uint32_t i = 0; i < tensors; ++i) optimize(run, i, tensors, rate, updates);
  }

 private:
  static double read_rate(const eph_value& value) {
    if (element_count(eph::shape_of(value)) != 1) {
      fail("the learning rate has shape " + to_string(eph::shape_of(value)));
    }
    return value.element_type == EPH_ELEMENT_FLOAT ? static_cast<double>(*data<const float>(value))
                                                   : *data<const double>(value);
  }

  // Part `part` of tensor i: 0 is the tensor itself, 1 its gradient.
  static const eph_value& part_of(const eph::Run& run, uint32_t i, uint32_t part,
                                  uint32_t tensors) {
    const uint32_t at = 2 + part * tensors + i;
    const eph_value* x = run.input(2 + i);
    const eph_value* value = run.input(at);
    if (x == nullptr || value == nullptr) fail("input " + std::to_string(at) + " is missing");
    if (!(dims_of(*value) == dims_of(*x)) || value->element_type != x->element_type) {
      fail("input " + std::to_string(at) + " of shape " + to_string(eph::shape_of(*value)) +
           " differs in type or shape from the tensor of shape " + to_string(eph::shape_of(*x)));
    }
    return *value;
  }

  // Memory for output `at`: scratch memory if the output is not wanted.
  template <class T>
  static T* output(eph::Run& run, uint32_t at, const eph_value& like) {
    const Dims shape = dims_of(like);
    if (run.output(at) != nullptr)
      return data<T>(allocate_output(run, at, like.element_type, shape));
    const int64_t count = checked_add(element_count(shape), 1);
    return static_cast<T*>(run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T)))));
  }

  void optimize(eph::Run& run, uint32_t i, uint32_t tensors, double rate, double updates) const {
    constexpr bool kTwo = Method::kAccumulated == 2;
    const eph_value& x = part_of(run, i, 0, tensors);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      StepData<T> step = {};
      step.x = data<const T>(x);
      step.gradient = data<const T>(part_of(run, i, 1, tensors));
      step.first = data<const T>(part_of(run, i, 2, tensors));
      if (kTwo) step.second = data<const T>(part_of(run, i, 3, tensors));
      step.new_x = output<T>(run, i, x);
      step.new_first = output<T>(run, tensors + i, x);
      if (kTwo) step.new_second = output<T>(run, 2 * tensors + i, x);
      const auto update = method_.template prepare<T>(rate, updates);
      parallel_for(element_count(dims_of(x)), 2, [&](int64_t begin, int64_t end) {
        for (int64_t e = begin; e < end; ++e) update(step, e);
      });
    });
  }

  Method method_;
};

// L2 regularization, which all methods have: its gradient is added to the given one.
struct Regularized {
  explicit Regularized(const NodeContext& context)
      : norm(context.node().get_float("norm_coefficient", 0)) {}
  float norm;
};

struct Adagrad : Regularized {
  static constexpr uint32_t kAccumulated = 1;
  explicit Adagrad(const NodeContext& context)
      : Regularized(context),
        decay(context.node().get_float("decay_factor", 0)),
        epsilon(context.node().get_float("epsilon", 1e-6F)) {}

  template <class T>
  [[nodiscard]] auto prepare(double rate, double updates) const {
    const auto r = static_cast<T>(rate / (1 + updates * static_cast<double>(decay)));
    return [r, n = static_cast<T>(norm), eps = static_cast<T>(epsilon)](const StepData<T>& step,
                                                                        int64_t i) {
      const T x = step.x[i];
      const T g = n * x + step.gradient[i];
      const T h = step.first[i] + g * g;
      step.new_first[i] = h;
      step.new_x[i] = x - r * g / (std::sqrt(h) + eps);
    };
  }

  float decay, epsilon;
};

struct Adam : Regularized {
  static constexpr uint32_t kAccumulated = 2;
  explicit Adam(const NodeContext& context)
      : Regularized(context),
        alpha(context.node().get_float("alpha", 0.9F)),
        beta(context.node().get_float("beta", 0.999F)),
        epsilon(context.node().get_float("epsilon", 1e-6F)),
        norm_post(context.node().get_float("norm_coefficient_post", 0)) {}

  template <class T>
  [[nodiscard]] auto prepare(double rate, double updates) const {
    if (updates > 0) {
      rate *= std::sqrt(1 - std::pow(static_cast<double>(beta), updates)) /
              (1 - std::pow(static_cast<double>(alpha), updates));
    }
    return [r = static_cast<T>(rate), n = static_cast<T>(norm), a = static_cast<T>(alpha),
            b = static_cast<T>(beta), eps = static_cast<T>(epsilon),
            shrink = 1 - static_cast<T>(norm_post)](const StepData<T>& step, int64_t i) {
      const T x = step.x[i];
      const T g = n * x + step.gradient[i];
      const T v = a * step.first[i] + (1 - a) * g;
      const T h = b * step.second[i] + (1 - b) * g * g;
      step.new_first[i] = v;
      step.new_second[i] = h;
      step.new_x[i] = shrink * (x - r * v / (std::sqrt(h) + eps));
    };
  }

  float alpha, beta, epsilon, norm_post;
};

struct Momentum : Regularized {
  static constexpr uint32_t kAccumulated = 1;
  explicit Momentum(const NodeContext& context)
      : Regularized(context),
        alpha(context.node().get_float("alpha", 0)),
        beta(context.node().get_float("beta", 0)) {
    for (const char* required : {"alpha", "beta", "mode", "norm_coefficient"}) {
      if (context.node().attribute(required) == nullptr) {
        fail(std::string("attribute ") + required + " is missing");
      }
    }
    const std::string_view mode = context.node().get_string("mode", "");
    nesterov = mode == "nesterov";
    if (!nesterov && mode != "standard") {
      fail("attribute mode '" + std::string(mode) + "' is neither nesterov nor standard");
    }
  }

  template <class T>
  [[nodiscard]] auto prepare(double rate, double updates) const {
    return [r = static_cast<T>(rate), n = static_cast<T>(norm), a = static_cast<T>(alpha),
            b = static_cast<T>(updates > 0 ? beta : 1.0F),
            looks_ahead = nesterov](const StepData<T>& step, int64_t i) {
      const T x = step.x[i];
      const T g = n * x + step.gradient[i];
      const T v = a * step.first[i] + b * g;
      step.new_first[i] = v;
      step.new_x[i] = x - r * (looks_ahead ? g + a * v : v);
    };
  }

  float alpha, beta;
  bool nesterov = false;
};

constexpr std::string_view kDomain = "ai.onnx.preview.training";
// Rate and tensors may have different types.
constexpr std::array<eph_type_rule, 3> kOptimizerTypes = {
    {{0, 0, kFloat}, {1, 0, kInt64}, {2, EPH_RULE_VARIADIC, kFloat}}};

constexpr KernelEntry kOptimizerKernels[] = {
    {"Adagrad", 1, 1, kThreeInputs, kOptimizerTypes, &make<Optimizer<Adagrad>>, kDomain},
    {"Adam", 1, 1, kThreeInputs, kOptimizerTypes, &make<Optimizer<Adam>>, kDomain},
    {"Momentum", 1, 1, kThreeInputs, kOptimizerTypes, &make<Optimizer<Momentum>>, kDomain},
};

}  // namespace

Table optimizer_kernels() { return kOptimizerKernels; }

}  // namespace ephost_cpu
