// A value that goes into a body or comes out of it: a view, and the memory behind it if it is
// owned. Shared between iterations, so that a value that a body passes on is not copied.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost::runtime {

struct Held {
  eph_value view = {};  // its shape is `shape`
  std::vector<int64_t> shape;
  // Owns the memory. If empty, the memory is that of an input, a captured value or a constant, all
  // of which outlive the step.
  Value value;
  std::vector<eph_string> texts;  // views of text that belongs to others, where they were gathered
};

// Not thread-safe: belongs to one run of one step.
using HeldValue = std::shared_ptr<Held>;

// True if the value has no other owner, so that it may be changed or given away.
[[nodiscard]] inline bool is_exclusive(const HeldValue& held) { return held.use_count() == 1; }

// A view of `value`, whose memory outlives the step; only the shape is copied.
[[nodiscard]] HeldValue hold_borrowed(const eph_value& value);
void set_borrowed(Held& held, const eph_value& value, std::span<const int64_t> shape);

// Holds a value together with its memory.
[[nodiscard]] HeldValue hold_value(Value value);

// The held value: moved out if it has no other owner, a copy of a tensor that is only borrowed,
// else a reference.
[[nodiscard]] Result<Value> take_value(const HeldValue& held);

// A tensor of one element; OUT_OF_MEMORY where memory runs out.
[[nodiscard]] Result<HeldValue> hold_scalar(ElementType type, std::vector<int64_t> shape);

// Whether type and shape are equal.
[[nodiscard]] bool same_tensor_type(const eph_value& a, const eph_value& b);

}  // namespace ephost::runtime
