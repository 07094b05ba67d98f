// The rotation of one head by its position.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ephost_cpu {

// Rotates `pairs` pairs of elements, which are neighbours (`interleaved`) or lie `pairs` apart, and
// copies the rest of the `size` elements. y may be x.
template <class T>
void rotate_head(const T* x, const T* cosines, const T* sines, int64_t pairs, int64_t size,
                 bool interleaved, T* y) {
  const int64_t step = interleaved ? 2 : 1;
  const int64_t second = interleaved ? 1 : pairs;
  for (int64_t i = 0; i < pairs; ++i) {
    const T real = x[i * step];
    const T imaginary = x[i * step + second];
    y[i * step] = cosines[i] * real - sines[i] * imaginary;
    y[i * step + second] = sines[i] * real + cosines[i] * imaginary;
  }
  if (x != y) std::copy(x + 2 * pairs, x + size, y + 2 * pairs);
}

}  // namespace ephost_cpu
