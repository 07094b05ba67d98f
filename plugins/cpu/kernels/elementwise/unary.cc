// Elementary functions of one number, and Not.
#include <cmath>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

// Declares an operation without attributes from an expression in `x` of type T.
#define CPU_UNARY_OP(name, cost, expression) \
  struct name : Stateless {                  \
    using Stateless::Stateless;              \
    static constexpr double kCost = cost;    \
    template <class T>                       \
    CPU_INLINE T operator()(T x) const {     \
      return static_cast<T>(expression);     \
    }                                        \
  }

CPU_UNARY_OP(Sqrt, 0.5, std::sqrt(x));
CPU_UNARY_OP(Exp, 1, fast_exp(x));
CPU_UNARY_OP(Log, 1, fast_log(x));
CPU_UNARY_OP(Reciprocal, 0.3, T{1} / x);
CPU_UNARY_OP(Floor, 0.3, std::floor(x));
CPU_UNARY_OP(Ceil, 0.3, std::ceil(x));
CPU_UNARY_OP(Round, 0.3, std::nearbyint(x));
CPU_UNARY_OP(Tan, 10, std::tan(x));
CPU_UNARY_OP(Asin, 10, std::asin(x));
CPU_UNARY_OP(Acos, 10, std::acos(x));
CPU_UNARY_OP(Atan, 10, std::atan(x));
CPU_UNARY_OP(Sinh, 10, std::sinh(x));
CPU_UNARY_OP(Cosh, 10, std::cosh(x));
CPU_UNARY_OP(Asinh, 10, std::asinh(x));
CPU_UNARY_OP(Acosh, 10, std::acosh(x));
CPU_UNARY_OP(Atanh, 10, std::atanh(x));
CPU_UNARY_OP(Not, 0.2, x == 0);

#undef CPU_UNARY_OP

struct Sin : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1;
  static constexpr float kLargest = kLargestAngle;
  CPU_INLINE float operator()(float x) const { return turned_sine(x, 0); }
  double operator()(double x) const { return std::sin(x); }
  static float exact(float x) { return std::sin(x); }
};

struct Cos : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1;
  static constexpr float kLargest = kLargestAngle;
  CPU_INLINE float operator()(float x) const { return turned_sine(x, 1); }
  double operator()(double x) const { return std::cos(x); }
  static float exact(float x) { return std::cos(x); }
};

// The schema has integers too, for which the result is truncated.
struct Erf : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::erf(static_cast<double>(x)));
    } else {
      return fast_erf(x);
    }
  }
};

// Two's complement negation without the overflow of the lowest number.
template <class T>
CPU_INLINE T negated(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  } else {
    return -x;
  }
}

struct Neg : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return negated(x);
  }
};

struct Abs : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else {
      return x < T{0} ? negated(x) : x;
    }
  }
};

struct Sign : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.3;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    if (std::is_floating_point_v<T> && x != x) return x;
    return static_cast<T>((x > T{0}) - (x < T{0}));
  }
};

// A bool is a byte here.
class NotKernel final : public Kernel {
 public:
  explicit NotKernel(const NodeContext& context) : Kernel(context) { allow_inplace(0); }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_BOOL, shape);
    map_elements<uint8_t, uint8_t>(Not{}, x.data, y.data, element_count(shape));
  }
};

template <class Op>
constexpr Factory kSignedUnary =
    &make<UnaryKernel<Op, float, double, int8_t, int16_t, int32_t, int64_t>>;
template <class Op>
constexpr Factory kNumberUnary = &make<UnaryKernel<Op, float, double, int8_t, int16_t, int32_t,
                                                   int64_t, uint8_t, uint16_t, uint32_t, uint64_t>>;

constexpr KernelEntry kUnaryKernels[] = {
    {"Sqrt", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Sqrt>},
    {"Exp", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Exp>},
    {"Log", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Log>},
    {"Reciprocal", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Reciprocal>},
    {"Floor", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Floor>},
    {"Ceil", 6, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Ceil>},
    {"Round", 11, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Round>},
    {"Erf", 9, kNewest, {}, kInputTypes<kNumbers>, kNumberUnary<Erf>},
    {"Neg", 6, kNewest, {}, kInputTypes<kFloat | kSignedInts>, kSignedUnary<Neg>},
    {"Abs", 6, kNewest, {}, kInputTypes<kNumbers>, kNumberUnary<Abs>},
    {"Sign", 9, kNewest, {}, kInputTypes<kNumbers>, kNumberUnary<Sign>},
    {"Sin", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Sin>},
    {"Cos", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Cos>},
    {"Tan", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Tan>},
    {"Asin", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Asin>},
    {"Acos", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Acos>},
    {"Atan", 7, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Atan>},
    {"Sinh", 9, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Sinh>},
    {"Cosh", 9, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Cosh>},
    {"Asinh", 9, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Asinh>},
    {"Acosh", 9, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Acosh>},
    {"Atanh", 9, kNewest, {}, kInputTypes<kFloat>, kFloatUnary<Atanh>},
    {"Not", 1, kNewest, {}, kInputTypes<kBool>, &make<NotKernel>},
};

}  // namespace

Table unary_kernels() { return kUnaryKernels; }

}  // namespace ephost_cpu
