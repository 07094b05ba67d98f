// Values of the public API as text and numbers: for summaries and comparisons. Slow; no run uses
// it.
#pragma once

#include <ephost/value.h>

#include <cstdint>
#include <string>

#include "host/base/values/elements.h"

namespace ephost::cli {

// Borrows the bytes of the value.
[[nodiscard]] ValueView view_of(const Value& value);

// The elements of a tensor, which it borrows.
class Elements : public TensorElements {
 public:
  explicit Elements(const Value& value) : TensorElements(view_of(value)) {}
};

// As ephost::type_text.
[[nodiscard]] inline std::string type_text(const Value& value) {
  return ephost::type_text(view_of(value));
}

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
