// Mean and spread of rows of numbers, for the normalisations.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/math/row_math.h"

namespace ephost_cpu {

// Mean, and one over the standard deviation.
template <class T>
struct Moments {
  T mean, inverse_deviation;
};

// The moments of `count` adjacent elements, at least one.
template <class T>
Moments<T> moments(const T* x, int64_t count, float epsilon) {
  const double mean = row_sum(x, count) / static_cast<double>(count);
  const double squares = row_sum_squares(x, static_cast<T>(mean), count);
  const double variance = squares / static_cast<double>(count) + static_cast<double>(epsilon);
  return {static_cast<T>(mean), static_cast<T>(1 / std::sqrt(variance))};
}

// Throws unless the value has `extent` elements.
inline void check_vector(const eph_value& value, int64_t extent, const char* name) {
  if (element_count(eph::shape_of(value)) != extent) {
    fail(std::string("input '") + name + "' of shape " + to_string(eph::shape_of(value)) +
         " does not have " + std::to_string(extent) + " elements");
  }
}

}  // namespace ephost_cpu
