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
uint8_t encode(const Format& format, T value, Narrowing narrowing) {
  const bool has_nan = format.nan != 0;
  if (std::isnan(value) && !has_nan) return narrowing.wraps ? format.sign : format.largest;
  if (std::isnan(value)) {
    const bool keeps_sign = !format.is_unsigned_zero && std::signbit(value);
    return static_cast<uint8_t>(format.nan | (keeps_sign ? format.sign : 0));
  }
  const uint8_t sign = std::signbit(value) ? format.sign : uint8_t{0};
  const uint8_t beyond = narrowing.saturate || !has_nan
                             ? static_cast<uint8_t>(sign | format.largest)
                         : format.infinity != 0    ? static_cast<uint8_t>(sign | format.infinity)
                         : format.is_unsigned_zero ? format.nan
                                                   : static_cast<uint8_t>(sign | format.nan);
  if (std::isinf(value)) return beyond;
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

constexpr uint8_t kPowerNan = 0xff;  // of float8e8m0

float decode_power(uint8_t code) {
  return code == kPowerNan ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, code - 127);
}

template <class T>
uint8_t encode_power(T value, Narrowing narrowing) {
  if (std::isnan(value)) return kPowerNan;
  if (value < static_cast<T>(0x1p-127)) return narrowing.saturate ? uint8_t{0} : kPowerNan;
  if (value > static_cast<T>(0x1p127))
    return narrowing.saturate ? uint8_t{kPowerNan - 1} : kPowerNan;
  int exponent = 0;
  const T fraction = std::frexp(value, &exponent);  // in [1/2, 1)
  const bool goes_up = (narrowing.mode == RoundMode::kUp && fraction > T{0.5}) ||
                       (narrowing.mode == RoundMode::kNearest && fraction >= T{0.75});
  return static_cast<uint8_t>(exponent - 1 + 127 + (goes_up ? 1 : 0));
}

using Numbers = std::array<float, 256>;

const Numbers& number_table(int32_t element_type) {
  const auto make = [](const auto& decode_code) {
    Numbers numbers;
    for (std::size_t code = 0; code < numbers.size(); ++code) {
      numbers[code] = decode_code(static_cast<uint8_t>(code));
    }
    return numbers;
  };
  const auto of = [&](const Format& format) {
    return make([&](uint8_t code) { return decode(format, code); });
  };
  static const std::array<Numbers, 6> tables = {of(kE4M3),   of(kE4M3Uz), of(kE5M2),
                                                of(kE5M2Uz), of(kE2M1),   make(decode_power)};
  const int first = element_type >= EPH_ELEMENT_FLOAT4E2M1 ? EPH_ELEMENT_FLOAT4E2M1 - 4
                                                           : EPH_ELEMENT_FLOAT8E4M3FN;
  return tables[static_cast<std::size_t>(element_type - first)];
}

template <class T>
void encode_all(int32_t element_type, const T* values, uint8_t* codes, int64_t count,
                Narrowing narrowing) {
  if (element_type == EPH_ELEMENT_FLOAT8E8M0) {
    for (int64_t i = 0; i < count; ++i) codes[i] = encode_power(values[i], narrowing);
    return;
  }
  const Format& format = format_of(element_type);
  for (int64_t i = 0; i < count; ++i) codes[i] = encode(format, values[i], narrowing);
}

}  // namespace

bool is_short_float(int32_t element_type) {
  constexpr uint64_t kTypes = kFloat8 | kPowers | kTypeSet<EPH_ELEMENT_FLOAT4E2M1>;
  return (kTypes & eph::type_bit(element_type)) != 0;
}

void decode_short_floats(int32_t element_type, const uint8_t* codes, float* values, int64_t count) {
  const Numbers& numbers = number_table(element_type);
  for (int64_t i = 0; i < count; ++i) values[i] = numbers[codes[i]];
}

void encode_short_floats(int32_t element_type, const float* values, uint8_t* codes, int64_t count,
                         Narrowing narrowing) {
  encode_all(element_type, values, codes, count, narrowing);
}

void encode_short_floats(int32_t element_type, const double* values, uint8_t* codes, int64_t count,
                         Narrowing narrowing) {
  encode_all(element_type, values, codes, count, narrowing);
}

}  // namespace ephost_cpu
