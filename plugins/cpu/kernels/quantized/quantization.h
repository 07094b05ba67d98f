// The common part of QuantizeLinear, DequantizeLinear and related operators: which scale belongs to
// which element, and rounding to the quantised types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {

// A tensor cut into rows of adjacent elements. All elements of a row share a scale, or each has its
// own.
class ScaleLayout {
 public:
  // One scale for all, one for each index of the axis, or one for each block of `block_size`
  // indices (0: no blocks), as the shape of the scales says. Throws if that does not fit.
  ScaleLayout(const Dims& shape, const Dims& scales, int64_t axis, int64_t block_size);

  struct Row {
    int64_t first, count;  // elements
    int64_t scale, step;   // index of the first element's, step to the next one's (0 or 1)
  };

  // Calls body(row) for rows that make up the tensor, in parallel. The body must not throw.
  template <class Body>
  void for_each_row(const Body& body) const {
    if (rows_ == 1) {
      return parallel_for(length_, kCost, [&](int64_t begin, int64_t end) {
        body(Row{begin, end - begin, step_ * begin, step_});
      });
    }
    parallel_for(rows_, kCost * static_cast<double>(length_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(row(i));
    });
  }

 private:
  static constexpr double kCost = 1;
  [[nodiscard]] Row row(int64_t i) const;

  int64_t rows_ = 1, length_ = 0;
  int64_t step_ = 0;
  int64_t extent_ = 1, block_ = 1, blocks_ = 1;  // of the axis
  int64_t inner_ = 1;
};

// Elements that are worked on at a time, in buffers on the stack.
inline constexpr int64_t kQuantizationBlock = 256;
using QuantizationBuffer = std::array<float, kQuantizationBlock>;

// The range of an integer type that tensors are quantised to.
struct QuantizedRange {
  float low, high;
};
// Throws for other types.
[[nodiscard]] QuantizedRange quantized_range(int32_t element_type);

// y = saturate(round(x) + zero_point), ties to even, NaN to the zero point. T is int8, uint8, int16
// or uint16; `range` may be narrower. `step` is 0 or 1.
template <class T>
void round_to_quantized(const float* x, const float* zero_points, int64_t step,
                        QuantizedRange range, T* y, int64_t count);

// The same for x / scale, with one zero point.
template <class T>
void quantize(const float* x, float scale, float zero_point, QuantizedRange range, T* y,
              int64_t count);

// The same for sums[i] * factors[i], over the whole range of T: int8 or uint8.
template <class T>
void requantize(const int32_t* sums, const float* factors, float zero_point, T* y, int64_t count);

// Rows of sums with a factor and an addend for each column; sums and addends wrap around. Whole
// groups of 16 columns are read and written: there must be memory behind the last one.
struct RequantizedRows {
  const int32_t* sums;
  int64_t stride, count, columns;
  const uint32_t* addends;
  const float* factors;
};
// The same for (sum + addend) * factor, for all rows.
template <class T>
void requantize_rows(const RequantizedRows& rows, float zero_point, T* y, int64_t y_stride);

// Scale and zero point that cover the range of the elements and zero with uint8, as
// DynamicQuantizeLinear defines them.
struct DynamicParameters {
  float scale;
  float zero_point;
};
[[nodiscard]] DynamicParameters choose_parameters(const float* x, int64_t count);

// What x becomes when it is quantised so and dequantised again. In place, if x is y.
void pass_through_bytes(const float* x, float* y, int64_t count);

// As round_to_quantized for values(i) with i below `count`, over the whole range of T.
template <class T, class Values>
void round_values(const Values& values, float zero_point, T* y, int64_t count) {
  const QuantizedRange range = quantized_range(eph::element_type_of<T>());
  QuantizationBuffer block;
  for (int64_t at = 0; at < count; at += kQuantizationBlock) {
    const int64_t length = std::min(kQuantizationBlock, count - at);
    for (int64_t i = 0; i < length; ++i) block[static_cast<std::size_t>(i)] = values(at + i);
    round_to_quantized(block.data(), &zero_point, 0, range, y + at, length);
  }
}

// The elements as float, converted into scratch memory if necessary.
[[nodiscard]] const float* floats_of(eph::Run& run, const eph_value& value);

}  // namespace ephost_cpu
