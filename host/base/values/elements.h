// The elements of a tensor as numbers and as text, whatever their type: for summaries and
// comparisons. Slow; no run uses it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host/base/values/value_view.h"

namespace ephost {

// Types whose elements are compared within a tolerance: all floating-point and complex ones.
[[nodiscard]] bool is_inexact(ElementType type);

// Reads one tensor, whose bytes it borrows. An element of a complex type counts as two.
class TensorElements {
 public:
  explicit TensorElements(ValueView tensor);

  [[nodiscard]] uint64_t count() const { return count_; }
  // A 64-bit integer may lose its last digits. NaN for a string.
  [[nodiscard]] double number(uint64_t index) const;
  // As a person would write it: "1.5", "true", "-7", "\"text\"".
  [[nodiscard]] std::string text(uint64_t index) const;

 private:
  template <class T>
  [[nodiscard]] T load(uint64_t index) const;
  // The bits of an element of less than a byte.
  [[nodiscard]] uint32_t packed(uint64_t index) const;

  ValueView tensor_;
  uint64_t count_ = 0;
};

// "[1,3,224,224]"; "[]" for a scalar.
[[nodiscard]] std::string shape_text(std::span<const int64_t> shape);
// "float[1,3,224,224]"; "seq(float) of 3", "map(string) of 2", "none".
[[nodiscard]] std::string type_text(const ValueView& value);
// The indices of an element of a tensor of that shape: "[0,2,1]".
[[nodiscard]] std::string position_text(std::span<const int64_t> shape, uint64_t index);

}  // namespace ephost
