// Comparisons and logical operations with broadcasting; their result is a bool, handled as a byte.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"

namespace ephost_cpu {
namespace {

#define CPU_BINARY_PREDICATE(name, expression) \
  struct name {                                \
    static constexpr double kCost = 0.5;       \
    template <class T>                         \
    uint8_t operator()(T a, T b) const {       \
      return (expression) ? 1 : 0;             \
    }                                          \
  }
CPU_BINARY_PREDICATE(Equal, a == b);
CPU_BINARY_PREDICATE(Less, a < b);
CPU_BINARY_PREDICATE(LessOrEqual, a <= b);
CPU_BINARY_PREDICATE(And, a != 0 && b != 0);
CPU_BINARY_PREDICATE(Or, a != 0 || b != 0);
CPU_BINARY_PREDICATE(Xor, (a != 0) != (b != 0));
CPU_BINARY_PREDICATE(SameTruth, (a != 0) == (b != 0));
#undef CPU_BINARY_PREDICATE

// With `kSwapped`, op(b, a): Greater is Less with its operands exchanged.
template <class Op, bool kSwapped, class... Ts>
class Comparison final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& a = *run.input(kSwapped ? 1 : 0);
    const eph_value& b = *run.input(kSwapped ? 0 : 1);
    const Dims a_shape = dims_of(a);
    const Dims b_shape = dims_of(b);
    const Dims shape = broadcast_shape(a_shape, b_shape);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_BOOL, shape);
    if (a.element_type == EPH_ELEMENT_STRING) {
      return compare_strings(run, Broadcast<2>(shape, {a_shape, b_shape}), data<uint8_t>(y));
    }
    if (std::is_same_v<Op, Equal> && a.element_type == EPH_ELEMENT_BOOL) {
      // Any byte but zero is true.
      return broadcast_binary<uint8_t, uint8_t, uint8_t>(SameTruth{}, a.data, a_shape, b.data,
                                                         b_shape, y.data, shape);
    }
    dispatch<Ts...>(a.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      broadcast_binary<T, T, uint8_t>(Op{}, a.data, a_shape, b.data, b_shape, y.data, shape);
    });
  }

 private:
  // Only Equal has an entry for strings.
  static void compare_strings(const eph::Run& run, const Broadcast<2>& broadcast, uint8_t* y) {
    const auto* a = run.input_data<eph_string>(0);
    const auto* b = run.input_data<eph_string>(1);
    broadcast.for_each_row(20, [=](int64_t at, const auto& from, const auto& step, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const eph_string& left = a[from[0] + i * step[0]];
        y[at + i] = eph::view(left) == eph::view(b[from[1] + i * step[1]]) ? 1 : 0;
      }
    });
  }
};

template <class Op, bool kSwapped = false>
constexpr Factory kOrder = &make<Comparison<Op, kSwapped, float, double, int8_t, int16_t, int32_t,
                                            int64_t, uint8_t, uint16_t, uint32_t, uint64_t>>;

// On bools, whose bytes may be any number but zero where they are true.
template <class Op>
class Logical final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims a_shape = dims_of(*run.input(0));
    const Dims b_shape = dims_of(*run.input(1));
    const Dims shape = broadcast_shape(a_shape, b_shape);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_BOOL, shape);
    broadcast_binary<uint8_t, uint8_t, uint8_t>(Op{}, run.input(0)->data, a_shape,
                                                run.input(1)->data, b_shape, y.data, shape);
  }
};

constexpr uint64_t kEqual = kNumbers | kBool;
constexpr auto& kOfBools = kInputTypes<kBool, kBool>;

constexpr KernelEntry kComparisonKernels[] = {
    {"Equal", 7, 18, kTwoAlike, kInputTypes<kEqual, kEqual>, kOrder<Equal>},
    {"Equal", 19, kNewest, kTwoAlike, kInputTypes<kEqual | kString, kEqual | kString>,
     kOrder<Equal>},
    {"Less", 7, kNewest, kTwoAlike, kTwoNumbers, kOrder<Less>},
    {"LessOrEqual", 12, kNewest, kTwoAlike, kTwoNumbers, kOrder<LessOrEqual>},
    {"Greater", 7, kNewest, kTwoAlike, kTwoNumbers, kOrder<Less, true>},
    {"GreaterOrEqual", 12, kNewest, kTwoAlike, kTwoNumbers, kOrder<LessOrEqual, true>},
    {"And", 7, kNewest, kTwoAlike, kOfBools, &make<Logical<And>>},
    {"Or", 7, kNewest, kTwoAlike, kOfBools, &make<Logical<Or>>},
    {"Xor", 7, kNewest, kTwoAlike, kOfBools, &make<Logical<Xor>>},
};

}  // namespace

Table comparison_kernels() { return kComparisonKernels; }

}  // namespace ephost_cpu
