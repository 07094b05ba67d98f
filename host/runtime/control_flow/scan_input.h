// A tensor that a Scan iterates over, one slice at a time along an axis.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <vector>

#include "host/runtime/values/held_value.h"

namespace ephost::runtime {

class ScanInput {
 public:
  // Borrows the tensor. A negative axis counts from the end. INVALID_ARGUMENT if there is no such
  // axis; NOT_IMPLEMENTED if slices would begin inside a byte.
  static Result<ScanInput> create(const eph_value& value, int64_t axis, bool reversed);

  [[nodiscard]] int64_t length() const { return length_; }
  // Slice `index`, counted in the direction of the scan. A slice along the outermost axis is a
  // view; any other is a copy.
  [[nodiscard]] Result<HeldValue> slice(int64_t index);

 private:
  [[nodiscard]] Status gather(uint64_t position);

  eph_value value_ = {};
  std::vector<int64_t> shape_;  // of a slice
  int64_t length_ = 0;
  bool reversed_ = false;
  uint64_t outer_ = 1;        // product of the extents before the axis
  uint64_t inner_bytes_ = 0;  // bytes after the axis
  HeldValue held_;            // the last slice, changed where it has no other owner
};

}  // namespace ephost::runtime
