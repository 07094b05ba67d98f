// The attribute p of the Lp poolings: a floating-point number in version 1, an integer afterwards.
#pragma once

#include <ephost/sdk/graph_view.hpp>
#include <string>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

inline double read_norm(const eph::NodeView& node) {
  const double p = node.since_version() < 2 ? static_cast<double>(node.get_float("p", 2.0F))
                                            : static_cast<double>(node.get_int("p", 2));
  if (!(p > 0)) fail("attribute p=" + std::to_string(p) + " is not positive");
  return p;
}

}  // namespace ephost_cpu
