// Comparison of two results of one computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "host/base/values/compare.h"

namespace ephost::layers {

// How far two results may lie apart: as for `ephost test`, and by two units in the last place of
// types that have fewer digits than that.
[[nodiscard]] Tolerance tolerance_of(int32_t element_type);

// The first element in which they differ (of complex numbers, the first part of one; of integers of
// less than a byte, the first byte); nothing if they agree: floating-point numbers within their
// tolerance, everything else exactly. Both have the same size and element type (EPH_ELEMENT_*).
[[nodiscard]] std::optional<uint64_t> first_difference(std::span<const std::byte> actual,
                                                       std::span<const std::byte> expected,
                                                       int32_t element_type);

}  // namespace ephost::layers
