// Gemm: Y = alpha * A' * B' + beta * C.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

// Integers wrap around; where a factor is not 1 they go through double.
template <class T>
CPU_INLINE T scaled(float factor, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(factor) * x;
  } else {
    if (factor == 1) return x;
    const double product = static_cast<double>(factor) * static_cast<double>(x);
    T result = 0;
    convert(&product, EPH_ELEMENT_DOUBLE, &result, eph::element_type_of<T>(), 1);
    return result;
  }
}

// alpha * product + beta * c.
struct Combine {
  static constexpr double kCost = 0.5;
  float alpha, beta;
  template <class T>
  CPU_INLINE T operator()(T product, T c) const {
    const T left = scaled(alpha, product);
    const T right = scaled(beta, c);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
    } else {
      return left + right;
    }
  }
};

// beta * c, whatever the first operand is.
struct Scale {
  static constexpr double kCost = 0.25;
  float beta;
  CPU_INLINE float operator()(float, float c) const { return beta * c; }
};

class Gemm final : public Kernel {
 public:
  explicit Gemm(const NodeContext& context)
      : Kernel(context),
        alpha_(context.node().get_float("alpha", 1)),
        beta_(context.node().get_float("beta", 1)),
        transpose_a_(context.node().get_int("transA", 0) != 0),
        transpose_b_(context.node().get_int("transB", 0) != 0),
        products_(context.settings().onednn, usable_constant(context)) {
    const std::optional<Dims> a = context.input_shape(0);
    const std::optional<Dims> b = context.input_shape(1);
    if (!a || !b || context.input_type(0) != EPH_ELEMENT_FLOAT) return;
    if (context.has_input(2) && !context.input_shape(2)) return;
    const ProductShape shape =
        make_shape(*a, *b, context.has_input(2) ? context.input_shape(2) : std::nullopt);
    if (shape.m > 0 && shape.k > 0 && shape.n > 0) products_.prepare(shape);
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& a = *run.input(0);
    const eph_value* c = run.input(2);
    const std::optional<Dims> c_shape = c != nullptr ? std::optional(dims_of(*c)) : std::nullopt;
    const ProductShape shape = make_shape(dims_of(a), dims_of(*run.input(1)), c_shape);
    const Dims out = {shape.m, shape.n};
    if (c_shape && !(broadcast_shape(*c_shape, out) == out)) {
      fail("C of shape " + to_string(*c_shape) + " cannot be broadcast to " + to_string(out));
    }
    const eph_value& y = allocate_output(run, 0, a.element_type, out);
    if (element_count(out) == 0) return;
    switch (a.element_type) {
      case EPH_ELEMENT_FLOAT:
        if (shape.k > 0) return multiply_floats(run, state, shape, c_shape);
        return multiply_plainly<float>(run, y, shape, c_shape);
      case EPH_ELEMENT_DOUBLE:
        return multiply_plainly<double>(run, y, shape, c_shape);
      case EPH_ELEMENT_INT32:
        return multiply_plainly<int32_t, uint32_t>(run, y, shape, c_shape);
      case EPH_ELEMENT_UINT32:
        return multiply_plainly<uint32_t>(run, y, shape, c_shape);
      case EPH_ELEMENT_INT64:
        return multiply_plainly<int64_t, uint64_t>(run, y, shape, c_shape);
      default:
        return multiply_plainly<uint64_t>(run, y, shape, c_shape);
    }
  }

 private:
  static const void* usable_constant(const NodeContext& context) {
    const eph_value* b = context.constant(1);
    return b != nullptr && b->element_type == EPH_ELEMENT_FLOAT && b->rank == 2 ? b->data : nullptr;
  }

  [[nodiscard]] ProductShape make_shape(const Dims& a, const Dims& b,
                                        const std::optional<Dims>& c) const {
    if (a.size() != 2 || b.size() != 2) {
      fail("A " + to_string(a) + " and B " + to_string(b) + " must be matrices");
    }
    ProductShape shape;
    shape.transpose_a = transpose_a_;
    shape.transpose_b = transpose_b_;
    shape.alpha = alpha_;
    shape.m = transpose_a_ ? a[1] : a[0];
    shape.k = transpose_a_ ? a[0] : a[1];
    shape.n = transpose_b_ ? b[0] : b[1];
    if ((transpose_b_ ? b[1] : b[0]) != shape.k) {
      fail("A " + to_string(a) + " and B " + to_string(b) + " differ in the inner dimension");
    }
    // A row that needs no factor is the bias of the product; any other C is written to Y first.
    const bool is_row = c && element_count(*c) == shape.n && !c->empty() && c->back() == shape.n;
    shape.has_bias = is_row && alpha_ == 1 && beta_ == 1;
    shape.accumulates = c && !shape.has_bias;
    return shape;
  }

  void multiply_floats(eph::Run& run, eph::State* state, const ProductShape& shape,
                       const std::optional<Dims>& c_shape) {
    auto* y = data<float>(*run.output(0));
    const float* c = c_shape ? run.input_data<float>(2) : nullptr;
    if (shape.accumulates) {
      broadcast_binary<float, float, float>(Scale{beta_}, c, *c_shape, c, *c_shape, y,
                                            {shape.m, shape.n});
    }
    products_.multiply(run, state, shape, run.input_data<float>(0), run.input_data<float>(1), c, y);
  }

  // The product of integers is that of unsigned ones, U.
  template <class T, class U = T>
  void multiply_plainly(const eph::Run& run, const eph_value& y, const ProductShape& shape,
                        const std::optional<Dims>& c_shape) const {
    multiply_plain(shape, run.input_data<U>(0), run.input_data<U>(1), data<U>(y));
    const Dims out = {shape.m, shape.n};
    static constexpr T kZero = 0;
    const void* c = c_shape ? run.input(2)->data : &kZero;
    broadcast_binary<T, T, T>(Combine{alpha_, beta_}, y.data, out, c, c_shape.value_or(Dims()),
                              y.data, out);
  }

  float alpha_, beta_;
  bool transpose_a_, transpose_b_;
  Products products_;
};

constexpr KernelEntry kGemmKernels[] = {
    {"Gemm", 1, 9, kThreeAlike, kInputTypes<kWideNumbers, kWideNumbers, kWideNumbers>, &make<Gemm>},
    {"Gemm", 11, kNewest, kTwoOrThreeAlike, kInputTypes<kWideNumbers, kWideNumbers, kWideNumbers>,
     &make<Gemm>},
};

}  // namespace

Table gemm_kernels() { return kGemmKernels; }

}  // namespace ephost_cpu
