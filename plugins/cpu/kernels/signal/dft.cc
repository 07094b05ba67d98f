// DFT and STFT, computed in double.
#include <algorithm>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/signal/fft.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kLongest = int64_t{1} << 27;

// The elements of one transform in a tensor: `stride` apart, with one part (real) or two (real and
// imaginary).
template <class T>
struct Line {
  T* first;
  int64_t stride;
  int64_t parts;

  [[nodiscard]] Complex load(int64_t i) const {
    const T* at = first + i * stride;
    return {static_cast<double>(at[0]), parts == 2 ? static_cast<double>(at[1]) : 0.0};
  }
  void store(int64_t i, Complex value) const {
    T* at = first + i * stride;
    at[0] = static_cast<T>(value.real());
    if (parts == 2) at[1] = static_cast<T>(value.imag());
  }
};

// For each of `lines`: fill(line, numbers), the transform, take(line, numbers). The lines are
// distributed over a few groups, each with memory of its own.
template <class Fill, class Take>
void transform_lines(eph::Run& run, const Fft& fft, int64_t lines, bool inverse, const Fill& fill,
                     const Take& take) {
  constexpr int64_t kMaxGroups = 16;
  constexpr int64_t kWorthSharing = int64_t{1} << 22;  // numbers in the memory of all groups
  const int64_t own = fft.length() + fft.work_size();
  const int64_t groups = std::min(lines, std::clamp<int64_t>(kWorthSharing / own, 1, kMaxGroups));
  const int64_t bytes = checked_multiply(groups * own, sizeof(Complex));
  auto* memory = static_cast<Complex*>(run.scratch(static_cast<uint64_t>(bytes)));
  const double cost =
      20.0 * static_cast<double>(own) * static_cast<double>(lines) / static_cast<double>(groups);
  parallel_for(groups, cost, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      Complex* numbers = memory + group * own;
      for (int64_t line = group; line < lines; line += groups) {
        fill(line, numbers);
        fft.transform(numbers, numbers + fft.length(), inverse);
        take(line, numbers);
      }
    }
  });
}

// The last dimension holds the parts of a number: one if it is real, two if it is complex.
int64_t parts_of(const Dims& shape) {
  if (shape.size() < 2 || (shape.back() != 1 && shape.back() != 2)) {
    fail("input " + to_string(shape) + " does not end with a dimension of 1 or 2");
  }
  return shape.back();
}

void check_length(int64_t length, const char* what) {
  if (length < 1 || length > kLongest) {
    fail(std::string(what) + " " + std::to_string(length) + " is outside of [1, " +
         std::to_string(kLongest) + "]");
  }
}

// The axis is an attribute before version 20 and an input from then on.
class Dft final : public Kernel {
 public:
  explicit Dft(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", 1)),
        axis_is_input_(context.version() >= 20),
        inverse_(context.node().get_int("inverse", 0) != 0),
        onesided_(context.node().get_int("onesided", 0) != 0) {}

  std::unique_ptr<eph::State> create_state() override { return std::make_unique<FftState>(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const int64_t parts = parts_of(shape);
    int64_t stated_axis = axis_;
    if (axis_is_input_) stated_axis = run.input(2) != nullptr ? read_int(*run.input(2)) : -2;
    const std::size_t axis = normalize_axis(stated_axis, shape.size());
    if (axis + 1 == shape.size()) fail("the last dimension is not an axis to transform along");
    if (onesided_ && parts != (inverse_ ? 2 : 1)) {
      fail(inverse_ ? "a one-sided inverse transform takes complex numbers"
                    : "a one-sided transform takes real numbers");
    }
    // The output of a one-sided inverse transform is real, and longer than its input.
    const bool unfolds = onesided_ && inverse_;
    const int64_t extent = shape[axis];
    int64_t length = unfolds ? 2 * (extent - 1) : extent;
    if (run.input(1) != nullptr) length = read_int(*run.input(1));
    check_length(length, "dft_length");
    Dims out = shape;
    out[axis] = onesided_ && !inverse_ ? length / 2 + 1 : length;
    out[out.size() - 1] = unfolds ? 1 : 2;
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;

    const Fft& fft = static_cast<FftState*>(state)->get(length);
    const int64_t inner = element_count(shape, axis + 1, shape.size() - 1);
    const int64_t lines = element_count(shape, 0, axis) * inner;
    const int64_t given = std::min(extent, unfolds ? length / 2 + 1 : length);
    const double scale = inverse_ ? 1 / static_cast<double>(length) : 1;
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto line_of = [inner, axis](auto* data, const Dims& of, int64_t line) {
        const int64_t position = line / inner * of[axis] * inner + line % inner;
        using Element = std::remove_pointer_t<decltype(data)>;
        return Line<Element>{data + position * of.back(), inner * of.back(), of.back()};
      };
      transform_lines(
          run, fft, lines, inverse_,
          [&](int64_t line, Complex* numbers) {
            const auto from = line_of(data<const T>(x), shape, line);
            for (int64_t i = 0; i < given; ++i) numbers[i] = from.load(i);
            for (int64_t i = given; i < length; ++i) numbers[i] = 0;
            if (!unfolds) return;
            for (int64_t i = length / 2 + 1; i < length; ++i) {
              numbers[i] = std::conj(numbers[length - i]);
            }
          },
          [&](int64_t line, const Complex* numbers) {
            const auto to = line_of(data<T>(y), out, line);
            for (int64_t i = 0; i < out[axis]; ++i) to.store(i, numbers[i] * scale);
          });
    });
  }

