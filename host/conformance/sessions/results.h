// Results of runs, compared with each other.
#pragma once

#include <ephost/status.h>

#include <optional>
#include <string>

#include "host/base/values/compare.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {

// Borrows the bytes of the value.
[[nodiscard]] ValueView view_of(const Value& value);

// The first difference of two runs beyond the tolerance of `ephost test`, or nothing.
[[nodiscard]] std::optional<std::string> find_difference(const Values& actual,
                                                         const Values& expected);
// Whether types, shapes and bytes are the same.
[[nodiscard]] bool are_identical(const Values& a, const Values& b);

// Why the outputs of a run on that set are wrong: what the sample knows, or else what the CPU
// provider makes of the same inputs (`reference`, which may be null if the sample knows).
[[nodiscard]] std::optional<std::string> find_wrong(const Sample& sample, size_t set,
                                                    const Values& outputs, Session* reference);

}  // namespace ephost::conformance
