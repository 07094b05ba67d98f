#include "plugins/cpu/kernels/signal/fft.h"

#include <cmath>
#include <utility>

namespace ephost_cpu {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Without the special cases for infinities that std::complex has.
Complex multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex on_circle(double turns) { return {std::cos(2 * kPi * turns), std::sin(2 * kPi * turns)}; }

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

int64_t next_power_of_two(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

void reverse_bits(Complex* numbers, int64_t count) {
  for (int64_t i = 1, j = 0; i < count; ++i) {
    int64_t bit = count >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(numbers[i], numbers[j]);
  }
}

void conjugate(Complex* numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = std::conj(numbers[i]);
}

}  // namespace

Fft::Fft(int64_t length)
    : length_(length),
      padded_(is_power_of_two(length) ? length : next_power_of_two(2 * length - 1)) {
  for (int64_t k = 0; k < padded_ / 2; ++k) {
    roots_.push_back(on_circle(-static_cast<double>(k) / static_cast<double>(padded_)));
  }
  if (padded_ == length) return;
  filter_.resize(static_cast<std::size_t>(padded_));
  int64_t square = 0;  // k^2 modulo 2 * length, the period of the chirp
  for (int64_t k = 0; k < length; ++k) {
    chirp_.push_back(on_circle(-static_cast<double>(square) / static_cast<double>(2 * length)));
    filter_[static_cast<std::size_t>(k)] = std::conj(chirp_.back());
    if (k > 0) filter_[static_cast<std::size_t>(padded_ - k)] = std::conj(chirp_.back());
    square = (square + 2 * k + 1) % (2 * length);
  }
  transform_padded(filter_.data());
}

void Fft::transform_padded(Complex* numbers) const {
  reverse_bits(numbers, padded_);
  for (int64_t half = 1; half < padded_; half *= 2) {
    const int64_t step = padded_ / (2 * half);
    for (int64_t start = 0; start < padded_; start += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        Complex& low = numbers[start + k];
        Complex& high = numbers[start + k + half];
        const Complex turned = multiply(high, roots_[static_cast<std::size_t>(k * step)]);
        high = low - turned;
        low += turned;
      }
    }
  }
}

void Fft::transform(Complex* numbers, Complex* work, bool inverse) const {
  if (inverse) conjugate(numbers, length_);
  if (chirp_.empty()) {
    transform_padded(numbers);
  } else {
    for (int64_t k = 0; k < length_; ++k) {
      work[k] = multiply(numbers[k], chirp_[static_cast<std::size_t>(k)]);
    }
    for (int64_t k = length_; k < padded_; ++k) work[k] = 0;
    transform_padded(work);
    for (int64_t k = 0; k < padded_; ++k) {
      work[k] = std::conj(multiply(work[k], filter_[static_cast<std::size_t>(k)]));
    }
    transform_padded(work);
    const double scale = 1 / static_cast<double>(padded_);
    for (int64_t k = 0; k < length_; ++k) {
      numbers[k] = multiply(std::conj(work[k]) * scale, chirp_[static_cast<std::size_t>(k)]);
    }
  }
  if (inverse) conjugate(numbers, length_);
}

const Fft& FftState::get(int64_t length) {
  if (fft == nullptr || fft->length() != length) fft = std::make_unique<Fft>(length);
  return *fft;
}

}  // namespace ephost_cpu
