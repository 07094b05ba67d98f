// Convolution and pooling. Where auto_pad determines the padding, `pads` has no meaning.
#include <algorithm>
#include <optional>
#include <string>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/onnx_io/inference/corrected_inference.h"
#include "host/onnx_io/inference/inference_facts.h"

namespace ephost::onnx_io::infer {
namespace {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;

// How many positions a window has along one axis, without those that begin in the padding at the
// end if the number is rounded up.
std::optional<int64_t> positions(int64_t extent, int64_t begin, int64_t end, int64_t span,
                                 int64_t stride, bool rounds_up) {
  const auto begins_before = checked_add(extent, begin);
  const auto padded = begins_before ? checked_add(*begins_before, end) : std::nullopt;
  if (!padded) return std::nullopt;
  if (*padded < span)
    fail(formatted("a window of {} does not fit into {} elements", span, *padded));
  const int64_t room = *padded - span;
  const int64_t whole = room / stride + 1;
  if (!rounds_up) return whole;
  const int64_t last = room / stride + (room % stride == 0 ? 0 : 1);
  const auto start = checked_mul(last, stride);
  return start && *start < *begins_before ? last + 1 : last;
}

// The attributes that convolution and pooling share, with a value for each spatial axis.
class Window {
 public:
  Window(InferenceContext& context, size_t axes)
      : strides_(attribute(context, "strides").value_or(Numbers(axes, 1))),
        dilations_(attribute(context, "dilations").value_or(Numbers(axes, 1))),
        pads_(attribute(context, "pads").value_or(Numbers(2 * axes, 0))),
        rounds_up_(onnx::getAttribute(context, "ceil_mode", 0) != 0) {
    const std::string mode = onnx::getAttribute(context, "auto_pad", std::string("NOTSET"));
    is_same_ = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (mode == "VALID") pads_.assign(2 * axes, 0);
    expect_size(strides_, axes, "strides");
    expect_size(dilations_, axes, "dilations");
    expect_size(pads_, 2 * axes, "pads");
  }

  // Nothing where an extent is not known.
  [[nodiscard]] std::optional<int64_t> extent_after(size_t axis, std::optional<int64_t> before,
                                                    std::optional<int64_t> kernel) const {
    const int64_t stride = strides_[axis];
    const int64_t dilation = dilations_[axis];
    if (kernel.value_or(1) < 1 || stride < 1 || dilation < 1) fail("a window is empty");
    if (!before) return std::nullopt;
    if (is_same_) return *before / stride + (*before % stride == 0 ? 0 : 1);
    if (!kernel) return std::nullopt;
    const auto reach = checked_mul(*kernel - 1, dilation);
    const auto span = reach ? checked_add(*reach, int64_t{1}) : std::nullopt;
    if (!span) return std::nullopt;
    return positions(*before, pads_[axis], pads_[axis + strides_.size()], *span, stride,
                     rounds_up_);
  }

  // The same of a transposed convolution, which adds `extra` elements at the end.
  [[nodiscard]] std::optional<int64_t> extent_before(size_t axis, std::optional<int64_t> after,
                                                     std::optional<int64_t> kernel,
                                                     int64_t extra) const {
    const int64_t stride = strides_[axis];
    const int64_t dilation = dilations_[axis];
    if (kernel.value_or(1) < 1 || stride < 1 || dilation < 1) fail("a window is empty");
    if (!after) return std::nullopt;
    if (is_same_) return checked_mul(*after, stride);
    if (!kernel) return std::nullopt;
    const auto reach = checked_mul(*kernel - 1, dilation);
    const auto steps = checked_mul(std::max<int64_t>(*after - 1, 0), stride);
    std::optional<int64_t> extent = reach && steps ? checked_add(*reach, *steps) : std::nullopt;
    for (const int64_t more : {int64_t{1}, extra}) {
      if (extent) extent = checked_add(*extent, more);
    }
    for (const int64_t less : {pads_[axis], pads_[axis + strides_.size()]}) {
      if (extent) extent = checked_sub(*extent, less);
    }
    if (extent && *extent < 0) fail("pads crop more than there is");
    return extent;
  }

