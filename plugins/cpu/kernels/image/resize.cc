// Resize and Upsample. Nearest copies elements of any type; linear and cubic go axis by axis, and
// each pass computes every line of the output along its axis from a few elements of the input.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/image/resize_axis.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

using Axes = std::array<ResizeAxis, kMaxRank>;

// A list of numbers without heap memory.
struct Floats {
  std::array<float, Dims::kCapacity> values = {};
  std::size_t size = 0;

  [[nodiscard]] bool empty() const { return size == 0; }
  float operator[](std::size_t i) const { return values[i]; }
};

// The inputs' indices; beyond the last input if the version lacks it.
struct Slots {
  uint32_t roi = 99, scales = 99, sizes = 99;
};

// y[i] = sum over k of weights[k * stride] * x[indices[k * stride]][i], the x[...] being rows.
template <class T>
CPU_INLINE void blend_rows(const T* x, const int32_t* indices, const T* weights, int64_t taps,
                           int64_t stride, int64_t width, T* y) {
  for (int64_t k = 0; k < taps; ++k) {
    const T weight = weights[k * stride];
    const T* row = x + indices[k * stride] * width;
    if (k == 0) {
      for (int64_t i = 0; i < width; ++i) y[i] = weight * row[i];
    } else if (weight != T{0}) {
      CPU_INDEPENDENT
      for (int64_t i = 0; i < width; ++i) y[i] += weight * row[i];
    }
  }
}
CPU_SIMD void blend_rows_simd(const float* x, const int32_t* indices, const float* weights,
                              int64_t taps, int64_t stride, int64_t width, float* y) {
  blend_rows(x, indices, weights, taps, stride, width, y);
}

// y[o] = sum over k of weights[k * count + o] * x[indices[k * count + o]].
template <class T>
CPU_INLINE void blend_elements(const T* x, const int32_t* indices, const T* weights, int64_t taps,
                               int64_t count, T* y) {
  for (int64_t o = 0; o < count; ++o) y[o] = weights[o] * x[indices[o]];
  for (int64_t k = 1; k < taps; ++k) {
    const int32_t* at = indices + k * count;
    const T* factors = weights + k * count;
    CPU_INDEPENDENT
    for (int64_t o = 0; o < count; ++o) y[o] += factors[o] * x[at[o]];
  }
}
CPU_SIMD void blend_elements_simd(const float* x, const int32_t* indices, const float* weights,
                                  int64_t taps, int64_t count, float* y) {
  blend_elements(x, indices, weights, taps, count, y);
}

class Resize final : public Kernel {
 public:
  explicit Resize(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        axes_(context.node().get_ints("axes")),
        has_axes_(context.node().attribute("axes") != nullptr) {
    if (context.node().op_type() == "Resize" && context.version() >= 11) {
      slots_ = {1, 2, 3};
    } else if (context.version() >= 9) {
      slots_.scales = 1;
    }
    const auto scales = context.node().get_floats("scales");
    if (scales.size() > kMaxRank) fail("attribute 'scales' has too many elements");
    std::copy(scales.begin(), scales.end(), scales_.values.begin());
    scales_.size = scales.size();
    if (slots_.scales == 99 && scales_.empty()) fail("attribute 'scales' is missing");
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    Axes axes;
    Dims out = shape;
    const std::size_t rank = shape.size();
    for (std::size_t d = 0; d < rank; ++d) axes[d] = {shape[d], shape[d]};
    find_extents(run, shape, axes);
    for (std::size_t d = 0; d < rank; ++d) out[d] = axes[d].out;
    for (std::size_t d = 0; d < rank; ++d) {
      if (axes[d].in == 0 && element_count(out) != 0) fail("there is nothing to resize");
      if (axes[d].in >= INT32_MAX || axes[d].out >= INT32_MAX) fail("an extent is too large");
    }
    if (attributes_.mode == ResizeMode::kNearest) return move_nearest(run, axes, out);
    if ((eph::type_bit(x.element_type) & (kAllFloats | kInts)) == 0) {
      fail_unsupported("only mode 'nearest' takes elements of type " + type_name(x.element_type));
    }
    // Wide integers are computed in double.
    const bool is_wide = (eph::type_bit(x.element_type) & kWideInts) != 0;
    dispatch_compute_type(is_wide ? EPH_ELEMENT_DOUBLE : x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.output<T>(0, x.element_type, out);
      if (element_count(out) == 0) return;
      blend(run, axes, shape, arguments.input<T>(0), y);
      extrapolate(run, axes, out, y, static_cast<T>(attributes_.extrapolation_value));
      arguments.finish();
    });
  }

