// GlobalMaxPool, GlobalAveragePool and GlobalLpPool: all spatial dimensions become one element.
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/windows/lp_norm.h"
#include "plugins/cpu/math/row_math.h"

namespace ephost_cpu {
namespace {

struct Maximum {
  static constexpr double kCost = 0.2;
  explicit Maximum(const NodeContext&) {}
  template <class T>
  T operator()(const T* x, int64_t count) const {
    return row_max(x, count);
  }
};

struct Average {
  static constexpr double kCost = 0.2;
  explicit Average(const NodeContext&) {}
  template <class T>
  T operator()(const T* x, int64_t count) const {
    return static_cast<T>(row_sum(x, count) / static_cast<double>(count));
  }
};

struct Norm {
  static constexpr double kCost = 1;
  explicit Norm(const NodeContext& context) : p(read_norm(context.node())) {}
  template <class T>
  T operator()(const T* x, int64_t count) const {
    if (p == 1) return static_cast<T>(row_sum_magnitudes(x, count));
    if (p == 2) return static_cast<T>(std::sqrt(row_sum_squares(x, T{0}, count)));
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(static_cast<double>(x[i])), p);
    return static_cast<T>(std::pow(sum, 1 / p));
  }
  double p;
};

template <class Op>
class GlobalPool final : public Kernel {
 public:
  explicit GlobalPool(const NodeContext& context) : Kernel(context), op_(context) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    const int64_t planes = element_count(shape, 0, 2);
    const int64_t extent = element_count(shape, 2, shape.size());
    Dims out = {shape[0], shape[1]};
    for (std::size_t d = 2; d < shape.size(); ++d) out.push_back(1);
    if (planes > 0 && extent == 0) fail("there is nothing to pool in " + to_string(shape));
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = run.input_data<T>(0);
      T* to = data<T>(allocate_output(run, 0, x.element_type, out));
      const double cost = Op::kCost * static_cast<double>(extent);
      parallel_for(planes, cost, [=, this](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) to[p] = op_(from + p * extent, extent);
      });
    });
  }

 private:
  Op op_;
};

constexpr KernelEntry kGlobalPoolKernels[] = {
    {"GlobalMaxPool", 1, kNewest, {}, kInputTypes<kFloat>, &make<GlobalPool<Maximum>>},
    {"GlobalAveragePool", 1, kNewest, {}, kInputTypes<kFloat>, &make<GlobalPool<Average>>},
    {"GlobalLpPool", 1, kNewest, {}, kInputTypes<kFloat>, &make<GlobalPool<Norm>>},
};

}  // namespace

Table global_pool_kernels() { return kGlobalPoolKernels; }

}  // namespace ephost_cpu
