// Compares two results of one computation, as `ephost test` compares results with expected ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ephost::layers {

// The first element in which they differ (of complex numbers, the first part of one; of elements of
// less than a byte, the first byte); nothing if they agree: floating-point numbers within
// 1e-5 + 1e-3 * |expected|, where NaN agrees with NaN, everything else exactly. Both have the same
// size and element type (EPH_ELEMENT_*).
[[nodiscard]] std::optional<uint64_t> first_difference(std::span<const std::byte> actual,
                                                       std::span<const std::byte> expected,
                                                       int32_t element_type);

}  // namespace ephost::layers