 private:
  // The numbers of an input of floating-point numbers or int64; empty if it is omitted.
  static Floats read_floats(const eph::Run& run, uint32_t slot) {
    const eph_value* value = run.input(slot);
    if (value == nullptr) return {};
    const Dims shape = dims_of(*value);
    if (shape.size() != 1 || shape[0] > static_cast<int64_t>(Dims::kCapacity)) {
      fail("input " + std::to_string(slot) + " has shape " + to_string(shape) +
           ", expected a number for each axis");
    }
    Floats numbers;
    numbers.size = static_cast<std::size_t>(shape[0]);
    convert(value->data, value->element_type, numbers.values.data(), EPH_ELEMENT_FLOAT, shape[0]);
    return numbers;
  }

  // Fills in out, scale and region of the axes.
  void find_extents(const eph::Run& run, const Dims& shape, Axes& axes) const {
    Dims chosen = axes_;
    if (!has_axes_) {
      chosen = {};
      for (std::size_t d = 0; d < shape.size(); ++d) chosen.push_back(static_cast<int64_t>(d));
    }
    for (int64_t& axis : chosen) axis = static_cast<int64_t>(normalize_axis(axis, shape.size()));
    const Floats scales = slots_.scales == 99 ? scales_ : read_floats(run, slots_.scales);
    const Dims sizes =
        run.input(slots_.sizes) != nullptr ? read_ints(*run.input(slots_.sizes)) : Dims();
    if (attributes_.coordinates == CoordinateMode::kTfCropAndResize) {
      const Floats roi = read_floats(run, slots_.roi);
      if (roi.size != 2 * chosen.size()) {
        fail("roi has " + std::to_string(roi.size) + " elements, expected " +
             std::to_string(2 * chosen.size()));
      }
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        ResizeAxis& axis = axes[static_cast<std::size_t>(chosen[i])];
        axis.roi_start = roi[i];
        axis.roi_end = roi[i + chosen.size()];
      }
    }
    if (scales.empty() == sizes.empty() && !chosen.empty()) {
      fail("either scales or sizes must be given");
    }
    if ((!scales.empty() && scales.size != chosen.size()) ||
        (!sizes.empty() && sizes.size() != chosen.size())) {
      fail("scales or sizes do not have a number for each of " + std::to_string(chosen.size()) +
           " axes");
    }
    if (sizes.empty()) {
      apply_scales(scales, chosen, axes);
    } else {
      apply_sizes(sizes, chosen, axes);
    }
  }

  void apply_scales(const Floats& scales, const Dims& chosen, Axes& axes) const {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      ResizeAxis& axis = axes[static_cast<std::size_t>(chosen[i])];
      if (!(scales[i] > 0) || std::isinf(scales[i])) {
        fail("scale " + std::to_string(scales[i]) + " is not positive and finite");
      }
      axis.scale = scales[i];
      float extent = static_cast<float>(axis.in) * scales[i];
      if (attributes_.coordinates == CoordinateMode::kTfCropAndResize) {
        extent = static_cast<float>(axis.in) * (axis.roi_end - axis.roi_start) * scales[i];
      }
      if (!(extent >= 0 && extent < 0x1p31F)) fail("an extent is too large");
      axis.out = static_cast<int64_t>(std::floor(extent));
    }
  }

  void apply_sizes(const Dims& sizes, const Dims& chosen, Axes& axes) const {
    float common = attributes_.policy == AspectPolicy::kNotLarger ? INFINITY : 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      ResizeAxis& axis = axes[static_cast<std::size_t>(chosen[i])];
      if (sizes[i] < 0) fail("size " + std::to_string(sizes[i]) + " is negative");
      axis.out = sizes[i];
      if (axis.in == 0) continue;
      axis.scale = static_cast<float>(sizes[i]) / static_cast<float>(axis.in);
      common = attributes_.policy == AspectPolicy::kNotLarger ? std::min(common, axis.scale)
                                                              : std::max(common, axis.scale);
    }
    if (attributes_.policy == AspectPolicy::kStretch) return;
    for (const int64_t d : chosen) {
      ResizeAxis& axis = axes[static_cast<std::size_t>(d)];
      axis.scale = common;
      const float extent = std::floor(common * static_cast<float>(axis.in) + 0.5F);
      if (!(extent < 0x1p31F)) fail("an extent is too large");
      axis.out = static_cast<int64_t>(extent);
    }
  }

  // ---- Nearest ----

  void move_nearest(eph::Run& run, const Axes& axes, const Dims& out) const {
    const eph_value& x = *run.input(0);
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;
    // For each axis, the offset in the input of each index of the output.
    const std::size_t rank = out.size();
    const Dims strides = dense_strides(dims_of(x));
    int64_t total = 0;
    for (const int64_t extent : out) total += extent;
    auto* offsets = static_cast<int64_t*>(
        run.scratch(static_cast<uint64_t>(checked_multiply(std::max<int64_t>(total, 1), 8))));
    std::array<const int64_t*, kMaxRank> of_axis = {};
    for (std::size_t d = 0; d < rank; ++d) {
      of_axis[d] = offsets;
      for (int64_t i = 0; i < out[d]; ++i) {
        *offsets++ = axes[d].nearest(attributes_, i) * strides[d];
      }
    }
    if (x.element_type == EPH_ELEMENT_STRING) return move_strings(run, of_axis, out);
    dispatch_size(element_size(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      move_rows(of_axis, out, data<const T>(x), data<T>(y));
    });
    if (attributes_.coordinates != CoordinateMode::kTfCropAndResize) return;
    const eph_value& typed = y;
    double value = static_cast<double>(attributes_.extrapolation_value);
    uint64_t converted[2] = {};
    convert(&value, EPH_ELEMENT_DOUBLE, converted, typed.element_type, 1);
    dispatch_size(element_size(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T element;
      std::memcpy(&element, converted, sizeof(T));
      extrapolate(run, axes, out, data<T>(y), element);
    });
  }

  template <class T>
  static void move_rows(const std::array<const int64_t*, kMaxRank>& of_axis, const Dims& out,
                        const T* x, T* y) {
    if (out.empty()) {
      *y = *x;
      return;
    }
    const std::size_t last = out.size() - 1;
    const int64_t width = out[last];
    const int64_t* columns = of_axis[last];
    const bool whole = columns[width - 1] - columns[0] == width - 1;
    const double cost = 0.7 * static_cast<double>(width);
    parallel_for(element_count(out) / width, cost, [&](int64_t begin, int64_t end) {
      int64_t previous = -1;
      for (int64_t row = begin; row < end; ++row) {
        int64_t offset = 0;
        int64_t rest = row;
        for (std::size_t d = last; d-- > 0; rest /= out[d]) offset += of_axis[d][rest % out[d]];
        T* to = y + row * width;
        if (offset == previous) {
          std::copy_n(to - width, width, to);
        } else if (whole) {
          std::copy_n(x + offset + columns[0], width, to);
        } else {
          for (int64_t i = 0; i < width; ++i) to[i] = x[offset + columns[i]];
        }
        previous = offset;
      }
    });
  }

  static void move_strings(eph::Run& run, const std::array<const int64_t*, kMaxRank>& of_axis,
                           const Dims& out) {
    const auto* x = run.input_data<eph_string>(0);
    const int64_t count = element_count(out);
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0;
      int64_t rest = i;
      for (std::size_t d = out.size(); d-- > 0; rest /= out[d]) offset += of_axis[d][rest % out[d]];
      run.set_string(0, static_cast<uint64_t>(i), eph::view(x[offset]));
    }
  }

  // ---- Linear and cubic ----

  // The axes that are resized: those that shrink most first, otherwise from the last one on.
  Dims order_of_passes(const Axes& axes, const Dims& shape) const {
    Dims order;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (!axes[d].is_identity(attributes_)) order.push_back(static_cast<int64_t>(d));
    }
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const ResizeAxis& left = axes[static_cast<std::size_t>(a)];
      const ResizeAxis& right = axes[static_cast<std::size_t>(b)];
      const double ratio = static_cast<double>(left.out) * static_cast<double>(right.in);
      const double other = static_cast<double>(right.out) * static_cast<double>(left.in);
      return ratio < other || (ratio == other && a > b);
    });
    return order;
  }

  template <class T>
  void blend(eph::Run& run, const Axes& axes, Dims shape, const T* x, T* y) const {
    const Dims order = order_of_passes(axes, shape);
    if (order.empty()) {
      std::copy_n(x, element_count(shape), y);
      return;
    }
    for (std::size_t pass = 0; pass < order.size(); ++pass) {
      const auto d = static_cast<std::size_t>(order[pass]);
      const int64_t outer = element_count(shape, 0, d);
      const int64_t inner = element_count(shape, d + 1, shape.size());
      shape[d] = axes[d].out;
      T* to = y;
      if (pass + 1 < order.size()) to = take<T>(run, element_count(shape));
      blend_axis(run, axes[d], outer, inner, x, to);
      x = to;
    }
  }

  template <class T>
  static T* take(eph::Run& run, int64_t count) {
    return static_cast<T*>(run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T)))));
  }

  template <class T>
  void blend_axis(eph::Run& run, const ResizeAxis& axis, int64_t outer, int64_t inner, const T* x,
                  T* y) const {
    const int64_t taps = axis.tap_count(attributes_);
    auto* indices = take<int32_t>(run, checked_multiply(taps, axis.out));
    T* weights = take<T>(run, checked_multiply(taps, axis.out));
    axis.fill_taps(attributes_, indices, weights);
    const double cost = 0.4 * static_cast<double>(taps);
    if (inner == 1) {
      const double row = cost * static_cast<double>(axis.out);
      parallel_for(outer, row, [=, &axis](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          if constexpr (std::is_same_v<T, float>) {
            blend_elements_simd(x + o * axis.in, indices, weights, taps, axis.out,
                                y + o * axis.out);
          } else {
            blend_elements(x + o * axis.in, indices, weights, taps, axis.out, y + o * axis.out);
          }
        }
      });
      return;
    }
    const double row = cost * static_cast<double>(inner);
    parallel_for(outer * axis.out, row, [=, &axis](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t o = r % axis.out;
        const T* from = x + r / axis.out * axis.in * inner;
        if constexpr (std::is_same_v<T, float>) {
          blend_rows_simd(from, indices + o, weights + o, taps, axis.out, inner, y + r * inner);
        } else {
          blend_rows(from, indices + o, weights + o, taps, axis.out, inner, y + r * inner);
        }
      }
    });
  }

  // Writes the extrapolation value where an axis lies outside the input.
  template <class T>
  void extrapolate(eph::Run& run, const Axes& axes, const Dims& out, T* y, T value) const {
    if (attributes_.coordinates != CoordinateMode::kTfCropAndResize) return;
    const int64_t count = element_count(out);
    for (std::size_t d = 0; d < out.size(); ++d) {
      const int64_t inner = element_count(out, d + 1, out.size());
      auto* outside = take<uint8_t>(run, out[d]);
      for (int64_t i = 0; i < out[d]; ++i) outside[i] = axes[d].is_extrapolated(attributes_, i);
      for (int64_t i = 0; i < count; i += inner) {
        if (outside[i / inner % out[d]] != 0) std::fill_n(y + i, inner, value);
      }
    }
  }

  ResizeAttributes attributes_;
  Dims axes_;
  bool has_axes_;
  Slots slots_;
  Floats scales_;
};

constexpr auto& kWithScales = kInputTypes<kAny | kHalf, kOnlyFloat>;
constexpr auto& kWithRegion = kInputTypes<kAny | kHalf, kAllFloats, kOnlyFloat, kInt64>;

constexpr KernelEntry kResizeKernels[] = {
    {"Resize", 10, 10, kTwoInputs, kWithScales, &make<Resize>},
    {"Resize", 11, kNewest, {}, kWithRegion, &make<Resize>},
    {"Upsample", 7, 8, {}, kInputTypes<kAny>, &make<Resize>},
    {"Upsample", 9, 9, kTwoInputs, kWithScales, &make<Resize>},
};

}  // namespace

Table resize_kernels() { return kResizeKernels; }

}  // namespace ephost_cpu
