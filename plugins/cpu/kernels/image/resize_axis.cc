#include "plugins/cpu/kernels/image/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {
namespace {

template <class Enum, std::size_t N>
Enum parse_choice(std::string_view attribute, std::string_view text,
                  const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
  }
  fail("attribute " + std::string(attribute) + " '" + std::string(text) + "' is unknown");
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 4> kResizeModes = {
    {{"nearest", ResizeMode::kNearest},
     {"linear", ResizeMode::kLinear},
     {"bilinear", ResizeMode::kLinear},
     {"cubic", ResizeMode::kCubic}}};

constexpr std::array<std::pair<std::string_view, CoordinateMode>, 7> kCoordinates = {
    {{"half_pixel", CoordinateMode::kHalfPixel},
     {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
     {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
     {"align_corners", CoordinateMode::kAlignCorners},
     {"asymmetric", CoordinateMode::kAsymmetric},
     {"tf_half_pixel_for_nn", CoordinateMode::kTfHalfPixelForNn},
     {"tf_crop_and_resize", CoordinateMode::kTfCropAndResize}}};

constexpr std::array<std::pair<std::string_view, NearestMode>, 4> kNearest = {
    {{"round_prefer_floor", NearestMode::kRoundPreferFloor},
     {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
     {"floor", NearestMode::kFloor},
     {"ceil", NearestMode::kCeil}}};

constexpr std::array<std::pair<std::string_view, AspectPolicy>, 3> kPolicies = {
    {{"stretch", AspectPolicy::kStretch},
     {"not_larger", AspectPolicy::kNotLarger},
     {"not_smaller", AspectPolicy::kNotSmaller}}};

double linear_kernel(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }

// Keys' piecewise cubic with parameter a.
double cubic_kernel(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// When shrinking with antialiasing the kernel is stretched over all that an output covers.
double kernel_scale(const ResizeAttributes& attributes, float scale) {
  return attributes.antialiases ? std::min(1.0, static_cast<double>(scale)) : 1.0;
}

// The number of elements on each side that the kernel reaches.
int64_t reach(const ResizeAttributes& attributes, float scale) {
  const double radius = attributes.mode == ResizeMode::kCubic ? 2 : 1;
  return static_cast<int64_t>(std::ceil(radius / kernel_scale(attributes, scale)));
}

}  // namespace

ResizeAttributes::ResizeAttributes(const eph::NodeView& node)
    : mode(parse_choice("mode", node.get_string("mode", "nearest"), kResizeModes)) {
  if (node.op_type() != "Resize" || node.since_version() < 11) return;
  coordinates =
      parse_choice("coordinate_transformation_mode",
                   node.get_string("coordinate_transformation_mode", "half_pixel"), kCoordinates);
  nearest =
      parse_choice("nearest_mode", node.get_string("nearest_mode", "round_prefer_floor"), kNearest);
  policy = parse_choice("keep_aspect_ratio_policy",
                        node.get_string("keep_aspect_ratio_policy", "stretch"), kPolicies);
  cubic_a = node.get_float("cubic_coeff_a", -0.75F);
  extrapolation_value = node.get_float("extrapolation_value", 0);
  excludes_outside = node.get_int("exclude_outside", 0) != 0;
  antialiases = node.get_int("antialias", 0) != 0;
}

float ResizeAxis::original(const ResizeAttributes& attributes, int64_t index) const {
  const auto x = static_cast<float>(index);
  const auto length = static_cast<float>(in);
  const auto resized = static_cast<float>(out);
  switch (attributes.coordinates) {
    case CoordinateMode::kHalfPixel:
      return (x + 0.5F) / scale - 0.5F;
    case CoordinateMode::kHalfPixelSymmetric: {
      // The output may be a little shorter than the scaled input; both keep the same middle.
      const float adjustment = resized / (scale * length);
      const float offset = length / 2 * (1 - adjustment);
      return offset + (x + 0.5F) / scale - 0.5F;
    }
    case CoordinateMode::kPytorchHalfPixel:
      return out > 1 ? (x + 0.5F) / scale - 0.5F : 0.0F;
    case CoordinateMode::kAlignCorners: {
      // Scales refer to the length before it is rounded down, as in the operator's examples.
      const float scaled = scale * length;
      const float corner = std::fabs(scaled - resized) < 1e-4F * resized ? resized : scaled;
      return out > 1 ? x * (length - 1) / (corner - 1) : 0.0F;
    }
    case CoordinateMode::kAsymmetric:
      return x / scale;
    case CoordinateMode::kTfHalfPixelForNn:
      // An axis that is not resized stays as it is, so that channels are not blended.
      return scale == 1 ? x : (x + 0.5F) / scale;
    case CoordinateMode::kTfCropAndResize:
      return out > 1 ? roi_start * (length - 1) +
                           x * (roi_end - roi_start) * (length - 1) / (resized - 1)
                     : 0.5F * (roi_start + roi_end) * (length - 1);
  }
  return 0;
}

bool ResizeAxis::is_extrapolated(const ResizeAttributes& attributes, int64_t x) const {
  if (attributes.coordinates != CoordinateMode::kTfCropAndResize) return false;
  const float at = original(attributes, x);
  return !(at >= 0 && at <= static_cast<float>(in - 1));
}

int64_t ResizeAxis::nearest(const ResizeAttributes& attributes, int64_t x) const {
  const float at = original(attributes, x);
  float rounded = 0;
  switch (attributes.nearest) {
    case NearestMode::kRoundPreferFloor:
      rounded = std::ceil(at - 0.5F);
      break;
    case NearestMode::kRoundPreferCeil:
      rounded = std::floor(at + 0.5F);
      break;
    case NearestMode::kFloor:
      rounded = std::floor(at);
      break;
    case NearestMode::kCeil:
      rounded = std::ceil(at);
      break;
    case NearestMode::kSimple:
      rounded = scale < 1 ? std::ceil(at) : std::floor(at);
      break;
  }
  // Compared as numbers first: a conversion out of range would be undefined, as would that of NaN.
  if (!(rounded > 0)) return 0;
  return rounded >= static_cast<float>(in - 1) ? in - 1 : static_cast<int64_t>(rounded);
}

bool ResizeAxis::is_identity(const ResizeAttributes& attributes) const {
  if (in != out) return false;
  for (int64_t x = 0; x < out; ++x) {
    const bool same = attributes.mode == ResizeMode::kNearest
                          ? nearest(attributes, x) == x
                          : original(attributes, x) == static_cast<float>(x);
    if (!same) return false;
  }
  return kernel_scale(attributes, scale) == 1;
}

int64_t ResizeAxis::tap_count(const ResizeAttributes& attributes) const {
  return 2 * reach(attributes, scale);
}

template <class T>
void ResizeAxis::fill_taps(const ResizeAttributes& attributes, int32_t* indices, T* weights) const {
  const int64_t count = tap_count(attributes);
  const double stretch = kernel_scale(attributes, scale);
  const auto cubic_a = static_cast<double>(attributes.cubic_a);
  const bool renormalises = attributes.excludes_outside || attributes.antialiases;
  for (int64_t x = 0; x < out; ++x) {
    // Far outside, all taps fall on the border; the limits keep the conversion defined.
    const auto limit = static_cast<double>(in + count);
    const double given = static_cast<double>(original(attributes, x));
    const double at = given > -limit ? std::min(given, limit) : -limit;
    const auto first = static_cast<int64_t>(std::floor(at)) - count / 2 + 1;
    double sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      const double distance = (static_cast<double>(first + k) - at) * stretch;
      double weight = attributes.mode == ResizeMode::kCubic ? cubic_kernel(distance, cubic_a)
                                                            : linear_kernel(distance);
      const bool outside = first + k < 0 || first + k >= in;
      if (outside && attributes.excludes_outside) weight = 0;
      sum += weight;
      indices[k * out + x] = static_cast<int32_t>(std::clamp<int64_t>(first + k, 0, in - 1));
      weights[k * out + x] = static_cast<T>(weight);
    }
    if (!renormalises || sum == 0) continue;
    for (int64_t k = 0; k < count; ++k) {
      weights[k * out + x] = static_cast<T>(static_cast<double>(weights[k * out + x]) / sum);
    }
  }
}

template void ResizeAxis::fill_taps(const ResizeAttributes&, int32_t*, float*) const;
template void ResizeAxis::fill_taps(const ResizeAttributes&, int32_t*, double*) const;

}  // namespace ephost_cpu
