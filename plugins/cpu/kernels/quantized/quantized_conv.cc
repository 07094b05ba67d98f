// ConvInteger and QLinearConv.
#include <algorithm>
#include <optional>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

class IntegerConvKernel : public Kernel {
 public:
  // Weights are input `weights`, their zero points input `zero_points`.
  IntegerConvKernel(const NodeContext& context, std::size_t weights, std::size_t zero_points)
      : Kernel(context),
        attributes_(context.node()),
        groups_(context.node().get_int("group", 1)),
        convolutions_(context, weights, zero_points) {
    if (groups_ < 1) fail("attribute group=" + std::to_string(groups_) + " is not positive");
    const std::optional<Dims> x = context.input_shape(0);
    const std::optional<Dims> w = context.input_shape(weights);
    if (!x || !w) return;
    const ConvolutionShape shape = make_shape(*x, *w);
    if (element_count(*x) != 0 && element_count(*w) != 0) convolutions_.prepare(shape);
  }

  std::unique_ptr<eph::State> create_state() override { return convolutions_.create_state(); }

 protected:
  [[nodiscard]] ConvolutionShape make_shape(const Dims& x, const Dims& weights) const {
    if (x.size() < 3 || x.size() > 5 || weights.size() != x.size()) {
      fail("X " + to_string(x) + " and W " + to_string(weights) +
           " need the same rank, with one to three spatial dimensions");
    }
    return make_convolution_shape(attributes_, groups_, x, weights, false);
  }

  static Dims output_shape(const ConvolutionShape& shape) {
    Dims out = {shape.x[0], shape.weights[0]};
    for (const int64_t extent : shape.window.output) out.push_back(extent);
    return out;
  }

  IntegerConvolutions& convolutions() { return convolutions_; }

 private:
  WindowAttributes attributes_;
  int64_t groups_;
  IntegerConvolutions convolutions_;
};

class ConvInteger final : public IntegerConvKernel {
 public:
  explicit ConvInteger(const NodeContext& context) : IntegerConvKernel(context, 1, 3) {}

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const eph_value& weights = *run.input(1);
    const ConvolutionShape shape = make_shape(dims_of(x), dims_of(weights));
    const Dims out = output_shape(shape);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_INT32, out);
    const int64_t count = element_count(out);
    if (count == 0) return;
    if (element_count(shape.x) == 0) {
      std::fill_n(data<int32_t>(y), count, 0);
    } else {
      convolutions().convolve(run, state, shape, {&x, run.input(2)}, {&weights, run.input(3)},
                              data<int32_t>(y));
    }
  }
};

class QLinearConv final : public IntegerConvKernel {
 public:
  explicit QLinearConv(const NodeContext& context) : IntegerConvKernel(context, 3, 5) {}

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const eph_value& weights = *run.input(3);
    const eph_value* bias = run.input(8);
    const eph_value& zero = *run.input(7);
    const ConvolutionShape shape = make_shape(dims_of(x), dims_of(weights));
    const int64_t outputs = shape.weights[0];
    for (const uint32_t single : {1U, 2U, 6U, 7U}) check_count(run, single, 1);
    if (element_count(eph::shape_of(*run.input(4))) != 1) check_count(run, 4, outputs);
    if (bias != nullptr) check_count(run, 8, outputs);
    const Dims out = output_shape(shape);
    const eph_value& y = allocate_output(run, 0, zero.element_type, out);
    const int64_t count = element_count(out);
    if (count == 0) return;
    // In ONNX Runtime's order, as another may round a product to the next float.
    const bool has_one_scale = element_count(eph::shape_of(*run.input(4))) == 1;
    const float* weight_scales = run.input_data<float>(4);
    auto* factors = take_scratch<float>(run, outputs);
    for (int64_t m = 0; m < outputs; ++m) {
      factors[m] = *run.input_data<float>(1) * weight_scales[has_one_scale ? 0 : m] /
                   *run.input_data<float>(6);
    }
    const Requantization requantization = {
        factors, bias != nullptr ? data<const int32_t>(*bias) : nullptr, *floats_of(run, zero)};
    if (element_count(shape.x) == 0) {
      store_biases(requantization, shape, zero.element_type, y);
    } else {
      convolutions().convolve(run, state, shape, {&x, run.input(2)}, {&weights, run.input(5)},
                              requantization, zero.element_type, y.data);
    }
  }

 private:
  // The output for an input without elements: all sums are zero.
  static void store_biases(const Requantization& requantization, const ConvolutionShape& shape,
                           int32_t element_type, const eph_value& y) {
    const int64_t outputs = shape.weights[0];
    const int64_t plane = element_count(shape.window.output);
    dispatch<int8_t, uint8_t>(element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t p = 0; p < shape.x[0] * outputs; ++p) {
        const int64_t m = p % outputs;
        const int32_t bias = requantization.bias != nullptr ? requantization.bias[m] : 0;
        const float value = static_cast<float>(bias) * requantization.factors[m];
        round_values([=](int64_t) { return value; }, requantization.zero_point,
                     data<T>(y) + p * plane, plane);
      }
    });
  }

  static void check_count(const eph::Run& run, uint32_t input, int64_t count) {
    const Dims shape = dims_of(*run.input(input));
    if (element_count(shape) != count) {
      fail("input " + std::to_string(input) + " of shape " + to_string(shape) + " does not have " +
           std::to_string(count) + " elements");
    }
  }
};

constexpr KernelEntry kQuantizedConvKernels[] = {
    {"ConvInteger",
     10,
     kNewest,
     {.required = 2, .same_type = 0b101},
     kInputTypes<kBytes, kBytes, kBytes, kBytes>,
     &make<ConvInteger>},
    {"QLinearConv",
     10,
     kNewest,
     {.required = 8, .same_type = 0b101},
     kInputTypes<kBytes, kOnlyFloat, kBytes, kBytes, kOnlyFloat, kBytes, kOnlyFloat, kBytes,
                 kInt32>,
     &make<QLinearConv>},
};

}  // namespace

Table quantized_conv_kernels() { return kQuantizedConvKernels; }

}  // namespace ephost_cpu
