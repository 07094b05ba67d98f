#include "host/layers/validate/runs/result_comparison.h"

#include <ephost/float16.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ephost::layers {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-5;

bool agree(double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= kAbsolute + kRelative * std::abs(expected);
}

template <class Stored>
double number_at(std::span<const std::byte> bytes, size_t at) {
  Stored stored;
  std::memcpy(&stored, bytes.data() + at, sizeof(stored));
  return static_cast<double>(stored);
}
template <class Stored>
double short_number_at(std::span<const std::byte> bytes, size_t at) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, sizeof(bits));
  return static_cast<double>(static_cast<float>(Stored::from_bits(bits)));
}

template <size_t kSize, class Number>
std::optional<uint64_t> compare(std::span<const std::byte> actual,
                                std::span<const std::byte> expected, Number number) {
  for (size_t at = 0; at + kSize <= expected.size(); at += kSize) {
    if (!agree(number(actual, at), number(expected, at))) return at / kSize;
  }
  return std::nullopt;
}

size_t integer_size(int32_t element_type) {
  switch (element_type) {
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
      return 2;
    case EPH_ELEMENT_INT32:
    case EPH_ELEMENT_UINT32:
      return 4;
    case EPH_ELEMENT_INT64:
    case EPH_ELEMENT_UINT64:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

std::optional<uint64_t> first_difference(std::span<const std::byte> actual,
                                         std::span<const std::byte> expected,
                                         int32_t element_type) {
  if (std::ranges::equal(actual, expected)) return std::nullopt;
  switch (element_type) {
    case EPH_ELEMENT_FLOAT:
    case EPH_ELEMENT_COMPLEX64:  // two numbers each
      return compare<sizeof(float)>(actual, expected, &number_at<float>);
    case EPH_ELEMENT_DOUBLE:
    case EPH_ELEMENT_COMPLEX128:
      return compare<sizeof(double)>(actual, expected, &number_at<double>);
    case EPH_ELEMENT_FLOAT16:
      return compare<sizeof(uint16_t)>(actual, expected, &short_number_at<Float16>);
    case EPH_ELEMENT_BFLOAT16:
      return compare<sizeof(uint16_t)>(actual, expected, &short_number_at<BFloat16>);
    default: {
      const auto differing = std::mismatch(actual.begin(), actual.end(), expected.begin());
      return static_cast<size_t>(differing.first - actual.begin()) / integer_size(element_type);
    }
  }
}

}  // namespace ephost::layers
