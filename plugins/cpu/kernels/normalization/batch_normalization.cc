// BatchNormalization. Up to version 13 the number of outputs tells (before version 7 an attribute)
// whether a node trains, afterwards the attribute training_mode. Training normalises by the
// statistics of the batch and moves the running ones towards them.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/normalization/moments.h"

namespace ephost_cpu {
namespace {

// The input as `images` times `channels` planes, each channel with statistics of its own.
struct Layout {
  Dims shape;
  int64_t images, channels, plane;
};

template <class T>
struct Parameters {
  const T *x, *scale, *bias, *mean, *variance;
};

class BatchNormalization final : public Kernel {
 public:
  explicit BatchNormalization(const NodeContext& context)
      : Kernel(context),
        epsilon_(context.node().get_float("epsilon", 1e-5F)),
        momentum_(context.node().get_float("momentum", 0.9F)),
        spatial_(context.node().get_int("spatial", 1) != 0),
        trains_(trains(context)) {
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Layout layout = make_layout(dims_of(x));
    static constexpr const char* kNames[] = {"X", "scale", "B", "mean", "var"};
    for (uint32_t i = 1; i < 5; ++i) check_vector(*run.input(i), layout.channels, kNames[i]);
    dispatch_compute_type(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      const Parameters<T> from = {arguments.input<T>(0), arguments.input<T>(1),
                                  arguments.input<T>(2), arguments.input<T>(3),
                                  arguments.input<T>(4)};
      if (trains_) {
        train(run, arguments, layout, from);
      } else {
        T* y = arguments.output<T>(0, x.element_type, layout.shape);
        if (y != nullptr) normalize(layout, from, y);
      }
      arguments.finish();
    });
  }

 private:
  static bool trains(const NodeContext& context) {
    if (context.version() >= 14) return context.node().get_int("training_mode", 0) != 0;
    if (context.version() < 7) return context.node().get_int("is_test", 0) == 0;
    bool trains = false;
    for (std::size_t i = 1; i < context.output_count(); ++i) {
      trains = trains || context.node().output(i) != EPH_NONE;
    }
    return trains;
  }

  [[nodiscard]] Layout make_layout(const Dims& shape) const {
    // Without `spatial`, each position has statistics of its own: all of them are channels.
    const std::size_t end = spatial_ ? std::min<std::size_t>(2, shape.size()) : shape.size();
    if (shape.empty()) fail("the input is a scalar");
    return {shape, shape[0], shape.size() < 2 ? 1 : element_count(shape, 1, end),
            element_count(shape, end, shape.size())};
  }

  template <class T>
  void normalize(const Layout& layout, const Parameters<T>& from, T* y) const {
    if (element_count(layout.shape) == 0) return;
    const int64_t plane = layout.plane;
    const T epsilon = static_cast<T>(epsilon_);
    const double cost = 2 + 0.2 * static_cast<double>(plane);
    parallel_for(layout.images * layout.channels, cost, [=, &layout](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t c = p % layout.channels;
        const T factor = from.scale[c] / std::sqrt(from.variance[c] + epsilon);
        row_affine(from.x + p * plane, factor, from.bias[c] - from.mean[c] * factor, y + p * plane,
                   plane);
      }
    });
  }

  // Outputs: Y, the running mean and variance and, before version 14, those of the batch.
  template <class T>
  void train(eph::Run& run, FloatArguments& arguments, const Layout& layout,
             const Parameters<T>& from) const {
    const int64_t count = layout.images * layout.plane;
    if (count == 0 || layout.channels == 0) fail("there is nothing to train with");
    T* y = arguments.optional_output<T>(0, run.input(0)->element_type, layout.shape);
    std::array<T*, 5> statistics = {};
    for (uint32_t i = 1; i < 5; ++i) {
      const int32_t type = run.input(i % 2 == 1 ? 3 : 4)->element_type;
      statistics[i] = arguments.optional_output<T>(i, type, {layout.channels});
    }
    const T momentum = static_cast<T>(momentum_);
    const auto store = [&statistics](uint32_t i, int64_t c, T value) {
      if (statistics[i] != nullptr) statistics[i][c] = value;
    };
    const double cost = static_cast<double>(count);
    parallel_for(layout.channels, cost, [=, &layout, this](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const T mean = static_cast<T>(sum(layout, from.x, c) / static_cast<double>(count));
        const T variance =
            static_cast<T>(sum_squares(layout, from.x, c, mean) / static_cast<double>(count));
        store(1, c, from.mean[c] * momentum + mean * (1 - momentum));
        store(2, c, from.variance[c] * momentum + variance * (1 - momentum));
        store(3, c, mean);
        store(4, c, variance);
        if (y == nullptr) continue;
        const T factor = from.scale[c] / std::sqrt(variance + static_cast<T>(epsilon_));
        const T shift = from.bias[c] - mean * factor;
        for (int64_t n = 0; n < layout.images; ++n) {
          const int64_t at = (n * layout.channels + c) * layout.plane;
          row_affine(from.x + at, factor, shift, y + at, layout.plane);
        }
      }
    });
  }

  template <class T>
  static double sum(const Layout& layout, const T* x, int64_t c) {
    double total = 0;
    for (int64_t n = 0; n < layout.images; ++n) {
      total += row_sum(x + (n * layout.channels + c) * layout.plane, layout.plane);
    }
    return total;
  }

  template <class T>
  static double sum_squares(const Layout& layout, const T* x, int64_t c, T mean) {
    double total = 0;
    for (int64_t n = 0; n < layout.images; ++n) {
      total += row_sum_squares(x + (n * layout.channels + c) * layout.plane, mean, layout.plane);
    }
    return total;
  }

  float epsilon_, momentum_;
  bool spatial_;
  bool trains_;
};

constexpr auto& kFiveFloats = kInputTypes<kFloat, kFloat, kFloat, kFloat, kFloat>;
constexpr Inputs kOneType = {.required = 5, .same_type = 0b11111};
constexpr Inputs kTwoTypes = {.required = 5, .same_type = 0b00111};
constexpr Inputs kAnyTypes = {.required = 5};

constexpr KernelEntry kBatchNormalizationKernels[] = {
    {"BatchNormalization", 1, 13, kOneType, kFiveFloats, &make<BatchNormalization>},
    {"BatchNormalization", 14, 14, kTwoTypes, kFiveFloats, &make<BatchNormalization>},
    {"BatchNormalization", 15, kNewest, kAnyTypes, kFiveFloats, &make<BatchNormalization>},
};

}  // namespace

Table batch_normalization_kernels() { return kBatchNormalizationKernels; }

}  // namespace ephost_cpu
