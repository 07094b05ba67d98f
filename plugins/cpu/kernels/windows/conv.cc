// Conv: through oneDNN for float with up to three spatial dimensions, by plain loops otherwise.
#include <algorithm>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/windows/convolution.h"

namespace ephost_cpu {
namespace {

// Adds one channel of the input, weighted by its window, to one channel of the output.
template <class T>
void add_channel(const ConvolutionShape& shape, const T* x, const T* weights, T* y) {
  const Window& window = shape.window;
  const std::size_t last = window.kernel.size() - 1;
  Dims input;
  for (std::size_t d = 2; d < shape.x.size(); ++d) input.push_back(shape.x[d]);
  const Dims input_strides = dense_strides(input);
  Dims rows = window.output;
  rows.pop_back();
  const int64_t row_count = element_count(rows);
  const int64_t out_row = window.output[last];
  const int64_t stride = window.strides[last];

  Odometer<1> tap(window.kernel, {Dims(window.kernel.size(), 0)});
  for (int64_t t = 0; t < element_count(window.kernel); ++t, tap.next()) {
    const int64_t shift = tap.index(last) * window.dilations[last] - window.pads_begin[last];
    // The outputs i whose input i * stride + shift lies in the row.
    const int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t end =
        shift >= input[last] ? 0 : std::min(out_row, (input[last] - 1 - shift) / stride + 1);
    Odometer<1> at(rows, {Dims(rows.size(), 0)});
    for (int64_t r = 0; r < row_count; ++r, at.next()) {
      int64_t offset = shift;
      bool inside = true;
      for (std::size_t d = 0; inside && d < last; ++d) {
        const int64_t index = at.index(d) * window.strides[d] - window.pads_begin[d] +
                              tap.index(d) * window.dilations[d];
        inside = index >= 0 && index < input[d];
        offset += index * input_strides[d];
      }
      if (!inside) continue;
      T* out = y + r * out_row;
      for (int64_t i = begin; i < end; ++i) out[i] += weights[t] * x[offset + i * stride];
    }
  }
}

template <class T>
void convolve_plainly(const ConvolutionShape& shape, const T* x, const T* weights, const T* bias,
                      T* y) {
  const int64_t channels = shape.weights[1];  // in one group
  const int64_t outputs = shape.weights[0];
  const int64_t in_plane = element_count(shape.x, 2, shape.x.size());
  const int64_t out_plane = element_count(shape.window.output);
  const int64_t taps = element_count(shape.window.kernel);
  const double cost = static_cast<double>(channels * taps) * static_cast<double>(out_plane);
  parallel_for(shape.x[0] * outputs, cost, [=, &shape](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t output = p % outputs;
      const int64_t group = output / (outputs / shape.groups);
      T* out = y + p * out_plane;
      std::fill_n(out, out_plane, bias != nullptr ? bias[output] : T{0});
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t plane = p / outputs * shape.x[1] + group * channels + c;
        add_channel(shape, x + plane * in_plane, weights + (output * channels + c) * taps, out);
      }
    }
  });
}

class Conv final : public Kernel {
 public:
  explicit Conv(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        groups_(context.node().get_int("group", 1)),
        convolutions_(context.settings().onednn, usable_constant(context)) {
    if (groups_ < 1) fail("attribute group=" + std::to_string(groups_) + " is not positive");
    const std::optional<Dims> x = context.input_shape(0);
    const std::optional<Dims> weights = context.input_shape(1);
    const int32_t type = context.input_type(0);
    if (!x || !weights || type == EPH_ELEMENT_UNDEFINED || type == EPH_ELEMENT_DOUBLE) return;
    const ConvolutionShape shape =
        make_convolution_shape(attributes_, groups_, *x, *weights, context.has_input(2));
    if (is_empty(shape) || !fits_onednn(shape)) return;
    workspace_bytes_ = convolutions_.prepare(shape);
    set_workspace(workspace_bytes_);
  }

  std::unique_ptr<eph::State> create_state() override { return convolutions_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const eph_value& weights = *run.input(1);
    const eph_value* bias = run.input(2);
    const ConvolutionShape shape =
        make_convolution_shape(attributes_, groups_, dims_of(x), dims_of(weights), bias != nullptr);
    if (bias != nullptr && element_count(eph::shape_of(*bias)) != shape.weights[0]) {
      fail("bias of shape " + to_string(eph::shape_of(*bias)) +
           " does not have an element for each of " + std::to_string(shape.weights[0]) +
           " output channels");
    }
    Dims out = {shape.x[0], shape.weights[0]};
    for (const int64_t extent : shape.window.output) out.push_back(extent);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, out));
      if (element_count(out) == 0) return;
      convolve(run, state, shape, run.input_data<T>(0), run.input_data<T>(1),
               optional_data<T>(run, 2), y);
    });
  }

 private:
  template <class T>
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape, const T* x,
                const T* weights, const T* bias, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      if (!is_empty(shape) && fits_onednn(shape) && convolutions_.adds_evenly(shape)) {
        return convolutions_.convolve(run, state, shape, x, weights, bias, y, workspace_bytes_);
      }
    }
    convolve_plainly(shape, x, weights, bias, y);
  }

  static const void* usable_constant(const NodeContext& context) {
    const eph_value* weights = context.constant(1);
    return weights != nullptr && weights->element_type == EPH_ELEMENT_FLOAT ? weights->data
                                                                            : nullptr;
  }

  static bool is_empty(const ConvolutionShape& shape) {
    return element_count(shape.x) == 0 || element_count(shape.weights) == 0;
  }

  static bool fits_onednn(const ConvolutionShape& shape) {
    return shape.x.size() >= 3 && shape.x.size() <= 5;
  }

  WindowAttributes attributes_;
  int64_t groups_;
  Convolutions convolutions_;
  uint64_t workspace_bytes_ = 0;
};

constexpr KernelEntry kConvKernels[] = {
    {"Conv", 1, kNewest, kTwoOrThreeAlike, kThreeFloats, &make<Conv>},
};

}  // namespace

Table conv_kernels() { return kConvKernels; }

}  // namespace ephost_cpu
