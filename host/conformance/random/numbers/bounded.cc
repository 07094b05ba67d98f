#include "host/conformance/random/numbers/bounded.h"

#include <algorithm>

namespace ephost::conformance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Beyond it, sums of a few terms may overflow.
constexpr double kLargestSafe = 1e36;
// Implementations may flush subnormal numbers to zero.
constexpr double kSmallest = 2.0 * std::numeric_limits<float>::min();

bool may_be_zero(Bounded x) { return x.low() <= 0 && x.high() >= 0; }

}  // namespace

bool Bounded::allows(float result) const {
  if (!is_specified()) return true;
  if (std::isnan(value)) return std::isnan(result);
  if (std::isinf(value)) return static_cast<double>(result) == value;
  return std::fabs(static_cast<double>(result) - value) <= error;
}

Bounded unspecified() { return {0, kInfinity}; }

Bounded rounded(double value, double error, double magnitude, double roundings) {
  if (!std::isfinite(error)) return unspecified();
  if (!std::isfinite(value)) return {value, 0};
  const double total = error + roundings * kRoundoff * std::fabs(magnitude) + kSmallest;
  return std::fmax(std::fabs(value), std::fabs(magnitude)) + total <= kLargestSafe
             ? Bounded{value, total}
             : unspecified();
}

Bounded operator+(Bounded a, Bounded b) {
  const double value = a.value + b.value;
  return rounded(value, a.error + b.error, value);
}

Bounded operator-(Bounded a, Bounded b) { return a + -b; }

Bounded operator-(Bounded a) { return {-a.value, a.error}; }

Bounded operator*(Bounded a, Bounded b) {
  if (!a.is_specified() || !b.is_specified()) return unspecified();
  const bool is_finite = std::isfinite(a.value) && std::isfinite(b.value);
  // Infinity times what is only nearly zero may have either sign.
  if (!is_finite && ((a.error > 0 && may_be_zero(a)) || (b.error > 0 && may_be_zero(b)))) {
    return unspecified();
  }
  const double value = a.value * b.value;
  if (!is_finite) return rounded(value, 0, 0);
  const double error =
      std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return rounded(value, error, value);
}

Bounded operator/(Bounded a, Bounded b) {
  if (std::isnan(b.value)) return b;
  if (!a.is_specified() || !b.is_specified()) return unspecified();
  // Not even the sign of the infinity is certain: implementations differ in the sign of zero.
  if (may_be_zero(b)) return unspecified();
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) return rounded(a.value / b.value, 0, 0);
  const double value = a.value / b.value;
  const double nearest = std::fabs(b.value) - b.error;
  return rounded(value, (a.error + std::fabs(value) * b.error) / nearest, value);
}

Bounded maximum(Bounded a, Bounded b) {
  // Whatever it is compared with.
  if (std::isnan(a.value)) return a;
  if (std::isnan(b.value)) return b;
  if (!a.is_specified() || !b.is_specified()) return unspecified();
  // Where one is certainly larger, the other does not matter.
  if (a.low() >= b.high()) return a;
  if (b.low() >= a.high()) return b;
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}

Bounded minimum(Bounded a, Bounded b) { return -maximum(-a, -b); }

Bounded absolute(Bounded x) { return {std::fabs(x.value), x.error}; }

Bounded power(Bounded x, double exponent) {
  const auto f = [&](double base) { return std::pow(base, exponent); };
  if (std::isnan(x.value) && exponent != 0) return x;
  if (!x.is_specified() || !std::isfinite(x.value) || x.may_be_flushed()) return unspecified();
  const bool is_integer = exponent == std::floor(exponent);
  const double y = f(x.value);
  const double slack = (32 + 8 * std::fabs(exponent * std::log(std::fabs(x.value) + 1e-30))) *
                       kRoundoff * std::fabs(y);
  if (x.low() > 0 || (x.high() < 0 && is_integer)) return monotonic(x, f, slack);
  if (exponent <= 0 || !is_integer) return unspecified();
  return rounded(y, std::pow(std::fabs(x.value) + x.error, exponent) + std::fabs(y) * 2, 0);
}

}  // namespace ephost::conformance
