// ConvInteger and QLinearConv.

#include "plugins/cpu/core/registry.h"
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

  // `sums` has `count` elements.
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                const QuantizedOperand& x, const QuantizedOperand& weights, int32_t* sums,
                int64_t count) {
    if (element_count(shape.x) == 0) {
      std::fill_n(sums, count, 0);
    } else {
      convolutions_.convolve(run, state, shape, x, weights, sums);
    }
  }

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
    convolve(run, state, shape, {&x, run.input(2)}, {&weights, run.input(3)}, data<int32_t>(y),
             count);
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
    auto* sums = static_cast<int32_t*>(
        run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(int32_t)))));
    convolve(run, state, shape, {&x, run.input(2)}, {&weights, run.input(5)}, sums, count);

    const float* weight_scales = floats_of(run, *run.input(4));
    const bool has_one_scale = element_count(eph::shape_of(*run.input(4))) == 1;
    const float factor = *floats_of(run, *run.input(1)) / *floats_of(run, *run.input(6));
    const float zero_point = *floats_of(run, zero);
    const auto* biases = bias != nullptr ? data<const int32_t>(*bias) : nullptr;
    const int64_t plane = element_count(shape.window.output);
    dispatch<int8_t, uint8_t>(zero.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      parallel_for(count / plane, static_cast<double>(plane), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const int64_t channel = p % outputs;
          const float scale = factor * weight_scales[has_one_scale ? 0 : channel];
          const uint32_t addend = biases != nullptr ? static_cast<uint32_t>(biases[channel]) : 0;
          const auto value = [=, from = sums + p * plane](int64_t i) {
            return static_cast<float>(
                       static_cast<int32_t>(static_cast<uint32_t>(from[i]) + addend)) *
                   scale;
          };
          round_values(value, zero_point, data<T>(y) + p * plane, plane);
        }
      });
    });
  }

 private:
  static void check_count(const eph::Run& run, uint32_t input, int64_t count) {
    const Dims shape = dims_of(*run.input(input));
    if (element_count(shape) != count) {
      fail("input " + std::to_string(input) + " of shape " + to_string(shape) + " does not have " +
           std::to_string(count) + " elements");
    }
  }
};

constexpr uint64_t kBytes = kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_UINT8>;
constexpr uint64_t kScale = kTypeSet<EPH_ELEMENT_FLOAT>;

constexpr KernelEntry kEntries[] = {
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
     kInputTypes<kBytes, kScale, kBytes, kBytes, kScale, kBytes, kScale, kBytes,
                 kTypeSet<EPH_ELEMENT_INT32>>,
     &make<QLinearConv>},
};

}  // namespace

Table quantized_conv_kernels() { return kEntries; }

}  // namespace ephost_cpu
