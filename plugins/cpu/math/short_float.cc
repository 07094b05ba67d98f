#include "plugins/cpu/math/short_float.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plugins/cpu/core/types.h"

namespace ephost_cpu {
namespace {

// The layout of a type: a sign, the exponent, and `mantissa` bits, in codes up to `largest` for
// finite numbers. `infinity` and `nan` are without their sign; `infinity` is 0 if the type has
// none. Types "uz" have no negative zero; its code is their only NaN.
struct Format {
  int mantissa;
  int bias;
  uint8_t sign;
  uint8_t largest;
  uint8_t infinity;
  uint8_t nan;
  bool is_unsigned_zero;
};

constexpr Format kE4M3 = {3, 7, 0x80, 0x7e, 0, 0x7f, false};
constexpr Format kE4M3Uz = {3, 8, 0x80, 0x7f, 0, 0x80, true};
constexpr Format kE5M2 = {2, 15, 0x80, 0x7b, 0x7c, 0x7f, false};
constexpr Format kE5M2Uz = {2, 16, 0x80, 0x7f, 0, 0x80, true};
constexpr Format kE2M1 = {1, 1, 0x08, 0x07, 0, 0, false};

const Format& format_of(int32_t element_type) {
  switch (element_type) {
    case EPH_ELEMENT_FLOAT8E4M3FN:
      return kE4M3;
    case EPH_ELEMENT_FLOAT8E4M3FNUZ:
      return kE4M3Uz;
    case EPH_ELEMENT_FLOAT8E5M2:
      return kE5M2;
    case EPH_ELEMENT_FLOAT8E5M2FNUZ:
      return kE5M2Uz;
    case EPH_ELEMENT_FLOAT4E2M1:
      return kE2M1;
    default:
      fail_unsupported(type_name(element_type) + " is not a short floating-point type");
  }
}

float decode(const Format& format, uint8_t code) {
  const int magnitude = code & (format.sign - 1);
  const float sign = (code & format.sign) != 0 ? -1.0F : 1.0F;
  if (format.is_unsigned_zero && code == format.nan) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude > format.largest) {
    if (format.infinity != 0 && magnitude == format.infinity) {
      return sign * std::numeric_limits<float>::infinity();
    }
    return std::numeric_limits<float>::quiet_NaN();
  }
  const int exponent = magnitude >> format.mantissa;
  const int fraction = magnitude & ((1 << format.mantissa) - 1);
  const int whole = exponent == 0 ? fraction : fraction + (1 << format.mantissa);
  const int shift = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa;
  return sign * std::ldexp(static_cast<float>(whole), shift);
}

template <class T>
uint8_t encode(const Format& format, T value, bool saturate) {
  if (std::isnan(value)) {
    const bool keeps_sign = !format.is_unsigned_zero && format.nan != 0 && std::signbit(value);
    return static_cast<uint8_t>(format.nan | (keeps_sign ? format.sign : 0));
  }
  const uint8_t sign = std::signbit(value) ? format.sign : uint8_t{0};
  const uint8_t beyond = saturate || format.nan == 0 ? static_cast<uint8_t>(sign | format.largest)
                         : format.infinity != 0      ? static_cast<uint8_t>(sign | format.infinity)
                         : format.is_unsigned_zero   ? format.nan
                                                     : static_cast<uint8_t>(sign | format.nan);
  if (std::isinf(value)) return format.is_unsigned_zero ? format.nan : beyond;
  const T magnitude = std::fabs(value);
  const int lowest = 1 - format.bias;
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  if (exponent > 2 * format.bias + 1) return beyond;
  // In units of the last bit; the sum carries into the exponent.
  const auto steps =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa - exponent)));
  const int code = ((exponent - lowest) << format.mantissa) + steps;
  if (code > format.largest) return beyond;
  if (code == 0 && format.is_unsigned_zero) return 0;
  return static_cast<uint8_t>(sign | code);
}

using Numbers = std::array<float, 256>;

const Numbers& numbers_of(int32_t element_type) {
  const auto make = [](const Format& format) {
    Numbers numbers;
    for (std::size_t code = 0; code < numbers.size(); ++code) {
      numbers[code] = decode(format, static_cast<uint8_t>(code));
    }
    return numbers;
  };
  static const std::array<Numbers, 5> tables = {make(kE4M3), make(kE4M3Uz), make(kE5M2),
                                                make(kE5M2Uz), make(kE2M1)};
  return tables[element_type == EPH_ELEMENT_FLOAT4E2M1
                    ? 4
                    : static_cast<std::size_t>(element_type - EPH_ELEMENT_FLOAT8E4M3FN)];
}

template <class T>
void encode_all(int32_t element_type, const T* values, uint8_t* codes, int64_t count,
                bool saturate) {
  const Format& format = format_of(element_type);
  for (int64_t i = 0; i < count; ++i) codes[i] = encode(format, values[i], saturate);
}

}  // namespace

bool is_short_float(int32_t element_type) {
  return ((kFloat8 | kTypeSet<EPH_ELEMENT_FLOAT4E2M1>)&eph::type_bit(element_type)) != 0;
}

void decode_short_floats(int32_t element_type, const uint8_t* codes, float* values, int64_t count) {
  const Numbers& numbers = numbers_of(element_type);
  for (int64_t i = 0; i < count; ++i) values[i] = numbers[codes[i]];
}

void encode_short_floats(int32_t element_type, const float* values, uint8_t* codes, int64_t count,
                         bool saturate) {
  encode_all(element_type, values, codes, count, saturate);
}

void encode_short_floats(int32_t element_type, const double* values, uint8_t* codes, int64_t count,
                         bool saturate) {
  encode_all(element_type, values, codes, count, saturate);
}

}  // namespace ephost_cpu
