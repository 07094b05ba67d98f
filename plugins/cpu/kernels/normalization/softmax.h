// LogSoftmax for kernels that need it as an intermediate result.
#pragma once

#include <cstdint>

namespace ephost_cpu {

// Computes log(softmax(x)) over the middle one of three dimensions, none of which is 0. y may be x.
void log_softmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner);
void log_softmax(const double* x, double* y, int64_t outer, int64_t extent, int64_t inner);

}  // namespace ephost_cpu
