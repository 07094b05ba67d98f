// DynamicQuantizeMatMul, MatMulIntegerToFloat and QGemm: products of bytes, as float or quantised.
#include <algorithm>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"
#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

namespace ephost_cpu {
namespace {

void check_count(const eph::Run& run, uint32_t input, int64_t count, const char* name) {
  const eph_value* value = run.input(input);
  if (value == nullptr || element_count(eph::shape_of(*value)) == count) return;
  fail(std::string(name) + " of shape " + to_string(eph::shape_of(*value)) + " does not have " +
       std::to_string(count) + " elements");
}

// y[j] = sums[j] * scales[j] + bias[j], where the floats take the place of the sums.
CPU_SIMD void scale_row(const float* scales, const float* bias, int32_t* sums, int64_t count) {
  if (bias == nullptr) {
    for (int64_t j = 0; j < count; ++j) {
      sums[j] = __builtin_bit_cast(int32_t, static_cast<float>(sums[j]) * scales[j]);
    }
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    sums[j] = __builtin_bit_cast(int32_t, static_cast<float>(sums[j]) * scales[j] + bias[j]);
  }
}

// sums[j] += from[j * stride], wrapping around.
CPU_SIMD void add_strided_row(const int32_t* from, int64_t stride, int32_t* sums, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    sums[j] = static_cast<int32_t>(static_cast<uint32_t>(sums[j]) +
                                   static_cast<uint32_t>(from[j * stride]));
  }
}

// The scale of A times those of B, at least one for each of n columns.
struct ProductScales {
  const float* values;
  int64_t count;
};
ProductScales multiply_scales(eph::Run& run, float a_scale, const Scales& b_scales, int64_t n) {
  const int64_t count = std::max(n, b_scales.count);
  auto* values = take_scratch<float>(run, count);
  for (int64_t j = 0; j < count; ++j) values[j] = a_scale * b_scales(j);
  return {values, count};
}

// Sums of products as floats: what the two operators share.
class FloatOfProducts : public Kernel {
 public:
  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  // Input indices: B is 1 in both.
  struct Slots {
    uint32_t b_scale, b_zero_point, bias;
  };
  FloatOfProducts(const NodeContext& context, Slots slots)
      : Kernel(context), slots_(slots), products_(context, 1, slots.b_zero_point) {}

  void multiply(eph::Run& run, eph::State* state, const QuantizedOperand& a, float a_scale) {
    const eph_value& b = *run.input(1);
    const MatMulLayout layout = make_matmul_layout(dims_of(*a.value), dims_of(b));
    const int64_t count = element_count(layout.out);
    // The sums are in the memory of the floats that they become.
    auto* sums = data<int32_t>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, layout.out));
    if (count == 0) return;
    const int64_t n = layout.shape.n;
    const int64_t rows = a.value->rank < 2 ? 1 : *(a.value->shape + a.value->rank - 2);
    check_count(run, slots_.bias, n, "the bias");
    const int64_t all = checked_multiply(count / n / rows, n);
    const ProductScales scales =
        multiply_scales(run, a_scale, read_scales(run, slots_.b_scale, n, all), n);
    const auto* bias = optional_data<float>(run, slots_.bias);
    products_.multiply(run, state, layout, a, {&b, run.input(slots_.b_zero_point)}, sums,
                       [=](int64_t r, int32_t* row) {
                         const int64_t first = scales.count > n ? r / rows * n : 0;
                         scale_row(scales.values + first, bias, row, n);
                       });
  }

 private:
  Slots slots_;
  IntegerProducts products_;
};

// Inputs: A in float, B, scale and zero point of B, bias.
class DynamicQuantizeMatMul final : public FloatOfProducts {
 public:
  explicit DynamicQuantizeMatMul(const NodeContext& context)
      : FloatOfProducts(context, {2, 3, 4}) {}

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const Dims shape = dims_of(*run.input(0));
    const int64_t count = element_count(shape);
    const auto* elements = run.input_data<float>(0);
    const DynamicParameters parameters = choose_parameters(elements, count);
    void* bytes = run.scratch(static_cast<uint64_t>(count) + 1);
    const auto zero_point = static_cast<uint8_t>(parameters.zero_point);
    quantize_bytes(EPH_ELEMENT_UINT8, elements, {parameters.scale, zero_point}, bytes, count);
    const eph_value a = make_tensor_view(bytes, shape, EPH_ELEMENT_UINT8);
    const Dims scalar = Dims();
    const eph_value zero = make_tensor_view(&zero_point, scalar, EPH_ELEMENT_UINT8);
    multiply(run, state, {&a, &zero}, parameters.scale);
  }
};

// Inputs: A, B, their scales, their zero points, bias.
class MatMulIntegerToFloat final : public FloatOfProducts {
 public:
  explicit MatMulIntegerToFloat(const NodeContext& context) : FloatOfProducts(context, {3, 5, 6}) {}

