// MatMulInteger and QLinearMatMul.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

class MatMulInteger final : public Kernel {
 public:
  explicit MatMulInteger(const NodeContext& context) : Kernel(context), products_(context, 1, 3) {}

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(1);
    const MatMulLayout layout = make_matmul_layout(dims_of(a), dims_of(b));
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_INT32, layout.out);
    if (element_count(layout.out) == 0) return;
    products_.multiply(run, state, layout, {&a, run.input(2)}, {&b, run.input(3)}, data<int32_t>(y),
                       [](int64_t, const int32_t*) {});
  }

 private:
  IntegerProducts products_;
};

class QLinearMatMul final : public Kernel {
 public:
  explicit QLinearMatMul(const NodeContext& context) : Kernel(context), products_(context, 3, 5) {}

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(3);
    const eph_value& zero = *run.input(7);
    const MatMulLayout layout = make_matmul_layout(dims_of(a), dims_of(b));
    const eph_value& y = allocate_output(run, 0, zero.element_type, layout.out);
    const int64_t count = element_count(layout.out);
    if (count == 0) return;
    auto* sums = take_scratch<int32_t>(run, count);
    const int64_t n = layout.shape.n;
    const int64_t rows = a.rank < 2 ? 1 : *(a.shape + a.rank - 2);
    const Scales a_scales = read_scales(run, 1, rows, count / n);
    const Scales b_scales = read_scales(run, 4, n, checked_multiply(count / n / rows, n));
    const float y_scale = read_scales(run, 6, 1, 1)(0);
    if (element_count(eph::shape_of(zero)) != 1) fail("y_zero_point is not a single number");
    const float zero_point = *floats_of(run, zero);
    // In ONNX Runtime's order, as another may round a product to the next float.
    const int64_t factor_count = std::max(n, b_scales.count);
    auto* factors = take_scratch<float>(run, factor_count);
    for (int64_t j = 0; j < factor_count; ++j) factors[j] = a_scales(0) * b_scales(j) / y_scale;
    dispatch<int8_t, uint8_t>(zero.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto store = [&](int64_t r, const int32_t* row) {
        T* to = data<T>(y) + r * n;
        if (a_scales.count == 1) {
          const int64_t first = b_scales.count > n ? r / rows * n : 0;
          return requantize(row, factors + first, zero_point, to, n);
        }
        const auto value = [&](int64_t j) {
          const float factor = a_scales(r) * b_scales(r / rows * n + j) / y_scale;
          return static_cast<float>(row[j]) * factor;
        };
        round_values(value, zero_point, to, n);
      };
      products_.multiply(run, state, layout, {&a, run.input(2)}, {&b, run.input(5)}, sums, store);
    });
  }

 private:
  IntegerProducts products_;
};

// The zero point of A has A's type; that of B is checked with the operands.
constexpr KernelEntry kQuantizedMatmulKernels[] = {
    {"MatMulInteger",
     10,
     kNewest,
     {.required = 2, .same_type = 0b101},
     kInputTypes<kBytes, kBytes, kBytes, kBytes>,
     &make<MatMulInteger>},
    {"QLinearMatMul",
     10,
     kNewest,
     {.required = 8, .same_type = 0b101},
     kInputTypes<kBytes, kOnlyFloat, kBytes, kBytes, kOnlyFloat, kBytes, kOnlyFloat, kBytes>,
     &make<QLinearMatMul>},
};

}  // namespace

Table quantized_matmul_kernels() { return kQuantizedMatmulKernels; }

}  // namespace ephost_cpu
