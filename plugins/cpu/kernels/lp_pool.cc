// LpPool: the p-norm of each window.
#include <cmath>

#include "plugins/cpu/float_arguments.h"
#include "plugins/cpu/lp_norm.h"
#include "plugins/cpu/pooling.h"
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

struct PlusMagnitude {
  template <class T>
  CPU_INLINE T operator()(T sum, T x) const {
    return sum + (x < T{0} ? -x : x);
  }
};

struct PlusSquare {
  template <class T>
  CPU_INLINE T operator()(T sum, T x) const {
    return sum + x * x;
  }
};

struct PlusPower {
  template <class T>
  T operator()(T sum, T x) const {
    return sum + std::pow(std::fabs(x), static_cast<T>(p));
  }
  double p;
};

class LpPool final : public Kernel {
 public:
  explicit LpPool(const NodeContext& context)
      : Kernel(context), attributes_(context.node()), p_(read_norm(context.node())) {
    if (attributes_.kernel_shape().empty()) fail("attribute 'kernel_shape' is missing");
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const PoolPlan plan = make_pool_plan(attributes_, shape);
    const Dims out = pooled_shape(plan, shape);
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.output<T>(0, x.element_type, out);
      if (element_count(out) == 0) return;
      pool(plan, arguments.input<T>(0), y);
      arguments.finish();
    });
  }

 private:
  template <class T>
  void pool(const PoolPlan& plan, const T* x, T* y) const {
    const auto keep = [](T*, const Odometer<1>&, int64_t) {};
    const auto root = [&plan](T* row, const Odometer<1>&, int64_t) {
      for (int64_t i = 0; i < plan.out_row; ++i) row[i] = std::sqrt(row[i]);
    };
    const auto inverse_power = [&plan, this](T* row, const Odometer<1>&, int64_t) {
      for (int64_t i = 0; i < plan.out_row; ++i) {
        row[i] = std::pow(row[i], static_cast<T>(1 / p_));
      }
    };
    if (p_ == 1) return pool_planes(PlusMagnitude{}, Plus{}, plan, T{0}, x, y, keep);
    if (p_ == 2) return pool_planes(PlusSquare{}, Plus{}, plan, T{0}, x, y, root);
    pool_planes(PlusPower{p_}, Plus{}, plan, T{0}, x, y, inverse_power);
  }

  WindowAttributes attributes_;
  double p_;
};

constexpr KernelEntry kEntries[] = {
    {"LpPool", 1, kNewest, {}, kInputTypes<kAllFloats>, &make<LpPool>},
};

}  // namespace

Table lp_pool_kernels() { return kEntries; }

}  // namespace cpu
