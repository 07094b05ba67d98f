#include "plugins/dnnl/lowering/windows.h"

#include <algorithm>
#include <string>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {
namespace {

int64_t reach(const Window& window, std::size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

// Pads so that the output has ceil(extent / stride) positions.
void pad_to_same(Window& window, const Dims& data, bool more_at_end) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t extent = data[i + 2], stride = window.strides[i];
    const int64_t positions = (extent + stride - 1) / stride;
    const int64_t total =
        std::max<int64_t>(0, (positions - 1) * stride + reach(window, i) - extent);
    window.pads_begin[i] = more_at_end ? total / 2 : total - total / 2;
    window.pads_end[i] = total - window.pads_begin[i];
  }
}

void require_range(const Dims& values, int64_t least, const char* what) {
  for (const int64_t value : values) {
    if (value < least || value > kMaxWindow) {
      throw Unsupported(std::string(what) + " " + to_text(values));
    }
  }
}

}  // namespace

Window read_window(const NodeContext& node, const Dims& kernel, const Dims& data) {
  if (data.size() < 3) throw Unsupported("data of rank " + std::to_string(data.size()));
  const std::size_t rank = data.size() - 2;
  if (kernel.size() != rank) throw Unsupported("the ranks of kernel and data don't match");
  Window window{kernel, node.ints_or("strides", rank, 1), node.ints_or("dilations", rank, 1),
                Dims(rank, 0), Dims(rank, 0)};
  require_range(kernel, 1, "kernel extents");
  require_range(window.strides, 1, "strides");
  require_range(window.dilations, 1, "dilations");

  const std::string_view mode = node.node().get_string("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_to_same(window, data, mode == "SAME_UPPER");
  } else if (mode == "NOTSET") {
    const Dims pads = node.ints_or("pads", 2 * rank, 0);
    window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    require_range(pads, 0, "pads");
  } else if (mode != "VALID") {
    throw Unsupported("auto_pad " + std::string(mode));
  }
  return window;
}

int64_t position_count(const Window& window, const Dims& data, std::size_t i, bool round_up) {
  const int64_t free = data[i + 2] + window.pads_begin[i] + window.pads_end[i] - reach(window, i);
  if (free < 0) throw Unsupported("the window is larger than its padded input");
  if (!round_up) return free / window.strides[i] + 1;
  const int64_t positions = (free + window.strides[i] - 1) / window.strides[i] + 1;
  const bool starts_in_padding =
      (positions - 1) * window.strides[i] >= data[i + 2] + window.pads_begin[i];
  return starts_in_padding ? positions - 1 : positions;
}

}  // namespace ephost_dnnl
