#include "plugins/cpu/kernels/windows/window.h"

#include <algorithm>

namespace ephost_cpu {

Dims read_extents(const eph::NodeView& node, std::string_view name, int64_t lowest) {
  const Dims values(node.get_ints(name));
  for (const int64_t value : values) {
    if (value < lowest || value >= kExtentLimit) {
      fail("attribute " + std::string(name) + "=" + to_string(values) + " has a value below " +
           std::to_string(lowest) + " or too large");
    }
  }
  return values;
}

WindowAttributes::AutoPad WindowAttributes::parse_auto_pad(std::string_view text) {
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "VALID") return AutoPad::kValid;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  fail("attribute auto_pad '" + std::string(text) + "' is unknown");
}

WindowAttributes::WindowAttributes(const eph::NodeView& node)
    : auto_pad_(parse_auto_pad(node.get_string("auto_pad", "NOTSET"))),
      ceil_(auto_pad_ != AutoPad::kSameUpper && auto_pad_ != AutoPad::kSameLower &&
            node.get_int("ceil_mode", 0) != 0),
      kernel_shape_(read_extents(node, "kernel_shape", 1)),
      strides_(read_extents(node, "strides", 1)),
      dilations_(read_extents(node, "dilations", 1)),
      pads_(read_extents(node, "pads", 0)) {}

Window WindowAttributes::start(const Dims& kernel, const Dims& input) const {
  const std::size_t rank = input.size();
  const auto fits = [](const Dims& list, std::size_t size) {
    return list.empty() || list.size() == size;
  };
  if (kernel.size() != rank || !fits(strides_, rank) || !fits(dilations_, rank) ||
      !fits(pads_, 2 * rank)) {
    fail("kernel_shape, strides, dilations or pads do not match an input of " +
         std::to_string(rank) + " spatial dimensions");
  }
  Window window = {kernel, strides_, dilations_, {}, {}, {}};
  if (strides_.empty()) window.strides = Dims(rank, 1);
  if (dilations_.empty()) window.dilations = Dims(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (input[i] < 0 || input[i] >= kExtentLimit || kernel[i] >= kExtentLimit) {
      fail("an extent is too large");
    }
    if (kernel[i] < 1) fail("a window " + to_string(kernel) + " is empty");
  }
  return window;
}

Window WindowAttributes::resolve(const Dims& kernel, const Dims& input) const {
  Window window = start(kernel, input);
  const std::size_t rank = input.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t span = (kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t stride = window.strides[i];
    int64_t begin = 0;
    int64_t end = 0;
    if (auto_pad_ == AutoPad::kNotSet && !pads_.empty()) {
      begin = pads_[i];
      end = pads_[i + rank];
    } else if (auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower) {
      const int64_t positions = (input[i] + stride - 1) / stride;
      const int64_t total = std::max<int64_t>(0, (positions - 1) * stride + span - input[i]);
      begin = auto_pad_ == AutoPad::kSameUpper ? total / 2 : total - total / 2;
      end = total - begin;
    }
    const int64_t room = input[i] + begin + end - span;
    if (room < 0) {
      fail("a window of " + std::to_string(span) + " does not fit into an extent of " +
           std::to_string(input[i]) + " with pads " + std::to_string(begin) + " and " +
           std::to_string(end));
    }
    window.pads_begin.push_back(begin);
    window.pads_end.push_back(end);
    int64_t positions = room / stride + 1;
    if (ceil_ && room % stride != 0) ++positions;
    if (ceil_ && (positions - 1) * stride >= input[i] + begin) --positions;
    window.output.push_back(positions);
  }
  return window;
}

Window WindowAttributes::resolve_transposed(const Dims& kernel, const Dims& input,
                                            const Dims& output_padding, const Dims& output_shape,
                                            Dims& extents) const {
  Window window = start(kernel, input);
  const std::size_t rank = input.size();
  // Some exporters write all dimensions of the output.
  const std::size_t skipped = output_shape.size() == rank + 2 ? 2 : 0;
  if ((!output_padding.empty() && output_padding.size() != rank) ||
      (!output_shape.empty() && output_shape.size() != rank + skipped)) {
    fail("output_padding " + to_string(output_padding) + " or output_shape " +
         to_string(output_shape) + " do not match an input of " + std::to_string(rank) +
         " spatial dimensions");
  }
  const bool same = auto_pad_ == AutoPad::kSameUpper || auto_pad_ == AutoPad::kSameLower;
  window.output = input;
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t extra = output_padding.empty() ? 0 : output_padding[i];
    if (extra < 0 || extra >= kExtentLimit) fail("output_padding " + to_string(output_padding));
    const int64_t span = (kernel[i] - 1) * window.dilations[i] + 1;
    // What the windows cover, with an empty input as if it had one element.
    const int64_t full = window.strides[i] * std::max<int64_t>(0, input[i] - 1) + extra + span;
    int64_t begin = 0;
    int64_t extent = full;
    if (!output_shape.empty() || same) {
      extent = output_shape.empty() ? input[i] * window.strides[i] : output_shape[i + skipped];
      if (extent < 0 || extent >= 2 * kExtentLimit) fail("output_shape " + to_string(output_shape));
      const int64_t total = std::max<int64_t>(0, full - extent);
      begin = auto_pad_ == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    } else if (auto_pad_ == AutoPad::kNotSet && !pads_.empty()) {
      begin = pads_[i];
      extent = full - begin - pads_[i + rank];
      if (extent < 0) {
        fail("pads " + to_string(pads_) + " crop more than the whole extent of " +
             std::to_string(full));
      }
    }
    window.pads_begin.push_back(begin);
    window.pads_end.push_back(0);
    extents.push_back(extent);
  }
  return window;
}

}  // namespace ephost_cpu
