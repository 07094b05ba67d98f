// Values of runs beside bounded numbers.
#pragma once

#include <ephost/value.h>

#include <optional>
#include <string>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {

// The first element that the bounds do not allow, or nothing.
[[nodiscard]] std::optional<std::string> find_wrong_element(const Value& result,
                                                            const BoundedTensor& expected);

[[nodiscard]] Value to_value(const BoundedTensor& tensor);

}  // namespace ephost::conformance