 protected:
  void run(eph::Run& run, eph::State* state) override {
    for (const uint32_t input : {2U, 4U}) {
      const eph_value* value = run.input(input);
      if (value == nullptr || element_count(eph::shape_of(*value)) == 1) continue;
      fail_unsupported("input " + std::to_string(input) + " of shape " +
                       to_string(eph::shape_of(*value)) +
                       ": A is supported with one scale and one zero point only");
    }
    multiply(run, state, {run.input(0), run.input(4)}, *run.input_data<float>(2));
  }
};

// Inputs: A, its scale and zero point, B likewise, C, scale and zero point of Y.
class QGemm final : public Kernel {
 public:
  explicit QGemm(const NodeContext& context)
      : Kernel(context),
        alpha_(context.node().get_float("alpha", 1)),
        transposes_a_(context.node().get_int("transA", 0) != 0),
        transposes_b_(context.node().get_int("transB", 0) != 0),
        products_(context, 3, 5, transposes_b_) {
    if (context.has_input(7) != context.has_input(8)) {
      fail("y_scale and y_zero_point must be given together");
    }
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const QuantizedParameters of_a = read_parameters(run, 1, 2);
    const Matrix a = matrix(run, 0, transposes_a_);
    const Dims b_shape = matrix_shape(run, 3, transposes_b_);
    const MatMulLayout layout = make_matmul_layout(a.shape, b_shape);
    const Dims& out = layout.out;
    const eph_value* c = run.input(6);
    if (c != nullptr && !(broadcast_shape(dims_of(*c), out) == out)) {
      fail("C of shape " + to_string(dims_of(*c)) + " cannot be broadcast to " + to_string(out));
    }
    const bool is_quantized = run.input(7) != nullptr;
    const int32_t type = is_quantized ? run.input(8)->element_type : int32_t{EPH_ELEMENT_FLOAT};
    const eph_value& y = allocate_output(run, 0, type, out);
    const int64_t count = element_count(out);
    if (count == 0) return;
    const eph_value a_view = make_tensor_view(a.data, a.shape, run.input(0)->element_type);
    const bool reads_b = !products_.has_constant(layout.shape);
    const eph_value b_view =
        make_tensor_view(reads_b ? matrix(run, 3, transposes_b_).data : run.input(3)->data, b_shape,
                         run.input(3)->element_type);
    const int64_t n = out[1];
    const ProductScales scales =
        multiply_scales(run, alpha_ * of_a.scale, read_scales(run, 4, n, n), n);
    const auto* addends = c != nullptr ? data<const int32_t>(*c) : nullptr;
    const Dims steps = c != nullptr ? broadcast_strides(dims_of(*c), out) : Dims{0, 0};
    const auto multiply = [&](int32_t* sums, const auto& finish) {
      const auto add = [&](int64_t r, int32_t* row) {
        if (addends != nullptr) add_strided_row(addends + r * steps[0], steps[1], row, n);
        finish(r, row);
      };
      products_.multiply(run, state, layout, {&a_view, run.input(2)}, {&b_view, run.input(5)}, sums,
                         add);
    };
    if (!is_quantized) {  // the sums are in the memory of the floats that they become
      return multiply(data<int32_t>(y),
                      [&](int64_t, int32_t* row) { scale_row(scales.values, nullptr, row, n); });
    }
    const QuantizedParameters to = read_parameters(run, 7, 8);
    auto* factors = take_scratch<float>(run, n);
    for (int64_t j = 0; j < n; ++j) factors[j] = scales.values[j] / to.scale;
    dispatch<int8_t, uint8_t>(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      multiply(take_scratch<int32_t>(run, count), [&](int64_t r, const int32_t* row) {
        requantize(row, factors, static_cast<float>(to.zero_point), data<T>(y) + r * n, n);
      });
    });
  }

 private:
  struct Matrix {
    const void* data;
    Dims shape;
  };

  static Dims matrix_shape(const eph::Run& run, uint32_t input, bool transposes) {
    Dims shape = dims_of(*run.input(input));
    if (shape.size() != 2) fail("A and B must be matrices, found the shape " + to_string(shape));
    if (transposes) std::swap(shape[0], shape[1]);
    return shape;
  }

  static Matrix matrix(eph::Run& run, uint32_t input, bool transposes) {
    const eph_value& value = *run.input(input);
    const Dims shape = matrix_shape(run, input, transposes);
    if (!transposes) return {value.data, shape};
    void* moved = run.scratch(static_cast<uint64_t>(element_count(shape)) + 1);
    transpose_planes(value.element_type, value.data, 1, shape[1], shape[0], moved);
    return {moved, shape};
  }

  float alpha_;
  bool transposes_a_, transposes_b_;
  IntegerProducts products_;
};

