// Add, Sub, Mul, Div and Mod with broadcasting. Integers wrap around; division by zero is refused.
#include <cmath>
#include <limits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/kernels/elementwise/old_broadcast.h"

namespace ephost_cpu {
namespace {

// Unsigned and at least int's width, so that nothing overflows on the way.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

#define CPU_WRAPPING_OP(name, symbol)                                                          \
  struct name {                                                                                \
    static constexpr double kCost = 0.25;                                                      \
    template <class T>                                                                         \
    CPU_INLINE T operator()(T a, T b) const {                                                  \
      if constexpr (std::is_integral_v<T>) {                                                   \
        return static_cast<T>(static_cast<Wrapping<T>>(a) symbol static_cast<Wrapping<T>>(b)); \
      } else {                                                                                 \
        return a symbol b;                                                                     \
      }                                                                                        \
    }                                                                                          \
  }
CPU_WRAPPING_OP(Add, +);
CPU_WRAPPING_OP(Sub, -);
CPU_WRAPPING_OP(Mul, *);
#undef CPU_WRAPPING_OP

template <class T>
constexpr bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

struct Div {
  static constexpr double kCost = 0.5;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (is_minus_one(b)) return Sub{}(T{0}, a);
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

// The sign of the result is the divisor's, as in Python.
struct FloorMod {
  static constexpr double kCost = 1;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    if (is_minus_one(b)) return T{0};
    const auto rest = static_cast<T>(a % b);
    return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
  }
};

// The sign of the result is the dividend's, as in C.
struct TruncatedMod {
  static constexpr double kCost = 1;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return is_minus_one(b) ? T{0} : static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

template <class T>
void refuse_zero(const eph_value& divisor) {
  if constexpr (std::is_integral_v<T>) {
    const T* elements = data<const T>(divisor);
    const int64_t count = element_count(eph::shape_of(divisor));
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; ++i) zeros += elements[i] == 0 ? 1 : 0;
    if (zeros != 0) fail("integer division by zero");
  }
}

class BinaryKernel : public FlatBinary {
 public:
  explicit BinaryKernel(const NodeContext& context) : FlatBinary(context), old_(context) {
    allow_inplace_if_equal(context, 0);
    allow_inplace_if_equal(context, 1);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(1);
    const Dims a_shape = dims_of(a);
    const Dims b_shape = old_.align(a_shape, dims_of(b));
    const Dims shape = broadcast_shape(a_shape, b_shape);
    const eph_value& y = allocate_output(run, 0, a.element_type, shape);
    check_divisor(b);
    apply_binary(operation(a.element_type), a.data, a_shape, b.data, b_shape, y.data, shape);
  }
  // On operands of that type, which both have.
  [[nodiscard]] virtual BinaryOperation operation(int32_t type) const = 0;
  virtual void check_divisor(const eph_value&) const {}

  static bool is_known_to_be(uint64_t types, const NodeContext& context) {
    return (types & eph::type_bit(context.input_type(0))) != 0;
  }
  template <class Op, class T>
  static BinaryOperation loop_over() {
    static constexpr Op kOp;
    return {&binary_loop<Op, T, T, T>, &kOp, Op::kCost, sizeof(T), sizeof(T), sizeof(T)};
  }

 private:
  OldBroadcast old_;
};

// The sign does not matter to operations that wrap around: an unsigned type stands for both.
template <class Op>
class WrappingKernel final : public BinaryKernel {
 public:
  explicit WrappingKernel(const NodeContext& context) : BinaryKernel(context) {
    if (is_known_to_be(kNumbers, context)) prepare(context, operation(context.input_type(0)));
  }

 protected:
  [[nodiscard]] BinaryOperation operation(int32_t type) const override {
    if (type == EPH_ELEMENT_FLOAT) return loop_over<Op, float>();
    if (type == EPH_ELEMENT_DOUBLE) return loop_over<Op, double>();
    switch (element_size(type)) {
      case 1:
        return loop_over<Op, uint8_t>();
      case 2:
        return loop_over<Op, uint16_t>();
      case 4:
        return loop_over<Op, uint32_t>();
      default:
        return loop_over<Op, uint64_t>();
    }
  }
};

template <class Op, class... Ts>
class DividingKernel final : public BinaryKernel {
 public:
  explicit DividingKernel(const NodeContext& context) : BinaryKernel(context) {
    // Integers are searched for zeros first.
    if (is_known_to_be(kFloat, context)) prepare(context, operation(context.input_type(0)));
  }

 protected:
  [[nodiscard]] BinaryOperation operation(int32_t type) const override {
    BinaryOperation found = {};
    dispatch<Ts...>(type, [&](auto tag) { found = loop_over<Op, typename decltype(tag)::type>(); });
    return found;
  }
  void check_divisor(const eph_value& divisor) const override {
    dispatch<Ts...>(divisor.element_type,
                    [&](auto tag) { refuse_zero<typename decltype(tag)::type>(divisor); });
  }
};

template <class Op>
using IntegerMod =
    DividingKernel<Op, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
template <class Op, class... Ts>
using NumberDivision = DividingKernel<Op, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t,
                                      uint16_t, uint32_t, uint64_t>;

std::unique_ptr<Kernel> make_mod(const NodeContext& context) {
  if (context.node().get_int("fmod", 0) != 0) {
    return std::make_unique<NumberDivision<TruncatedMod>>(context);
  }
  if ((kFloat & eph::type_bit(context.input_type(0))) != 0) {
    fail("floating-point operands need the attribute fmod=1");
  }
  return std::make_unique<IntegerMod<FloorMod>>(context);
}

constexpr KernelEntry kArithmeticKernels[] = {
    {"Add", 1, kNewest, kTwoAlike, kTwoNumbers, &make<WrappingKernel<Add>>},
    {"Sub", 1, kNewest, kTwoAlike, kTwoNumbers, &make<WrappingKernel<Sub>>},
    {"Mul", 1, kNewest, kTwoAlike, kTwoNumbers, &make<WrappingKernel<Mul>>},
    {"Div", 1, kNewest, kTwoAlike, kTwoNumbers, &make<NumberDivision<Div>>},
    {"Mod", 10, kNewest, kTwoAlike, kTwoNumbers, &make_mod},
};

}  // namespace

Table arithmetic_kernels() { return kArithmeticKernels; }

}  // namespace ephost_cpu
