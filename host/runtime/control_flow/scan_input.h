// A tensor that a Scan goes through: one slice at a time along an axis.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <vector>

#include "host/runtime/values/held_value.h"

namespace ephost::runtime {

class ScanInput {
 public:
  // Borrows the tensor. INVALID_ARGUMENT where it has no such axis (negative: from its end);
  // NOT_IMPLEMENTED where slices begin inside a byte.
  static Result<ScanInput> create(const eph_value& value, int64_t axis, bool reversed);

  [[nodiscard]] int64_t length() const { return length_; }
  // Slice `index`, counted in the direction of the scan. Slices along the outermost axis are views;
  // others are copied together.
  [[nodiscard]] Result<HeldValue> slice(int64_t index);

 private:
  [[nodiscard]] Status gather(uint64_t position);

  eph_value value_ = {};
  std::vector<int64_t> shape_;  // of a slice
  int64_t length_ = 0;
  bool reversed_ = false;
  uint64_t outer_ = 1;        // product of the extents before the axis
  uint64_t inner_bytes_ = 0;  // of those behind it
  HeldValue held_;            // the last slice, changed where nobody else holds it
};

}  // namespace ephost::runtime
