// The sliding window of convolution and pooling: its attributes, and the window that they define
// for an input.
#pragma once

#include <cstdint>
#include <ephost/sdk/graph_view.hpp>
#include <string_view>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// No real model has larger extents or pads; below it, arithmetic needs no checks.
inline constexpr int64_t kExtentLimit = int64_t{1} << 31;

// The attribute's numbers. Throws if one is below `lowest` or not below the limit.
[[nodiscard]] Dims read_extents(const eph::NodeView& node, std::string_view name, int64_t lowest);

// For one input: as many entries in each list as there are spatial dimensions.
struct Window {
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims pads_begin;
  Dims pads_end;
  Dims output;  // spatial extents of the output
};

class WindowAttributes {
 public:
  // Throws if the value of an attribute is invalid for every input. ceil_mode has no effect on the
  // padding modes SAME_UPPER and SAME_LOWER, which define the output themselves. In every version
  // it makes no window that would begin in the padding at the end: the text says so since opset 22,
  // and the exporters of older models and ONNX Runtime take it so.
  explicit WindowAttributes(const eph::NodeView& node);

  // From the attribute kernel_shape; empty if that is absent.
  [[nodiscard]] const Dims& kernel_shape() const { return kernel_shape_; }

  // The window of extents `kernel` over an input of spatial extents `input`. Throws if the numbers
  // of dimensions differ, or if the window is larger than the padded input.
  [[nodiscard]] Window resolve(const Dims& kernel, const Dims& input) const;

  // The window whose positions are the elements of `input` and which covers the output of a
  // transposed convolution; its spatial extents are stored in `extents`. `output_padding` and
  // `output_shape` are as the attributes, empty if they are absent. Throws like `resolve`.
  [[nodiscard]] Window resolve_transposed(const Dims& kernel, const Dims& input,
                                          const Dims& output_padding, const Dims& output_shape,
                                          Dims& extents) const;

 private:
  enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };
  // With defaults filled in, without pads and output. Throws if lists have other lengths.
  [[nodiscard]] Window start(const Dims& kernel, const Dims& input) const;
  static AutoPad parse_auto_pad(std::string_view text);

  AutoPad auto_pad_;
  bool ceil_;
  Dims kernel_shape_, strides_, dilations_, pads_;
};

}  // namespace ephost_cpu
