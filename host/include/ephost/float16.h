// Float16 and BFloat16: numbers of 16 bits as tensors hold them, converted to float and back. They
// store and convert; computations are in float. As ONNX Runtime's Float16_t and BFloat16_t.
#pragma once

#include <bit>
#include <cstdint>

namespace ephost {

// What both formats have in common: a sign bit, kExponentBits of exponent and the rest of mantissa.
// Comparisons are those of the numbers: NaN is equal to nothing and less than nothing, and both
// zeros are equal.
template <class Number, int kExponentBits>
class ShortFloat {
 public:
  // The number with these bits.
  [[nodiscard]] static constexpr Number from_bits(uint16_t bits) {
    Number number;
    number.val = bits;
    return number;
  }
  [[nodiscard]] constexpr uint16_t to_bits() const { return self().val; }

  [[nodiscard]] constexpr bool is_negative() const { return (to_bits() & kSign) != 0; }
  [[nodiscard]] constexpr bool is_nan() const { return magnitude() > kExponent; }
  [[nodiscard]] constexpr bool is_finite() const { return magnitude() < kExponent; }
  [[nodiscard]] constexpr bool is_infinity() const { return magnitude() == kExponent; }
  [[nodiscard]] constexpr bool is_positive_infinity() const { return to_bits() == kExponent; }
  [[nodiscard]] constexpr bool is_negative_infinity() const {
    return to_bits() == (kSign | kExponent);
  }
  [[nodiscard]] constexpr bool is_zero() const { return magnitude() == 0; }
  [[nodiscard]] constexpr bool is_nan_or_zero() const { return is_nan() || is_zero(); }
  // Neither zero, subnormal, infinite nor NaN.
  [[nodiscard]] constexpr bool is_normal() const {
    return is_finite() && (magnitude() & kExponent) != 0;
  }
  [[nodiscard]] constexpr bool is_subnormal() const {
    return !is_zero() && (magnitude() & kExponent) == 0;
  }
  // NaN keeps its other bits.
  [[nodiscard]] constexpr Number abs() const { return from_bits(magnitude()); }
  [[nodiscard]] constexpr Number negate() const {
    return from_bits(static_cast<uint16_t>(to_bits() ^ kSign));
  }

  [[nodiscard]] explicit constexpr operator float() const { return self().to_float(); }

  [[nodiscard]] friend constexpr bool operator==(const Number& a, const Number& b) {
    return a.to_float() == b.to_float();
  }
  [[nodiscard]] friend constexpr bool operator!=(const Number& a, const Number& b) {
    return !(a == b);
  }
  [[nodiscard]] friend constexpr bool operator<(const Number& a, const Number& b) {
    return a.to_float() < b.to_float();
  }

 protected:
  static constexpr uint16_t kSign = 0x8000;
  static constexpr uint16_t kExponent = ((1U << kExponentBits) - 1) << (15 - kExponentBits);

 private:
  [[nodiscard]] constexpr const Number& self() const { return static_cast<const Number&>(*this); }
  [[nodiscard]] constexpr uint16_t magnitude() const { return to_bits() & 0x7fff; }
};

// IEEE 754's binary16: 5 bits of exponent, 10 of mantissa; finite up to 65504.
struct Float16 : ShortFloat<Float16, 5> {
  constexpr Float16() = default;
  // Rounds to nearest, ties to even; 65520 and more become infinite. NaN becomes a quiet NaN of the
  // same sign.
  explicit constexpr Float16(float number) : val(narrow(number)) {}

  // Exact.
  [[nodiscard]] constexpr float to_float() const {
    // The exponent moves from bias 15 to bias 127 by a multiplication, which also normalizes
    // subnormal numbers; infinity and NaN keep their exponent of ones.
    const uint32_t sign = uint32_t{val & 0x8000U} << 16;
    const uint32_t shifted = uint32_t{val & 0x7fffU} << 13;
    const float scaled = std::bit_cast<float>(shifted) * 0x1p112F;
    const bool is_special = shifted >= 0x0f800000;
    return std::bit_cast<float>(
        sign | (is_special ? shifted | 0x70000000U : std::bit_cast<uint32_t>(scaled)));
  }

  uint16_t val = 0;

 private:
  static constexpr uint16_t narrow(float number) {
    const auto bits = std::bit_cast<uint32_t>(number);
    const uint32_t sign = (bits >> 16) & kSign;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);      // NaN
    if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | kExponent);  // 65520
    if (magnitude >= 0x38800000) {
      const uint32_t tie = 0xfff + ((magnitude >> 13) & 1);
      return static_cast<uint16_t>(sign | (magnitude + tie - 0x38000000) >> 13);
    }
    // Below 2^-14 numbers are multiples of 2^-24, which is the value of the sum's last bit.
    const float in_steps = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(in_steps) - std::bit_cast<uint32_t>(0.5F)));
  }
};

// The upper half of a float: 8 bits of exponent, 7 of mantissa.
struct BFloat16 : ShortFloat<BFloat16, 8> {
  constexpr BFloat16() = default;
  // Rounds to nearest, ties to even. NaN becomes a quiet NaN of the same sign.
  explicit constexpr BFloat16(float number) : val(narrow(number)) {}

  // Exact.
  [[nodiscard]] constexpr float to_float() const {
    return std::bit_cast<float>(uint32_t{val} << 16);
  }

  uint16_t val = 0;

 private:
  static constexpr uint16_t narrow(float number) {
    const auto bits = std::bit_cast<uint32_t>(number);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return static_cast<uint16_t>((is_nan ? bits | 0x400000 : rounded) >> 16);
  }
};

static_assert(sizeof(Float16) == sizeof(uint16_t) && sizeof(BFloat16) == sizeof(uint16_t));

}  // namespace ephost
