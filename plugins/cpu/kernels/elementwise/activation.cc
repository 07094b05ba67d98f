// Activation functions.
#include <cmath>
#include <limits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/kernels/elementwise/old_broadcast.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

struct Relu : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

struct LeakyRelu {
  static constexpr double kCost = 0.2;
  explicit LeakyRelu(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 0.01F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? static_cast<T>(alpha) * x : x;
  }
  float alpha;
};

struct Elu {
  static constexpr double kCost = 1;
  explicit Elu(const NodeContext& context) : alpha(context.node().get_float("alpha", 1.0F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? static_cast<T>(alpha) * (fast_exp(x) - T{1}) : x;
  }
  float alpha;
};

struct Celu {
  static constexpr double kCost = 1;
  explicit Celu(const NodeContext& context) : alpha(context.node().get_float("alpha", 1.0F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x < T{0} ? static_cast<T>(alpha) * (fast_exp(x / static_cast<T>(alpha)) - T{1}) : x;
  }
  float alpha;
};

struct Selu {
  static constexpr double kCost = 1;
  explicit Selu(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 1.67326319F)),
        gamma(context.node().get_float("gamma", 1.05070102F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T scale = static_cast<T>(gamma);
    return x > T{0} ? scale * x : scale * (static_cast<T>(alpha) * (fast_exp(x) - T{1}));
  }
  float alpha, gamma;
};

struct HardSigmoid {
  static constexpr double kCost = 0.2;
  explicit HardSigmoid(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 0.2F)),
        beta(context.node().get_float("beta", 0.5F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T y = static_cast<T>(alpha) * x + static_cast<T>(beta);
    const T low = y < T{0} ? T{0} : y;
    return low > T{1} ? T{1} : low;
  }
  float alpha, beta;
};

struct HardSwish : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    const T y = x / T{6} + T{0.5};
    const T low = y < T{0} ? T{0} : y;
    return x * (low > T{1} ? T{1} : low);
  }
};

struct Softplus : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    // log(1 + e^x) without overflow for large x.
    const T positive = x > T{0} ? x : T{0};
    return positive + fast_log1p(fast_exp(-std::fabs(x)));
  }
};

struct Softsign : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.5;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x / (T{1} + std::fabs(x));
  }
};

struct ThresholdedRelu {
  static constexpr double kCost = 0.2;
  explicit ThresholdedRelu(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 1.0F)) {}
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return x > static_cast<T>(alpha) ? x : T{0};
  }
  float alpha;
};

struct Sigmoid : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return fast_sigmoid(x);
  }
};

struct Tanh : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return fast_tanh(x);
  }
};

template <class T>
struct ClipTo {
  static constexpr double kCost = 0.2;
  T low, high;
  CPU_INLINE T operator()(T x) const {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

// Bounds are attributes up to version 6 and optional scalars afterwards.
class Clip final : public Kernel {
 public:
  explicit Clip(const NodeContext& context)
      : Kernel(context),
        low_(context.node().get_float("min", std::numeric_limits<float>::lowest())),
        high_(context.node().get_float("max", std::numeric_limits<float>::max())),
        has_attributes_(context.version() < 11) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const ClipTo<T> op = bounds<T>(run);
      map_elements<T, T>(op, x.data, y.data, element_count(shape));
    });
  }

 private:
  template <class T>
  [[nodiscard]] ClipTo<T> bounds(const eph::Run& run) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (has_attributes_) return {static_cast<T>(low_), static_cast<T>(high_)};
    }
    using Limits = std::numeric_limits<T>;
    ClipTo<T> op = {Limits::lowest(), Limits::max()};
    if (run.input(1) != nullptr) op.low = scalar<T>(*run.input(1), "min");
    if (run.input(2) != nullptr) op.high = scalar<T>(*run.input(2), "max");
    return op;
  }

  template <class T>
  [[nodiscard]] static T scalar(const eph_value& value, const char* name) {
    if (element_count(eph::shape_of(value)) != 1) {
      fail(std::string("input '") + name + "' has shape " + to_string(eph::shape_of(value)) +
           ", expected a scalar");
    }
    return *data<const T>(value);
  }

  float low_, high_;
  bool has_attributes_;
};

struct PReluOp {
  static constexpr double kCost = 0.3;
  template <class T>
  CPU_INLINE T operator()(T x, T slope) const {
    if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else if constexpr (std::is_integral_v<T>) {
      const auto product = static_cast<uint64_t>(x) * static_cast<uint64_t>(slope);
      return x < 0 ? static_cast<T>(product) : x;
    } else {
      return x < T{0} ? slope * x : x;
    }
  }
};

// The slope is broadcast to the input, not the other way round.
class PRelu final : public Kernel {
 public:
  explicit PRelu(const NodeContext& context)
      : Kernel(context), old_(OldBroadcast::of_channels(context)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const eph_value& slope = *run.input(1);
    const Dims shape = dims_of(x);
    const Dims slope_shape = old_.align(shape, dims_of(slope));
    if (!(broadcast_shape(shape, slope_shape) == shape)) {
      fail("slope of shape " + to_string(slope_shape) + " cannot be broadcast to the input's " +
           to_string(shape));
    }
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch<float, double, int32_t, int64_t, uint32_t, uint64_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      broadcast_binary<T, T, T>(PReluOp{}, x.data, shape, slope.data, slope_shape, y.data, shape);
    });
  }

 private:
  OldBroadcast old_;
};

constexpr auto kRelu14 = &make<UnaryKernel<Relu, float, double, int8_t, int16_t, int32_t, int64_t>>;
constexpr Inputs kClipInputs = {.required = 1, .same_type = 0b111};

constexpr KernelEntry kActivationKernels[] = {
    {"Relu", 6, 13, {}, kInputTypes<kFloat>, kFloatUnary<Relu>},
    {"Relu", 14, kNewest, {}, kInputTypes<kFloat | kSignedInts>, kRelu14},
    {"LeakyRelu", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<LeakyRelu>},
    {"PRelu", 1, kNewest, kTwoAlike, kInputTypes<kWideNumbers, kWideNumbers>, &make<PRelu>},
    {"Elu", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Elu>},
    {"Celu", 12, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Celu>},
    {"Selu", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Selu>},
    {"HardSigmoid", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<HardSigmoid>},
    {"HardSwish", 14, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<HardSwish>},
    {"Softplus", 1, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Softplus>},
    {"Softsign", 1, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Softsign>},
    {"ThresholdedRelu", 10, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<ThresholdedRelu>},
    {"Sigmoid", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Sigmoid>},
    {"Tanh", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Tanh>},
    {"Clip", 6, 6, {}, kInputTypes<kFloat>, &make<Clip>},
    {"Clip", 11, kNewest, kClipInputs, kInputTypes<kNumbers, kNumbers, kNumbers>, &make<Clip>},
};

}  // namespace

Table activation_kernels() { return kActivationKernels; }

}  // namespace ephost_cpu
