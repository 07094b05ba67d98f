// Broadcasting as it was before version 7 of Add, Sub, Mul, Div, Pow and PRelu: only the second
// operand is broadcast, and only if the attribute `broadcast` says so; its dimensions are those of
// the first one from the attribute `axis` on, or else the last ones.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

class OldBroadcast {
 public:
  // Nothing to do for newer versions.
  explicit OldBroadcast(const NodeContext& context)
      : is_old_(context.version() < 7), is_on_(context.node().get_int("broadcast", 0) != 0) {
    if (context.node().attribute("axis") != nullptr) axis_ = context.node().get_int("axis", 0);
  }
  // PRelu: a list of slopes has one for each channel.
  static OldBroadcast of_channels(const NodeContext& context) {
    OldBroadcast channels(context);
    channels.is_on_ = true;
    channels.axis_ = 1;
    return channels;
  }

  // The shape of the second operand in a form that numpy's rules understand.
  [[nodiscard]] Dims align(const Dims& a, Dims b) const {
    if (!is_old_ || a == b) return b;
    if (!is_on_) {
      fail("shapes " + to_string(a) + " and " + to_string(b) +
           " differ; before version 7 the attribute broadcast=1 is needed for that");
    }
    if (!axis_ || b.size() >= a.size() || element_count(b) == 1) return b;
    const std::size_t axis = normalize_axis(*axis_, a.size());
    if (axis + b.size() > a.size()) {
      fail("shape " + to_string(b) + " does not fit into " + to_string(a) + " from axis " +
           std::to_string(axis) + " on");
    }
    while (axis + b.size() < a.size()) b.push_back(1);
    return b;
  }

 private:
  bool is_old_;
  bool is_on_;
  std::optional<int64_t> axis_;
};

}  // namespace ephost_cpu
