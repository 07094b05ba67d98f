// Matrix products: of float, and of bytes with sums of 32 bits, through oneDNN, with constant
// right-hand sides packed once; other types by plain loops.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <memory>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {

// Y = alpha * A * B (+ bias) (+ Y). All matrices are dense and row-major: A is m x k (k x m if
// transposed), B is k x n (n x k), Y is m x n, the bias is a row of n. There are `batch` matrices
// A, B and Y.
struct ProductShape {
  int64_t batch = 1;
  int64_t m = 0, k = 0, n = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  bool has_bias = false;
  bool accumulates = false;
  float alpha = 1;
  bool of_bytes = false;  // A is of uint8, B of int8, Y of int32; there is nothing but A * B
  bool is_exact = false;  // all sums are integers that float represents: their order doesn't matter

  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

// The products of one kernel. A plan is made for each shape that occurs, and kept. Equal rows of A
// and equal columns of B give equal numbers, bit for bit, wherever they lie.
class Products {
 public:
  // `constant_b` is null, or the elements of the constant that every product multiplies by. With
  // `flips_signs` these are bytes whose sign bits are flipped when they are packed.
  Products(std::shared_ptr<const OneDnn> onednn, const void* constant_b, bool flips_signs = false);
  ~Products();

  // Makes the plan and packs B now instead of at the first run; returns the bytes of scratch memory
  // that `multiply` needs for it. No extent may be 0.
  uint64_t prepare(const ProductShape& shape);

  // Such memory from the run, for several products of one shape; null if they need none.
  void* take_scratch(eph::Run& run, const ProductShape& shape);

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // `state` comes from create_state. No extent may be 0. `b` is not read if B is constant.
  // `scratch` is aligned memory of as many bytes as `prepare` says; if null, each call allocates
  // scratch memory of the run.
  void multiply(eph::Run& run, eph::State* state, const ProductShape& shape, const float* a,
                const float* b, const float* bias, float* y, void* scratch = nullptr);

  // The same for bytes; sums wrap around. Only if multiplies_bytes_exactly().
  void multiply_bytes(eph::Run& run, eph::State* state, const ProductShape& shape, const uint8_t* a,
                      const int8_t* b, int32_t* y);

 private:
  class Plans;
  std::unique_ptr<Plans> plans_;
};

// Y = A * B, whatever alpha is, for any element type; integers must be unsigned.
template <class T>
void multiply_plain(const ProductShape& shape, const T* a, const T* b, T* y) {
  const int64_t m = shape.m;
  const int64_t k = shape.k;
  const int64_t n = shape.n;
  const double cost = 0.5 * static_cast<double>(k) * static_cast<double>(n);
  parallel_for(shape.batch * m, cost, [=, &shape](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* left = a + row / m * m * k;
      const T* right = b + row / m * k * n;
      T* out = y + row * n;
      for (int64_t j = 0; j < n; ++j) out[j] = 0;
      for (int64_t i = 0; i < k; ++i) {
        const T factor = shape.transpose_a ? left[i * m + row % m] : left[row % m * k + i];
        for (int64_t j = 0; j < n; ++j) {
          out[j] += factor * (shape.transpose_b ? right[j * k + i] : right[i * n + j]);
        }
      }
    }
  });
}

}  // namespace ephost_cpu
