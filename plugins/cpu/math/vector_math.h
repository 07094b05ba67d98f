// exp, log, tanh, sigmoid, erf, sine and cosine in single precision without branches, so that loops
// over them are vectorised. Errors stay below 4 units in the last place, those of erf below 2e-7.
// Infinities, NaN and subnormal results come out as those of <cmath>. For double: <cmath> itself.
#pragma once

#include <cmath>
#include <cstdint>

#include "plugins/cpu/core/simd.h"

namespace ephost_cpu {

// 2^n for n in [-126, 127]; zero for n = -127.
CPU_INLINE float power_of_two(int32_t n) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(n + 127) << 23);
}

// e^x = 2^n * e.
struct ExpParts {
  float e;
  int32_t n;
};

// e^x = 2^n * e^r with n an integer and |r| <= log(2)/2; the polynomial approximates (e^r - 1 -
// r)/r^2.
CPU_INLINE ExpParts split_exp(float x) {
  constexpr float kLog2e = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float q =
      (((1.394111e-3f * r + 8.363175e-3f) * r + 4.1666374e-2f) * r + 1.6666576e-1f) * r + 0.5f;
  return {1.0f + (r + r * r * q),
          __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kRound)};
}

CPU_INLINE float fast_exp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const ExpParts parts = split_exp(x);
  // 2^n in two factors, since n leaves the range of an exponent at both ends.
  const int32_t half = parts.n >> 1;
  return parts.e * power_of_two(half) * power_of_two(parts.n - half);
}
CPU_INLINE double fast_exp(double x) { return std::exp(x); }

// The same for x <= 0 (or NaN), with zero for what would be subnormal: half the instructions.
CPU_INLINE float fast_exp_negative(float x) {
  x = x < -88.02969f ? -88.02969f : x;  // -127 * log(2): the smallest n, whose power is zero
  const ExpParts parts = split_exp(x);
  return parts.e * power_of_two(parts.n);
}
CPU_INLINE double fast_exp_negative(double x) { return std::exp(x); }

CPU_INLINE float fast_sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
CPU_INLINE double fast_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

CPU_INLINE float fast_tanh(float x) {
  const float a = std::fabs(x);
  const float u = x * x;
  const float near =
      x +
      x * u *
          ((((-6.0100532e-3f * u + 2.0938126e-2f) * u - 5.3838704e-2f) * u + 1.3332692e-1f) * u -
           3.3333328e-1f);
  const float far = std::copysign(1.0f - 2.0f / (fast_exp(a + a) + 1.0f), x);
  return a < 0.625f ? near : far;
}
CPU_INLINE double fast_tanh(double x) { return std::tanh(x); }

// Near zero an odd polynomial, beyond one 1 - exp(p(|x|)) with p fitted to log(erfc).
CPU_INLINE float fast_erf(float x) {
  const float a = std::fabs(x);
  const float u = x * x;
  const float near =
      x * ((((((7.8891157e-5f * u - 8.0208399e-4f) * u + 5.1895352e-3f) * u - 2.6854444e-2f) * u +
             1.1283600e-1f) *
                u -
            3.7612626e-1f) *
               u +
           1.1283791f);
  const float c = a > 4.0f ? 4.0f : a;
  const float p =
      (((((((-1.6974570e-7f * c - 1.9262738e-5f) * c + 4.2650640e-4f) * c - 4.1537760e-3f) * c +
          2.5101762e-2f) *
             c -
         1.0827848e-1f) *
            c -
        6.3333285e-1f) *
           c -
       1.1295273f) *
          c +
      1.7812417e-4f;
  const float far = std::copysign(1.0f - fast_exp(p), x);
  return a < 1.0f ? near : (a >= 1.0f ? far : x);
}
CPU_INLINE double fast_erf(double x) { return std::erf(x); }

// log(x) = e * log(2) + log(m) with m in [sqrt(1/2), sqrt(2)); the polynomial approximates
// (log(1 + f) - f + f^2/2)/f^3.
CPU_INLINE float fast_log(float x) {
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  const bool is_subnormal = x < 0x1p-126f;
  const uint32_t bits = __builtin_bit_cast(uint32_t, is_subnormal ? x * 0x1p23f : x);
  const int32_t exponent = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float f = __builtin_bit_cast(float, bits - (static_cast<uint32_t>(exponent) << 23)) - 1.0f;
  const float p =
      ((((((-8.1015583e-2f * f + 1.2712308e-1f) * f - 1.2972239e-1f) * f + 1.4202174e-1f) * f -
         1.6642248e-1f) *
            f +
        2.0001469e-1f) *
           f -
       2.5000297e-1f) *
          f +
      3.3333329e-1f;
  const float n = static_cast<float>(exponent) - (is_subnormal ? 23.0f : 0.0f);
  const float y = (f + (f * f * (f * p - 0.5f) + n * kLn2Low)) + n * kLn2High;
  const float special = x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : x;
  return x > 0 && x < __builtin_inff() ? y : special;
}
CPU_INLINE double fast_log(double x) { return std::log(x); }

// log(1 + x) for x >= 0: the quotient compensates for the digits of x that 1 + x loses.
CPU_INLINE float fast_log1p(float x) {
  const float u = 1.0f + x;
  const float lost = u - 1.0f;
  return lost == 0 ? x : fast_log(u) * (x / lost);
}
CPU_INLINE double fast_log1p(double x) { return std::log1p(x); }

// Sine and cosine are accurate up to here; arguments that are larger, infinite or NaN need <cmath>.
inline constexpr float kLargestAngle = 3000;

// sin(x + quarters * pi/2). With n the nearest multiple of pi/2, x - n * pi/2 is computed in three
// parts, of which the first two are exact.
CPU_INLINE float turned_sine(float x, int32_t quarters) {
  constexpr float kRound = 12582912.0f;  // as in fast_exp
  const float shifted = x * 0.636619772f + kRound;
  const float n = shifted - kRound;
  const float r = ((x - n * 0x1.921p+0f) - n * 0x1.f6ap-13f) - n * 0x1.110b46p-26f;
  const int32_t turn = __builtin_bit_cast(int32_t, shifted) + quarters;
  const float u = r * r;
  const float sine =
      r +
      r * u * (((2.72469071e-6f * u - 1.98400634e-4f) * u + 8.33333183e-3f) * u - 1.66666667e-1f);
  const float cosine =
      (1.0f - 0.5f * u) + u * u * ((2.45454693e-5f * u - 1.38882916e-3f) * u + 4.16666646e-2f);
  const float magnitude = (turn & 1) != 0 ? cosine : sine;
  const auto sign = (static_cast<uint32_t>(turn) & 2u) << 30;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, magnitude) ^ sign);
}

}  // namespace ephost_cpu
