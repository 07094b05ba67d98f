// Loops over one contiguous row of numbers, shared by reductions, pooling, normalisation and
// softmax. Those over float are compiled for several instruction sets and sum in many lanes, in
// blocks whose sums are added in double; none is parallel.
#pragma once

#include <cstdint>

namespace ephost_cpu {

[[nodiscard]] double row_sum(const float* x, int64_t count);
[[nodiscard]] double row_sum(const double* x, int64_t count);

// Sum of (x[i] - shift)^2.
[[nodiscard]] double row_sum_squares(const float* x, float shift, int64_t count);
[[nodiscard]] double row_sum_squares(const double* x, double shift, int64_t count);

[[nodiscard]] double row_sum_magnitudes(const float* x, int64_t count);
[[nodiscard]] double row_sum_magnitudes(const double* x, int64_t count);

// The maximum or minimum of at least one number; NaN if one of them is NaN.
[[nodiscard]] float row_max(const float* x, int64_t count);
[[nodiscard]] double row_max(const double* x, int64_t count);
[[nodiscard]] float row_min(const float* x, int64_t count);
[[nodiscard]] double row_min(const double* x, int64_t count);

// Sum of e^(x[i] - shift), where no x[i] is larger than `shift`; the second form also stores the
// terms in y, which may be x.
[[nodiscard]] double row_sum_exp(const float* x, float shift, int64_t count);
[[nodiscard]] double row_sum_exp(const double* x, double shift, int64_t count);
[[nodiscard]] double row_exp(const float* x, float shift, float* y, int64_t count);
[[nodiscard]] double row_exp(const double* x, double shift, double* y, int64_t count);

// y[i] = x[i] * scale + shift. y may be x.
void row_affine(const float* x, float scale, float shift, float* y, int64_t count);
void row_affine(const double* x, double scale, double shift, double* y, int64_t count);

// y[i] = (x[i] * scale + shift) * weights[i] + biases[i]; biases may be null. y may be x.
void row_weighted_affine(const float* x, float scale, float shift, const float* weights,
                         const float* biases, float* y, int64_t count);
void row_weighted_affine(const double* x, double scale, double shift, const double* weights,
                         const double* biases, double* y, int64_t count);

}  // namespace ephost_cpu
