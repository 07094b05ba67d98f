#include "tests/unit/plugins/cpu/tensor_matcher.h"

namespace ephost::test {
namespace {

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const double mantissa = bits & 0x3ff;
  double magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 0) magnitude = std::ldexp(mantissa, -24);
  if (exponent == 31) magnitude = mantissa == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat_to_double(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

bool agree(double actual, double expected, double relative, double absolute) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  return std::fabs(actual - expected) <= absolute + relative * std::fabs(expected);
}

template <class T, class ToDouble>
std::string compare_reals(const Tensor& actual, const Tensor& expected, double relative,
                          double absolute, ToDouble to_double) {
  const std::vector<T> left = values_of<T>(actual);
  const std::vector<T> right = values_of<T>(expected);
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double a = to_double(left[i]);
    const double b = to_double(right[i]);
    if (!agree(a, b, relative, absolute)) {
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(b);
    }
  }
  return "";
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, double relative,
                       double absolute) {
  if (actual.type != expected.type) return "type " + std::to_string(actual.type);
  if (actual.shape != expected.shape) return "shape " + ::testing::PrintToString(actual.shape);
  if (actual.strings != expected.strings) return ::testing::PrintToString(actual.strings);
  if (actual.bytes.size() != expected.bytes.size()) return "number of bytes";
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (expected.type) {
    case EPH_ELEMENT_FLOAT:
      return compare_reals<float>(actual, expected, relative, absolute, same);
    case EPH_ELEMENT_DOUBLE:
      return compare_reals<double>(actual, expected, relative, absolute, same);
    case EPH_ELEMENT_FLOAT16:
      return compare_reals<uint16_t>(actual, expected, relative, absolute, half_to_double);
    case EPH_ELEMENT_BFLOAT16:
      return compare_reals<uint16_t>(actual, expected, 1e-2, absolute, bfloat_to_double);
    default:
      return actual.bytes == expected.bytes
                 ? ""
                 : "bytes " + ::testing::PrintToString(actual.bytes) + " are not " +
                       ::testing::PrintToString(expected.bytes);
  }
}

}  // namespace ephost::test
