#include "plugins/cpu/math/row_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/cpu/math/vector_math.h"

namespace ephost_cpu {
namespace {

// The terms of a sum, each computed from one float.
struct PlainTerm {
  CPU_INLINE float operator()(float x) const { return x; }
};
struct ShiftedSquare {
  float shift;
  CPU_INLINE float operator()(float x) const { return (x - shift) * (x - shift); }
};
struct Magnitude {
  CPU_INLINE float operator()(float x) const { return __builtin_fabsf(x); }
};
struct ShiftedExp {
  float shift;
  CPU_INLINE float operator()(float x) const { return fast_exp_negative(x - shift); }
};

// Functions that combine two numbers, or two vectors of numbers, into one.
struct JoinSum {
  template <class V>
  CPU_INLINE void operator()(V& a, const V& b) const {
    a += b;
  }
};
// NaN on either side gives NaN. A single instruction depends on `a`.
struct JoinMax {
  template <class V>
  CPU_INLINE void operator()(V& a, const V& b) const {
    const V larger = b > a ? b : a;
    a = b != b ? b : larger;
  }
};
struct JoinMin {
  template <class V>
  CPU_INLINE void operator()(V& a, const V& b) const {
    const V smaller = b < a ? b : a;
    a = b != b ? b : smaller;
  }
};

constexpr int64_t kLanes = 32;
constexpr int64_t kFewLanes = 8;
constexpr int64_t kSumBlock = 4096;

// The compiler splits longer vectors before it considers the instruction set of a clone.
using Floats4 = float __attribute__((vector_size(16)));

// Combines `lanes` and `few` into one number, in registers.
template <class Join>
CPU_INLINE float join_lanes(Join join, const float* lanes, const float* few) {
  constexpr int64_t kVectors = (kLanes + kFewLanes) / 4;
  Floats4 vectors[kVectors];
  std::memcpy(vectors, lanes, kLanes * sizeof(float));
  std::memcpy(vectors + kLanes / 4, few, kFewLanes * sizeof(float));
  for (int64_t v = kVectors / 2; v < kVectors; ++v) join(vectors[v - kVectors / 2], vectors[v]);
  for (int64_t v = 1; v < kVectors / 2; ++v) join(vectors[0], vectors[v]);
  join(vectors[0], __builtin_shufflevector(vectors[0], vectors[0], 2, 3, 2, 3));
  join(vectors[0], __builtin_shufflevector(vectors[0], vectors[0], 1, 1, 1, 1));
  return vectors[0][0];
}

// Combines the terms of a row with `start`. The order of the lanes is unspecified.
template <class Join, class Term>
CPU_INLINE float join_terms(Join join, Term term, float start, const float* x, int64_t count) {
  float lanes[kLanes];
  float few[kFewLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = start;
  for (int64_t lane = 0; lane < kFewLanes; ++lane) few[lane] = start;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) join(lanes[lane], term(x[i + lane]));
  }
  for (; i + kFewLanes <= count; i += kFewLanes) {
    for (int64_t lane = 0; lane < kFewLanes; ++lane) join(few[lane], term(x[i + lane]));
  }
  float rest = start;
  for (; i < count; ++i) join(rest, term(x[i]));
  join(rest, join_lanes(join, lanes, few));
  return rest;
}

// The sum of at most kSumBlock terms.
template <class Term>
CPU_SIMD float sum_block(Term term, const float* x, int64_t count) {
  return join_terms(JoinSum{}, term, 0, x, count);
}

template <class Term>
double sum_row(Term term, const float* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i += kSumBlock) {
    sum += static_cast<double>(sum_block(term, x + i, std::min(kSumBlock, count - i)));
  }
  return sum;
}

// Stores the terms too: at most kSumBlock.
CPU_SIMD float exp_block(const float* x, float shift, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = fast_exp_negative(x[i] - shift);
  return join_terms(JoinSum{}, PlainTerm{}, 0, y, count);
}

template <class Choice>
CPU_SIMD float choose(Choice choice, const float* x, int64_t count) {
  return join_terms(choice, PlainTerm{}, x[0], x, count);
}

CPU_SIMD void affine(const float* x, float scale, float shift, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
}

CPU_SIMD void weighted_affine(const float* x, float scale, float shift, const float* weights,
                              const float* biases, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] * scale + shift) * weights[i] + biases[i];
}

CPU_SIMD void weighted(const float* x, float scale, float shift, const float* weights, float* y,
                       int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] * scale + shift) * weights[i];
}

}  // namespace

double row_sum(const float* x, int64_t count) { return sum_row(PlainTerm{}, x, count); }
double row_sum(const double* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

double row_sum_squares(const float* x, float shift, int64_t count) {
  return sum_row(ShiftedSquare{shift}, x, count);
}
double row_sum_squares(const double* x, double shift, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += (x[i] - shift) * (x[i] - shift);
  return sum;
}

double row_sum_magnitudes(const float* x, int64_t count) { return sum_row(Magnitude{}, x, count); }
double row_sum_magnitudes(const double* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::fabs(x[i]);
  return sum;
}

float row_max(const float* x, int64_t count) { return choose(JoinMax{}, x, count); }
double row_max(const double* x, int64_t count) {
  double best = x[0];
  for (int64_t i = 1; i < count; ++i) best = best > x[i] || std::isnan(best) ? best : x[i];
  return best;
}
float row_min(const float* x, int64_t count) { return choose(JoinMin{}, x, count); }
double row_min(const double* x, int64_t count) {
  double best = x[0];
  for (int64_t i = 1; i < count; ++i) best = best < x[i] || std::isnan(best) ? best : x[i];
  return best;
}

double row_sum_exp(const float* x, float shift, int64_t count) {
  return sum_row(ShiftedExp{shift}, x, count);
}
double row_sum_exp(const double* x, double shift, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(x[i] - shift);
  return sum;
}

double row_exp(const float* x, float shift, float* y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i += kSumBlock) {
    sum += static_cast<double>(exp_block(x + i, shift, y + i, std::min(kSumBlock, count - i)));
  }
  return sum;
}
double row_exp(const double* x, double shift, double* y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = std::exp(x[i] - shift);
  return sum;
}

void row_affine(const float* x, float scale, float shift, float* y, int64_t count) {
  affine(x, scale, shift, y, count);
}
void row_affine(const double* x, double scale, double shift, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * scale + shift;
}

void row_weighted_affine(const float* x, float scale, float shift, const float* weights,
                         const float* biases, float* y, int64_t count) {
  if (biases != nullptr) {
    weighted_affine(x, scale, shift, weights, biases, y, count);
  } else {
    weighted(x, scale, shift, weights, y, count);
  }
}
void row_weighted_affine(const double* x, double scale, double shift, const double* weights,
                         const double* biases, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double scaled = (x[i] * scale + shift) * weights[i];
    y[i] = biases != nullptr ? scaled + biases[i] : scaled;
  }
}

}  // namespace ephost_cpu
