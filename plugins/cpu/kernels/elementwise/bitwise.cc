// BitShift and BitwiseAnd, Or, Xor, Not.
#include <type_traits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"

namespace ephost_cpu {
namespace {

struct BitAnd {
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitNot : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.2;
  template <class T>
  CPU_INLINE T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

// Shifting by the width or more leaves nothing.
template <bool kLeft>
struct Shift {
  static constexpr double kCost = 0.3;
  template <class T>
  CPU_INLINE T operator()(T x, T amount) const {
    constexpr T kWidth = sizeof(T) * 8;
    const auto wide = static_cast<uint64_t>(x);
    const auto safe = static_cast<uint64_t>(amount < kWidth ? amount : 0);
    const auto shifted = static_cast<T>(kLeft ? wide << safe : wide >> safe);
    return amount < kWidth ? shifted : T{0};
  }
};

// The sign does not matter to bits: an unsigned type stands for both.
template <class F>
void dispatch_unsigned(int32_t element_type, F&& f) {
  dispatch_size(element_size(element_type), [&](auto tag) {
    if constexpr (std::is_integral_v<typename decltype(tag)::type>) f(tag);
  });
}

template <class Op>
class BinaryBits final : public Kernel {
 public:
  explicit BinaryBits(const NodeContext& context) : Kernel(context) {
    allow_inplace_if_equal(context, 0);
    allow_inplace_if_equal(context, 1);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(1);
    const Dims a_shape = dims_of(a);
    const Dims b_shape = dims_of(b);
    const Dims shape = broadcast_shape(a_shape, b_shape);
    const eph_value& y = allocate_output(run, 0, a.element_type, shape);
    dispatch_unsigned(a.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      broadcast_binary<T, T, T>(Op{}, a.data, a_shape, b.data, b_shape, y.data, shape);
    });
  }
};

class BitwiseNot final : public Kernel {
 public:
  explicit BitwiseNot(const NodeContext& context) : Kernel(context) { allow_inplace(0); }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch_unsigned(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      map_elements<T, T>(BitNot{}, x.data, y.data, element_count(shape));
    });
  }
};

std::unique_ptr<Kernel> make_shift(const NodeContext& context) {
  const std::string_view direction = context.node().get_string("direction", "");
  if (direction == "LEFT") return std::make_unique<BinaryBits<Shift<true>>>(context);
  if (direction == "RIGHT") return std::make_unique<BinaryBits<Shift<false>>>(context);
  fail("attribute direction '" + std::string(direction) + "' is neither LEFT nor RIGHT");
}

constexpr uint64_t kUnsigned = kInts & ~kSignedInts;
constexpr auto& kPair = kInputTypes<kInts, kInts>;

constexpr KernelEntry kBitwiseKernels[] = {
    {"BitShift", 11, kNewest, kTwoAlike, kInputTypes<kUnsigned, kUnsigned>, &make_shift},
    {"BitwiseAnd", 18, kNewest, kTwoAlike, kPair, &make<BinaryBits<BitAnd>>},
    {"BitwiseOr", 18, kNewest, kTwoAlike, kPair, &make<BinaryBits<BitOr>>},
    {"BitwiseXor", 18, kNewest, kTwoAlike, kPair, &make<BinaryBits<BitXor>>},
    {"BitwiseNot", 18, kNewest, {}, kInputTypes<kInts>, &make<BitwiseNot>},
};

}  // namespace

Table bitwise_kernels() { return kBitwiseKernels; }

}  // namespace ephost_cpu