 private:
  int64_t axis_;
  bool axis_is_input_;
  bool inverse_;
  bool onesided_;
};

class Stft final : public Kernel {
 public:
  explicit Stft(const NodeContext& context)
      : Kernel(context), onesided_(context.node().get_int("onesided", 1) != 0) {}

  std::unique_ptr<eph::State> create_state() override { return std::make_unique<FftState>(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() != 2 && shape.size() != 3) {
      fail("signal " + to_string(shape) + " is not [batch, length] or [batch, length, parts]");
    }
    const int64_t parts = shape.size() == 2 ? 1 : parts_of(shape);  // without parts, it is real
    if (onesided_ && parts == 2) fail("a one-sided transform takes real numbers");
    const int64_t step = read_int(*run.input(1));
    if (step < 1) fail("frame_step " + std::to_string(step) + " is not positive");
    const int64_t length = frame_length(run);
    if (length > shape[1]) {
      fail("a frame of " + std::to_string(length) + " is longer than the signal of " +
           std::to_string(shape[1]));
    }
    const int64_t frames = (shape[1] - length) / step + 1;
    const int64_t bins = onesided_ ? length / 2 + 1 : length;
    const Dims spectra = {shape[0], frames, bins, 2};
    const eph_value& y = allocate_output(run, 0, x.element_type, spectra);
    if (shape[0] == 0) return;

    const Fft& fft = static_cast<FftState*>(state)->get(length);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* window = run.input(2) != nullptr ? run.input_data<T>(2) : nullptr;
      transform_lines(
          run, fft, shape[0] * frames, false,
          [&](int64_t line, Complex* numbers) {
            const int64_t first = line / frames * shape[1] + line % frames * step;
            const Line<const T> from = {data<const T>(x) + first * parts, parts, parts};
            for (int64_t i = 0; i < length; ++i) {
              const double weight = window != nullptr ? static_cast<double>(window[i]) : 1.0;
              numbers[i] = from.load(i) * weight;
            }
          },
          [&](int64_t line, const Complex* numbers) {
            const Line<T> to = {data<T>(y) + line * bins * 2, 2, 2};
            for (int64_t i = 0; i < bins; ++i) to.store(i, numbers[i]);
          });
    });
  }

 private:
  static int64_t frame_length(const eph::Run& run) {
    const eph_value* window = run.input(2);
    const eph_value* stated = run.input(3);
    if (window == nullptr && stated == nullptr) fail("neither window nor frame_length is given");
    if (window != nullptr && window->rank != 1) {
      fail("window " + to_string(eph::shape_of(*window)) + " does not have rank 1");
    }
    const int64_t length = stated != nullptr ? read_int(*stated) : *window->shape;
    check_length(length, "frame_length");
    if (window != nullptr && *window->shape != length) {
      fail("a window of " + std::to_string(*window->shape) + " does not fit a frame of " +
           std::to_string(length));
    }
    return length;
  }

  bool onesided_;
};

constexpr Inputs kSignal = {.required = 2, .same_type = 0b101};

constexpr KernelEntry kDftKernels[] = {
    {"DFT", 17, kNewest, {}, kInputTypes<kFloat, kIndices, kIndices>, &make<Dft>},
    {"STFT", 17, kNewest, kSignal, kInputTypes<kFloat, kIndices, kFloat, kIndices>, &make<Stft>},
};

}  // namespace

Table dft_kernels() { return kDftKernels; }

}  // namespace ephost_cpu
