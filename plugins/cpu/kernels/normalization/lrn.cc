// LRN: local response normalisation across channels.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kLrnColumns = 256;

// For `columns` neighbouring positions of one channel: the sum of squares over the channels
// [first, last), which lie `plane` apart, starting from channel 0 at x.
template <class T>
CPU_INLINE void add_squares(const T* x, int64_t plane, int64_t first, int64_t last, T* sums,
                            int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) sums[j] = 0;
  for (int64_t c = first; c < last; ++c) {
    for (int64_t j = 0; j < columns; ++j) sums[j] += x[c * plane + j] * x[c * plane + j];
  }
}
CPU_SIMD void add_squares_simd(const float* x, int64_t plane, int64_t first, int64_t last,
                               float* sums, int64_t columns) {
  add_squares(x, plane, first, last, sums, columns);
}

// y = x / base^beta with base = bias + scale * sum; three quarters, the usual power, without pow.
template <class T>
CPU_INLINE void divide_by_power(const T* x, const T* sums, T scale, T bias, T beta, T* y,
                                int64_t columns) {
  if (beta == T{0.75}) {
    for (int64_t j = 0; j < columns; ++j) {
      const T root = std::sqrt(bias + scale * sums[j]);
      y[j] = x[j] / (root * std::sqrt(root));
    }
  } else {
    for (int64_t j = 0; j < columns; ++j) y[j] = x[j] * std::pow(bias + scale * sums[j], -beta);
  }
}
CPU_SIMD void divide_by_power_simd(const float* x, const float* sums, float scale, float bias,
                                   float beta, float* y, int64_t columns) {
  divide_by_power(x, sums, scale, bias, beta, y, columns);
}

class Lrn final : public Kernel {
 public:
  explicit Lrn(const NodeContext& context)
      : Kernel(context),
        alpha_(context.node().get_float("alpha", 1e-4F)),
        beta_(context.node().get_float("beta", 0.75F)),
        bias_(context.node().get_float("bias", 1.0F)),
        size_(context.node().get_int("size", 0)) {
    if (size_ < 1 || size_ > (int64_t{1} << 31)) {
      fail("attribute size=" + std::to_string(size_) + " is not positive, or too large");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape));
      if (element_count(shape) == 0) return;
      normalize(run.input_data<T>(0), y, shape);
    });
  }

 private:
  template <class T>
  void normalize(const T* x, T* y, const Dims& shape) const {
    const int64_t channels = shape[1];
    const int64_t plane = element_count(shape, 2, shape.size());
    const int64_t tiles = (plane + kLrnColumns - 1) / kLrnColumns;
    const double cost = kLrnColumns * 0.1 * static_cast<double>(std::min(size_, channels) + 20);
    parallel_for(shape[0] * channels * tiles, cost, [=, this](int64_t begin, int64_t end) {
      T sums[kLrnColumns];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % tiles * kLrnColumns;
        const int64_t channel = i / tiles % channels;
        const int64_t image = i / tiles / channels * channels * plane + column;
        const int64_t first = std::max<int64_t>(0, channel - (size_ - 1) / 2);
        const int64_t last = std::min(channels, channel + size_ / 2 + 1);
        const int64_t columns = std::min(kLrnColumns, plane - column);
        const int64_t at = image + channel * plane;
        const T scale = static_cast<T>(alpha_) / static_cast<T>(size_);
        if constexpr (std::is_same_v<T, float>) {
          add_squares_simd(x + image, plane, first, last, sums, columns);
          divide_by_power_simd(x + at, sums, scale, bias_, beta_, y + at, columns);
        } else {
          add_squares(x + image, plane, first, last, sums, columns);
          divide_by_power(x + at, sums, scale, T{bias_}, T{beta_}, y + at, columns);
        }
      }
    });
  }

  float alpha_, beta_, bias_;
  int64_t size_;
};

constexpr KernelEntry kLrnKernels[] = {
    {"LRN", 1, kNewest, {}, kInputTypes<kFloat>, &make<Lrn>},
};

}  // namespace

Table lrn_kernels() { return kLrnKernels; }

}  // namespace ephost_cpu
