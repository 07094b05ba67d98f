#include "plugins/cpu/row_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/cpu/vector_math.h"

namespace cpu {
namespace {

// Terms of a sum, of one float.
struct Plain {
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
  CPU_INLINE float operator()(float x) const { return fast_exp(x - shift); }
};

struct Greater {
  CPU_INLINE float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  CPU_INLINE float operator()(float a, float b) const { return a < b || a != a ? a : b; }
};

constexpr int64_t kLanes = 32;
constexpr int64_t kBlock = 4096;

// At most kBlock terms.
template <class Term>
CPU_SIMD float sum_block(Term term, const float* x, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(x[i + lane]);
  }
  float sum = 0;
  for (; i < count; ++i) sum += term(x[i]);
  for (int64_t step = kLanes / 2; step > 0; step /= 2) {
    for (int64_t lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
  }
  return sum + lanes[0];
}

template <class Term>
double sum_row(Term term, const float* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i += kBlock) {
    sum += static_cast<double>(sum_block(term, x + i, std::min(kBlock, count - i)));
  }
  return sum;
}

template <class Term>
CPU_SIMD void store_terms(Term term, const float* x, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = term(x[i]);
}

template <class Choice>
CPU_SIMD float choose(Choice choice, const float* x, int64_t count) {
  float lanes[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = x[0];
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = choice(lanes[lane], x[i + lane]);
  }
  for (; i < count; ++i) lanes[0] = choice(lanes[0], x[i]);
  for (int64_t lane = 1; lane < kLanes; ++lane) lanes[0] = choice(lanes[0], lanes[lane]);
  return lanes[0];
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

double row_sum(const float* x, int64_t count) { return sum_row(Plain{}, x, count); }
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

float row_max(const float* x, int64_t count) { return choose(Greater{}, x, count); }
double row_max(const double* x, int64_t count) {
  double best = x[0];
  for (int64_t i = 1; i < count; ++i) best = best > x[i] || std::isnan(best) ? best : x[i];
  return best;
}
float row_min(const float* x, int64_t count) { return choose(Smaller{}, x, count); }
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
  store_terms(ShiftedExp{shift}, x, y, count);
  return sum_row(Plain{}, y, count);
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

}  // namespace cpu
