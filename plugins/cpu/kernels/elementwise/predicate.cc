// IsNaN and IsInf.
#include <cmath>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

struct IsNan : Stateless {
  using Stateless::Stateless;
  static constexpr double kCost = 0.5;
  template <class T>
  uint8_t operator()(T x) const {
    return std::isnan(x) ? 1 : 0;
  }
};

struct IsInf {
  static constexpr double kCost = 0.5;
  explicit IsInf(const NodeContext& context)
      : negative(context.node().get_int("detect_negative", 1) != 0),
        positive(context.node().get_int("detect_positive", 1) != 0) {}
  template <class T>
  uint8_t operator()(T x) const {
    return std::isinf(x) && (x > 0 ? positive : negative) ? 1 : 0;
  }
  bool negative, positive;
};

template <class Op>
class Predicate final : public Kernel {
 public:
  explicit Predicate(const NodeContext& context) : Kernel(context), op_(context) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const int64_t count = element_count(shape);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_BOOL, shape);
    if ((kFloat8 & eph::type_bit(x.element_type)) != 0) {
      void* copy = run.scratch(static_cast<uint64_t>(checked_multiply(count + 1, sizeof(float))));
      convert(x.data, x.element_type, copy, EPH_ELEMENT_FLOAT, count);
      return map_elements<float, uint8_t>(op_, copy, y.data, count);
    }
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      map_elements<T, uint8_t>(op_, x.data, y.data, count);
    });
  }

 private:
  Op op_;
};

constexpr KernelEntry kPredicateKernels[] = {
    {"IsNaN", 9, 19, {}, kInputTypes<kFloat>, &make<Predicate<IsNan>>},
    {"IsNaN", 20, kNewest, {}, kInputTypes<kFloat | kFloat8>, &make<Predicate<IsNan>>},
    {"IsInf", 10, 19, {}, kInputTypes<kFloat>, &make<Predicate<IsInf>>},
    {"IsInf", 20, kNewest, {}, kInputTypes<kFloat | kFloat8>, &make<Predicate<IsInf>>},
};

}  // namespace

Table predicate_kernels() { return kPredicateKernels; }

}  // namespace ephost_cpu
