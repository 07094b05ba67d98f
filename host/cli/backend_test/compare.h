// Comparison of the outputs of a run with the expected ones, for `ephost test`.
#pragma once

#include <ephost/value.h>

#include <optional>
#include <string>

#include "host/base/values/compare.h"

namespace ephost::cli {

// As ephost::find_difference.
[[nodiscard]] std::optional<std::string> find_difference(const Value& actual, const Value& expected,
                                                         const Tolerance& tolerance);

}  // namespace ephost::cli
