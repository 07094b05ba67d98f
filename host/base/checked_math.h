// Integer arithmetic on numbers that come from a file, a plugin or a user: each function returns
// the result, or nothing when it overflows. It reports no error itself, since only the caller knows
// what the number means.
//
// This is our own because the standard library gets saturating and overflow-checked arithmetic only
// in C++26; the compiler builtins used here do the work, so a safe-integer library would add a
// dependency for a few lines.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace ephost {

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_sub(T a, T b) {
  T difference{};
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Returns `value` as a To, or nothing when To cannot represent it.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr std::optional<To> checked_cast(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

// Returns the smallest multiple of `alignment` that is at least `value`, or nothing when that
// overflows or `alignment` is not a power of two.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_align_up(T value, T alignment) {
  if (!std::has_single_bit(alignment)) return std::nullopt;
  const T mask = alignment - 1;
  const std::optional<T> raised = checked_add(value, mask);
  if (!raised) return std::nullopt;
  return static_cast<T>(*raised & static_cast<T>(~mask));
}

// Returns the number of elements of a shape: 1 for a scalar, 0 as soon as one dimension is 0.
// Returns nothing when a dimension is negative or the product overflows.
[[nodiscard]] constexpr std::optional<int64_t> checked_product(std::span<const int64_t> dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) {
    return std::nullopt;
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

// Whether [offset, offset + size) lies within [0, total), computed without overflow.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace ephost
