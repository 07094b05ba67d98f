// Integer arithmetic on numbers that came from a file, a plugin or a user: the result, or nothing
// when it does not fit. It reports no error itself; the caller knows what the number meant.
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

// `value` as a To, or nothing when To cannot hold it.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr std::optional<To> checked_cast(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

// The smallest multiple of `alignment` that is not below `value`. Nothing when that does not fit or
// `alignment` is not a power of two.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_align_up(T value, T alignment) {
  if (!std::has_single_bit(alignment)) return std::nullopt;
  const T mask = alignment - 1;
  const std::optional<T> raised = checked_add(value, mask);
  if (!raised) return std::nullopt;
  return static_cast<T>(*raised & static_cast<T>(~mask));
}

// The number of elements of a shape: 1 for no dimension, 0 as soon as one dimension is 0. Nothing
// when a dimension is negative or the product does not fit.
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

// Whether [offset, offset + size) lies inside [0, total), without overflow.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace ephost
