// Resampling along one axis, as Resize and Upsample define it: the input elements that contribute
// to an output element, and their weights.
#pragma once

#include <cstdint>
#include <ephost/sdk/graph_view.hpp>

namespace ephost_cpu {

enum class ResizeMode { kNearest, kLinear, kCubic };

enum class CoordinateMode {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};

// kSimple is the mode of versions without the attribute: down when enlarging, up when shrinking.
enum class NearestMode { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kSimple };

enum class AspectPolicy { kStretch, kNotLarger, kNotSmaller };

struct ResizeAttributes {
  // Reads the attributes; those that Upsample and Resize up to version 10 lack get the values that
  // these imply. Throws if a value is unknown.
  explicit ResizeAttributes(const eph::NodeView& node);

  ResizeMode mode;
  CoordinateMode coordinates = CoordinateMode::kAsymmetric;
  NearestMode nearest = NearestMode::kSimple;
  AspectPolicy policy = AspectPolicy::kStretch;
  float cubic_a = -0.75F;
  float extrapolation_value = 0;
  bool excludes_outside = false;
  bool antialiases = false;
};

// One axis. Extents are positive and below 2^31.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  float scale = 1;
  float roi_start = 0, roi_end = 1;

  // Where output x lies in the input.
  [[nodiscard]] float original(const ResizeAttributes& attributes, int64_t x) const;
  // Whether output x is the extrapolation value.
  [[nodiscard]] bool is_extrapolated(const ResizeAttributes& attributes, int64_t x) const;
  // The element of the input that is nearest to output x.
  [[nodiscard]] int64_t nearest(const ResizeAttributes& attributes, int64_t x) const;
  // Whether each output is the input of the same index.
  [[nodiscard]] bool is_identity(const ResizeAttributes& attributes) const;

  // For linear and cubic: the number of input elements that contribute to an output.
  [[nodiscard]] int64_t tap_count(const ResizeAttributes& attributes) const;
  // Tap k of output x is stored at [k * out + x] in both lists.
  template <class T>
  void fill_taps(const ResizeAttributes& attributes, int32_t* indices, T* weights) const;
};

}  // namespace ephost_cpu
