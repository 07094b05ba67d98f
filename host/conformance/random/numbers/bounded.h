// bounded.h: numbers with a bound on their rounding error. A Bounded promises that every correct
// float32 implementation gives a result within `error` of `value`, in whatever order it adds,
// whether or not it fuses operations, and with functions that are accurate to a few dozen units in
// the last place. An infinite error says that the result is unspecified (a division by what may be
// zero, a logarithm of what may be negative, sums and products that overflow, which depends on
// their order); a value that is not finite has the error 0 and must be met exactly.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace ephost::conformance {

struct Bounded {
  double value = 0;
  double error = 0;

  [[nodiscard]] double low() const { return value - error; }
  [[nodiscard]] double high() const { return value + error; }
  [[nodiscard]] bool is_specified() const { return std::isfinite(error); }
  // Whether implementations may treat it as zero: it is subnormal, or not certainly larger.
  [[nodiscard]] bool may_be_flushed() const {
    return value != 0 && std::fabs(value) - error < 2.0 * std::numeric_limits<float>::min();
  }
  // Whether the bound allows a result.
  [[nodiscard]] bool allows(float result) const;
};

// The unit of rounding errors: half a unit in the last place of 1.
constexpr double kRoundoff = 0x1p-24;

[[nodiscard]] Bounded unspecified();
// A result with that much error from its operands, and `roundings` roundings of numbers as large as
// `magnitude`. Results near the end of float's range are unspecified.
[[nodiscard]] Bounded rounded(double value, double error, double magnitude, double roundings = 4);

[[nodiscard]] Bounded operator+(Bounded a, Bounded b);
[[nodiscard]] Bounded operator-(Bounded a, Bounded b);
[[nodiscard]] Bounded operator*(Bounded a, Bounded b);
[[nodiscard]] Bounded operator/(Bounded a, Bounded b);
[[nodiscard]] Bounded operator-(Bounded a);
[[nodiscard]] Bounded maximum(Bounded a, Bounded b);
[[nodiscard]] Bounded minimum(Bounded a, Bounded b);
[[nodiscard]] Bounded absolute(Bounded x);
[[nodiscard]] Bounded power(Bounded x, double exponent);

// f(x) for a function that is monotonic between x.low() and x.high(); `slack` is the error of its
// implementations at x.
template <class F>
[[nodiscard]] Bounded monotonic(Bounded x, const F& f, double slack) {
  if (!x.is_specified()) return unspecified();
  const double y = f(x.value);
  constexpr double kBeyondFloat = 1e39;
  if (y > kBeyondFloat && f(x.low()) > kBeyondFloat) {
    return {std::numeric_limits<double>::infinity(), 0};
  }
  if (!std::isfinite(y)) return rounded(y, x.error, 0);
  if (x.error == 0) return rounded(y, slack, y, 1);
  const double spread = std::fmax(std::fabs(f(x.low()) - y), std::fabs(f(x.high()) - y));
  return rounded(y, spread + slack, y, 1);
}

// f(x) for a function whose slope is at most `slope`.
template <class F>
[[nodiscard]] Bounded lipschitz(Bounded x, const F& f, double slope, double slack) {
  if (!x.is_specified() || !std::isfinite(x.value)) return unspecified();
  const double y = f(x.value);
  return rounded(y, slope * x.error + slack, y, 1);
}

// A sum of many terms, in an unknown order.
class Sum {
 public:
  void add(Bounded term) {
    value_ += term.value;
    error_ += term.error;
    magnitude_ += std::fabs(term.value) + term.error;
    ++count_;
  }
  void add_product(Bounded a, Bounded b) {
    const double product = a.value * b.value;
    value_ += product;
    error_ += std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
    magnitude_ += std::fabs(product);
    ++count_;
  }
  // `extra` is what an algorithm adds and subtracts again, `roundings` is how often it rounds that.
  [[nodiscard]] Bounded total(double extra = 0, double roundings = 0) const {
    return rounded(value_, error_ + extra * roundings * kRoundoff, magnitude_,
                   static_cast<double>(count_) + 4);
  }

 private:
  double value_ = 0, error_ = 0, magnitude_ = 0;
  int64_t count_ = 0;
};

}  // namespace ephost::conformance