 private:
  Numbers strides_;
  Numbers dilations_;
  Numbers pads_;
  bool rounds_up_;
  bool is_same_ = false;
};

size_t spatial_axes(const TensorShapeProto& shape) {
  if (shape.dim_size() < 3) fail(formatted("the input has {} dimensions", shape.dim_size()));
  return static_cast<size_t>(shape.dim_size()) - 2;
}

void convolve(InferenceContext& context, size_t filter_input) {
  const auto* shape = input_shape(context, 0);
  const auto* filter = input_shape(context, filter_input);
  if (shape == nullptr || filter == nullptr) return;
  const size_t axes = spatial_axes(*shape);
  if (filter->dim_size() != shape->dim_size()) fail("input and filter have different ranks");
  const auto kernel = attribute(context, "kernel_shape");
  if (kernel) expect_size(*kernel, axes, "kernel_shape");
  const Window window(context, axes);
  TensorShapeProto out;
  *out.add_dim() = shape->dim(0);
  *out.add_dim() = filter->dim(0);
  for (size_t i = 0; i < axes; ++i) {
    const int d = static_cast<int>(i) + 2;
    const auto size = kernel ? std::optional((*kernel)[i]) : extent(*filter, d);
    add_dim(out, window.extent_after(i, extent(*shape, d), size));
  }
  start_shape(context, 0) = out;
}

}  // namespace

void convolution(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  convolve(context, 1);
}

void integer_convolution(InferenceContext& context) {
  set_element_type(context, 0, TensorProto::INT32);
  convolve(context, 1);
}

void quantized_convolution(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 7));  // of the zero point
  convolve(context, 3);
}

void transposed_convolution(InferenceContext& context) {
  set_element_type(context, 0, element_type(context, 0));
  const auto* shape = input_shape(context, 0);
  const auto* filter = input_shape(context, 1);
  if (shape == nullptr || filter == nullptr) return;
  const size_t axes = spatial_axes(*shape);
  if (filter->dim_size() != shape->dim_size()) fail("input and filter have different ranks");
  const auto kernel = attribute(context, "kernel_shape");
  if (kernel) expect_size(*kernel, axes, "kernel_shape");
  Numbers extra = attribute(context, "output_padding").value_or(Numbers());
  if (extra.empty()) extra.assign(axes, 0);
  expect_size(extra, axes, "output_padding");
  // Some exporters give all dimensions of the output.
  Numbers stated = attribute(context, "output_shape").value_or(Numbers());
  if (stated.size() == axes + 2) stated.erase(stated.begin(), stated.begin() + 2);
  if (!stated.empty()) expect_size(stated, axes, "output_shape");
  const Window window(context, axes);
  const auto channels = extent(*filter, 1);
  const onnx::AttributeProto* group = context.getAttribute("group");
  TensorShapeProto out;
  *out.add_dim() = shape->dim(0);
  add_dim(out, channels ? checked_mul(*channels, group == nullptr ? int64_t{1} : group->i())
                        : std::nullopt);
  for (size_t i = 0; i < axes; ++i) {
    const int d = static_cast<int>(i) + 2;
    const auto size = kernel ? std::optional((*kernel)[i]) : extent(*filter, d);
    add_dim(out, stated.empty() ? window.extent_before(i, extent(*shape, d), size, extra[i])
                                : std::optional(stated[i]));
  }
  start_shape(context, 0) = out;
}

void pool(InferenceContext& context) {
  const bool has_indices = context.getNumOutputs() > 1;
  set_element_type(context, 0, element_type(context, 0));
  if (has_indices) set_element_type(context, 1, TensorProto::INT64);
  const auto* shape = input_shape(context, 0);
  const auto kernel = attribute(context, "kernel_shape");
  if (shape == nullptr || !kernel) return;
  const size_t axes = spatial_axes(*shape);
  expect_size(*kernel, axes, "kernel_shape");
  const Window window(context, axes);
  TensorShapeProto pooled;
  *pooled.add_dim() = shape->dim(0);
  *pooled.add_dim() = shape->dim(1);
  for (size_t i = 0; i < axes; ++i) {
    const auto before = extent(*shape, static_cast<int>(i) + 2);
    add_dim(pooled, window.extent_after(i, before, (*kernel)[i]));
  }
  start_shape(context, 0) = pooled;
  if (has_indices) start_shape(context, 1) = pooled;
}

}  // namespace ephost::onnx_io::infer
