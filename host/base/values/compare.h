// Comparison of the outputs of a run with the expected ones: for `ephost test`, the conformance kit
// and the layer "validate".
#pragma once

#include <optional>
#include <string>

#include "host/base/values/value_view.h"

namespace ephost {

// Two numbers agree if |actual - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-5;
};

// NaN agrees with NaN, and an infinity only with itself.
[[nodiscard]] bool agree(double actual, double expected, const Tolerance& tolerance);

// The first difference in one line, or nothing. Sequences and maps are compared part by part. Types
// and shapes must be equal; integers, bools and strings too; floating-point numbers agree within
// the tolerance.
[[nodiscard]] std::optional<std::string> find_difference(const ValueView& actual,
                                                         const ValueView& expected,
                                                         const Tolerance& tolerance);

}  // namespace ephost
