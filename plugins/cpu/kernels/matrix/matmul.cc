// MatMul with numpy's broadcasting of the leading dimensions.
#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/matrix/matmul_layout.h"
#include "plugins/cpu/kernels/matrix/product.h"

namespace ephost_cpu {
namespace {

class MatMul final : public Kernel {
 public:
  explicit MatMul(const NodeContext& context)
      : Kernel(context), products_(context.settings().onednn, usable_constant(context)) {
    const std::optional<Dims> a = context.input_shape(0);
    const std::optional<Dims> b = context.input_shape(1);
    if (!a || !b || context.input_type(0) != EPH_ELEMENT_FLOAT) return;
    const MatMulLayout layout = make_matmul_layout(*a, *b);
    if (element_count(layout.out) > 0 && layout.shape.k > 0) products_.prepare(layout.shape);
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const MatMulLayout layout = make_matmul_layout(dims_of(a), dims_of(*run.input(1)));
    allocate_output(run, 0, a.element_type, layout.out);
    if (element_count(layout.out) == 0) return;
    switch (a.element_type) {
      case EPH_ELEMENT_FLOAT:
        if (layout.shape.k == 0) return multiply_all<float>(run, layout);
        return multiply_floats(run, state, layout);
      case EPH_ELEMENT_DOUBLE:
        return multiply_all<double>(run, layout);
      case EPH_ELEMENT_INT32:
      case EPH_ELEMENT_UINT32:
        return multiply_all<uint32_t>(run, layout);
      default:
        return multiply_all<uint64_t>(run, layout);
    }
  }

 private:
  // B, if it is a constant matrix of floats without a batch: only then do all products share it.
  static const void* usable_constant(const NodeContext& context) {
    const eph_value* b = context.constant(1);
    if (b == nullptr || b->element_type != EPH_ELEMENT_FLOAT || b->rank < 2) return nullptr;
    const Dims shape = dims_of(*b);
    return element_count(Dims(eph::ArrayView<int64_t>(shape.data(), shape.size() - 2))) == 1
               ? b->data
               : nullptr;
  }

  void multiply_floats(eph::Run& run, eph::State* state, const MatMulLayout& layout) {
    void* scratch = products_.take_scratch(run, layout.shape);
    each_product<float>(run, layout, [&](const float* a, const float* b, float* y) {
      products_.multiply(run, state, layout.shape, a, b, nullptr, y, scratch);
    });
  }

  template <class T>
  static void multiply_all(const eph::Run& run, const MatMulLayout& layout) {
    each_product<T>(run, layout,
                    [&](const T* a, const T* b, T* y) { multiply_plain(layout.shape, a, b, y); });
  }

  template <class T, class Body>
  static void each_product(const eph::Run& run, const MatMulLayout& layout, const Body& body) {
    const T* a = run.input_data<T>(0);
    const T* b = run.input_data<T>(1);
    T* y = data<T>(*run.output(0));
    const int64_t count = element_count(layout.loop);
    Odometer<2> at(layout.loop, layout.strides);
    for (int64_t i = 0; i < count; ++i, at.next()) {
      body(a + at.offset(0), b + at.offset(1), y + i * layout.shape.m * layout.shape.n);
    }
  }

  Products products_;
};

constexpr KernelEntry kMatmulKernels[] = {
    {"MatMul", 1, kNewest, kTwoAlike, kInputTypes<kWideNumbers, kWideNumbers>, &make<MatMul>},
};

}  // namespace

Table matmul_kernels() { return kMatmulKernels; }

}  // namespace ephost_cpu
