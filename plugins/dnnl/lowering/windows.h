// windows.h: the attributes that Conv and the pooling operators share, with auto_pad resolved.
#pragma once

#include "plugins/dnnl/lowering/node_context.h"

namespace ephost_dnnl {

struct Window {
  Dims kernel, strides, dilations, pads_begin, pads_end;
};

// Reads the attributes of a node that slides `kernel` over data of these dimensions. Throws
// Unsupported for negative pads and unknown modes.
[[nodiscard]] Window read_window(const NodeContext& node, const Dims& kernel, const Dims& data);

// Number of window positions along spatial dimension i. If it is rounded up, none begins in the
// padding at the end.
[[nodiscard]] int64_t position_count(const Window& window, const Dims& data, std::size_t i,
                                     bool round_up);

}  // namespace ephost_dnnl
