// Discrete Fourier transforms of any one length: radix 2 if it is a power of two, else a
// convolution with a chirp (Bluestein).
#pragma once

#include <complex>
#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <memory>
#include <vector>

namespace ephost_cpu {

using Complex = std::complex<double>;

class Fft {
 public:
  // `length` is positive.
  explicit Fft(int64_t length);

  [[nodiscard]] int64_t length() const { return length_; }
  // The number of complex numbers in the working memory of `transform`.
  [[nodiscard]] int64_t work_size() const { return chirp_.empty() ? 0 : padded_; }

  // Replaces the numbers by their transform; the inverse omits the factor 1 / length. May be called
  // from any thread, with its own `work`.
  void transform(Complex* numbers, Complex* work, bool inverse) const;

 private:
  void transform_padded(Complex* numbers) const;

  int64_t length_;
  int64_t padded_;               // a power of two
  std::vector<Complex> roots_;   // e^(-2 pi i k / padded), k < padded / 2
  std::vector<Complex> chirp_;   // e^(-pi i k^2 / length); empty for a power of two
  std::vector<Complex> filter_;  // transform of the chirp's conjugate, over padded
};

// Keeps the transform of the most recent length.
struct FftState : eph::State {
  const Fft& get(int64_t length);
  std::unique_ptr<Fft> fft;
};

}  // namespace ephost_cpu
