// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix: tensors made from a few numbers,
// computed in double and converted.
#include <algorithm>
#include <cmath>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

constexpr uint64_t kOutputs = kNumbers | kHalf;
constexpr int64_t kLargest = int64_t{1} << 31;  // larger extents make no sense

int32_t read_output_type(const NodeContext& context) {
  const int64_t type = context.node().get_int("output_datatype", EPH_ELEMENT_FLOAT);
  if (type < 0 || type > 63 || (kOutputs >> type & 1) == 0) {
    fail_unsupported("attribute output_datatype=" + std::to_string(type) +
                     " is not a supported element type");
  }
  return static_cast<int32_t>(type);
}

int64_t read_length(const eph_value& value, const char* name) {
  const int64_t extent = read_int(value);
  if (extent < 0 || extent > kLargest) {
    fail(std::string(name) + " " + std::to_string(extent) + " is negative or too large");
  }
  return extent;
}

double* zeros(eph::Run& run, int64_t count) {
  const int64_t bytes = checked_multiply(checked_add(count, 1), sizeof(double));
  auto* memory = static_cast<double*>(run.scratch(static_cast<uint64_t>(bytes)));
  std::fill_n(memory, count, 0.0);
  return memory;
}

// a - b cos(2 pi t) + c cos(4 pi t) for t from 0 to 1.
struct Cosines {
  double a, b, c;
};

class CosineWindow final : public Kernel {
 public:
  CosineWindow(const NodeContext& context, Cosines cosines)
      : Kernel(context),
        cosines_(cosines),
        type_(read_output_type(context)),
        periodic_(context.node().get_int("periodic", 1) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    constexpr double kTwoPi = 6.283185307179586;
    const int64_t size = read_length(*run.input(0), "size");
    const Dims shape = {size};
    const eph_value& y = allocate_output(run, 0, type_, shape);
    double* window = zeros(run, size);
    const int64_t period = std::max<int64_t>(1, periodic_ ? size : size - 1);
    for (int64_t i = 0; i < size; ++i) {
      const double angle = kTwoPi * static_cast<double>(i) / static_cast<double>(period);
      window[i] = cosines_.a - cosines_.b * std::cos(angle) + cosines_.c * std::cos(2 * angle);
    }
    convert(window, EPH_ELEMENT_DOUBLE, y.data, type_, size);
  }

 private:
  Cosines cosines_;
  int32_t type_;
  bool periodic_;
};

std::unique_ptr<Kernel> make_hann(const NodeContext& context) {
  return std::make_unique<CosineWindow>(context, Cosines{0.5, 0.5, 0});
}
std::unique_ptr<Kernel> make_hamming(const NodeContext& context) {
  return std::make_unique<CosineWindow>(context, Cosines{25.0 / 46, 21.0 / 46, 0});
}
std::unique_ptr<Kernel> make_blackman(const NodeContext& context) {
  return std::make_unique<CosineWindow>(context, Cosines{0.42, 0.5, 0.08});
}

double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// A column of the matrix is a triangle over the bins of the spectrum. The edges of the triangles
// are equally far apart on the mel scale.
class MelWeightMatrix final : public Kernel {
 public:
  explicit MelWeightMatrix(const NodeContext& context)
      : Kernel(context), type_(read_output_type(context)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const int64_t bands = read_length(*run.input(0), "num_mel_bins");
    const int64_t length = read_length(*run.input(1), "dft_length");
    const int64_t rate = read_int(*run.input(2));
    if (rate < 1) fail("sample_rate " + std::to_string(rate) + " is not positive");
    const double low = to_mel(read_hertz(*run.input(3), "lower_edge_hertz"));
    const double high = to_mel(read_hertz(*run.input(4), "upper_edge_hertz"));
    const int64_t bins = length / 2 + 1;
    const Dims shape = {bins, bands};
    const eph_value& y = allocate_output(run, 0, type_, shape);
    const int64_t count = element_count(eph::shape_of(y));
    double* weights = zeros(run, count);
    const double step = (high - low) / static_cast<double>(bands + 2);
    const auto edge = [&](int64_t i) {
      const double hertz = to_hertz(low + step * static_cast<double>(i));
      const double bin =
          std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
      return static_cast<int64_t>(std::clamp(bin, 0.0, static_cast<double>(kLargest)));
    };
    for (int64_t band = 0; band < bands; ++band) {
      set_triangle(weights + band, bands, bins, edge(band), edge(band + 1), edge(band + 2));
    }
    convert(weights, EPH_ELEMENT_DOUBLE, y.data, type_, count);
  }

 private:
  static double read_hertz(const eph_value& value, const char* name) {
    double hertz = 0;
    if (element_count(eph::shape_of(value)) != 1) {
      fail(std::string(name) + " of shape " + to_string(eph::shape_of(value)) + " is not a scalar");
    }
    convert(value.data, value.element_type, &hertz, EPH_ELEMENT_DOUBLE, 1);
    if (!(hertz >= 0) || std::isinf(hertz)) fail(std::string(name) + " is negative or not finite");
    return hertz;
  }

  // Rises from 0 at `lower` to 1 at `center` and falls to 0 at `upper`; the bins of `column` are
  // `stride` apart.
  static void set_triangle(double* column, int64_t stride, int64_t bins, int64_t lower,
                           int64_t center, int64_t upper) {
    const auto ratio = [](int64_t a, int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    for (int64_t bin = lower; bin < std::min(center, bins); ++bin) {
      column[bin * stride] = ratio(bin - lower, center - lower);
    }
    if (center < bins) column[center * stride] = 1;
    for (int64_t bin = center + 1; bin < std::min(upper, bins); ++bin) {
      column[bin * stride] = ratio(upper - bin, upper - center);
    }
  }

  int32_t type_;
};

constexpr auto& kMelTypes = kInputTypes<kIndices, kIndices, kIndices, kFloat, kFloat>;
constexpr Inputs kMelInputs = {.required = 5};

constexpr KernelEntry kSignalWindowKernels[] = {
    {"HannWindow", 17, kNewest, {}, kInputTypes<kIndices>, &make_hann},
    {"HammingWindow", 17, kNewest, {}, kInputTypes<kIndices>, &make_hamming},
    {"BlackmanWindow", 17, kNewest, {}, kInputTypes<kIndices>, &make_blackman},
    {"MelWeightMatrix", 17, kNewest, kMelInputs, kMelTypes, &make<MelWeightMatrix>},
};

}  // namespace

Table signal_window_kernels() { return kSignalWindowKernels; }

}  // namespace ephost_cpu
