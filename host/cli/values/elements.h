// The elements of a tensor as numbers and as text, whatever their type: for summaries and
// comparisons. Slow; no run uses it.
#pragma once

#include <ephost/value.h>

#include <cstdint>
#include <string>

namespace ephost::cli {

// Types whose elements are compared within a tolerance: all floating-point and complex ones.
[[nodiscard]] bool is_inexact(ElementType type);

// Reads one tensor, which it borrows. An element of a complex type counts as two.
class Elements {
 public:
  explicit Elements(const Value& value);

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

  const Value& value_;
  ElementType type_;
  uint64_t count_ = 0;
};

// "[1,3,224,224]"; "[]" for a scalar.
[[nodiscard]] std::string shape_text(std::span<const int64_t> shape);
// "float[1,3,224,224]"; "seq(float) of 3", "map(string) of 2", "none".
[[nodiscard]] std::string type_text(const Value& value);
// The indices of an element of a tensor of that shape: "[0,2,1]".
[[nodiscard]] std::string position_text(std::span<const int64_t> shape, uint64_t index);

// Statistics of a tensor; empty for other values.
struct Summary {
  uint64_t nans = 0;
  uint64_t numbers = 0;  // number of elements that are not NaN
  // Over these elements; 0 if all elements are NaN.
  double min = 0;
  double max = 0;
  double mean = 0;
};
[[nodiscard]] Summary summarize(const Value& value);

// "1.5, 2, nan, ..." with at most `limit` elements; of a sequence or map at most `limit` parts with
// as many elements each: "[1, 2], [3]".
[[nodiscard]] std::string first_elements(const Value& value, uint64_t limit);

}  // namespace ephost::cli