constexpr KernelEntry kIntegerProductKernels[] = {
    {"DynamicQuantizeMatMul",
     1,
     1,
     {.required = 3, .same_type = 0b1010},
     kInputTypes<kOnlyFloat, kBytes, kOnlyFloat, kBytes, kOnlyFloat>,
     &make<DynamicQuantizeMatMul>,
     kMicrosoft},
    {"MatMulIntegerToFloat",
     1,
     1,
     {.required = 4, .same_type = 0b10001},
     kInputTypes<kBytes, kBytes, kOnlyFloat, kOnlyFloat, kBytes, kBytes, kOnlyFloat>,
     &make<MatMulIntegerToFloat>,
     kMicrosoft},
    {"QGemm",
     1,
     1,
     {.required = 6, .same_type = 0b101},
     kInputTypes<kBytes, kOnlyFloat, kBytes, kBytes, kOnlyFloat, kBytes, kInt32, kOnlyFloat,
                 kBytes>,
     &make<QGemm>,
     kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

// The last extent of a matrix product's right-hand side.
infer::Extent columns_of(const infer::Shape& b) {
  return b && b->size() >= 2 ? b->back() : infer::Extent{};
}

void infer_dynamic(eph::Inference& node) {
  const infer::Shape b = infer::shape_of(node, 1);
  if (node.has_input(4)) infer::check_vector(infer::shape_of(node, 4), columns_of(b), "bias");
  infer::set(node, 0, EPH_ELEMENT_FLOAT, infer::matmul(infer::shape_of(node, 0), b));
}

void infer_integer(eph::Inference& node) {
  const infer::Shape b = infer::shape_of(node, 1);
  if (node.has_input(6)) infer::check_vector(infer::shape_of(node, 6), columns_of(b), "bias");
  infer::set(node, 0, infer::type_of(node, 2), infer::matmul(infer::shape_of(node, 0), b));
}

infer::Shape matrix_of(const eph::Inference& node, uint32_t input, const char* name,
                       const char* transposes) {
  infer::Shape shape = infer::shape_of(node, input);
  infer::check_rank(shape, {2}, name);
  if (shape && node.node().get_int(transposes, 0) != 0) std::swap((*shape)[0], (*shape)[1]);
  return shape;
}

void infer_qgemm(eph::Inference& node) {
  check_parameters(node, 1, 2);
  check_parameters(node, 7, 8);
  if (node.has_input(7) != node.has_input(8)) {
    infer::fail("y_scale and y_zero_point must be given together");
  }
  const infer::Shape y =
      infer::matmul(matrix_of(node, 0, "A", "transA"), matrix_of(node, 3, "B", "transB"));
  const int32_t type = node.has_input(8) ? infer::type_of(node, 8) : int32_t{EPH_ELEMENT_FLOAT};
  infer::set(node, 0, type, y);
}

// A scale for each row or column of A cannot be told from the types.
std::string refuse_scales_of_a(const NodeContext& context) {
  for (const std::size_t input : {2U, 4U}) {
    const std::optional<Dims> shape = context.input_shape(input);
    if (shape && element_count(*shape) != 1) {
      return "A is supported with one scale and one zero point only, found " + to_string(*shape);
    }
  }
  return {};
}

constexpr uint64_t kFloatOrHalf = kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_FLOAT16>;

}  // namespace

Table integer_product_kernels() { return kIntegerProductKernels; }

Refusals integer_product_refusals() {
  static constexpr Refusal kRefusals[] = {{"MatMulIntegerToFloat", &refuse_scales_of_a}};
  return kRefusals;
}

Definitions define_integer_products() {
  return {
      eph::Operator(kMicrosoft, "DynamicQuantizeMatMul", 1)
          .description("A * B with B quantised; A is quantised to uint8 over its range.")
          .input("A", "T1", kOnlyFloat)
          .input("B", "T2", kBytes)
          .input("b_scale", "T1", kOnlyFloat)
          .input("b_zero_point", "T2", kBytes, eph::kOptional)
          .input("bias", "T1", kOnlyFloat, eph::kOptional)
          .output("Y", "T1", kOnlyFloat)
          .infer(&infer_dynamic),
      eph::Operator(kMicrosoft, "MatMulIntegerToFloat", 1)
          .description("A * B with A and B quantised.")
          .input("A", "T1", kBytes)
          .input("B", "T2", kBytes)
          .input("a_scale", "T3", kFloatOrHalf)
          .input("b_scale", "T3", kFloatOrHalf)
          .input("a_zero_point", "T1", kBytes, eph::kOptional)
          .input("b_zero_point", "T2", kBytes, eph::kOptional)
          .input("bias", "T3", kFloatOrHalf, eph::kOptional)
          .output("Y", "T3", kFloatOrHalf)
          .infer(&infer_integer),
      eph::Operator(kMicrosoft, "QGemm", 1)
          .description("alpha * (A' * B' + C) with A, B and C quantised; Y is quantised if its "
                       "scale and zero point are given, else of float.")
          .input("A", "TA", kBytes)
          .input("a_scale", "T", kOnlyFloat)
          .input("a_zero_point", "TA", kBytes)
          .input("B", "TB", kBytes)
          .input("b_scale", "T", kOnlyFloat)
          .input("b_zero_point", "TB", kBytes)
          .input("C", "TC", kInt32, eph::kOptional, "its scale is that of the products")
          .input("y_scale", "T", kOnlyFloat, eph::kOptional)
          .input("y_zero_point", "TYZ", kBytes, eph::kOptional)
          .output("Y", "TY", kOnlyFloat | kBytes)
          .attribute("alpha", 1.0F)
          .attribute("transA", 0)
          .attribute("transB", 0)
          .infer(&infer_qgemm),
  };
}

}  // namespace ephost_cpu
