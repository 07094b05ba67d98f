#include "plugins/cpu/kernels/quantized/quantization.h"

#include <cmath>
#include <cstring>

#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/math/convert.h"
#include "plugins/cpu/math/row_math.h"

namespace ephost_cpu {
namespace {

template <class T>
CPU_INLINE T round_one(float x, float zero_point, QuantizedRange range) {
  float y = std::nearbyint(x) + zero_point;
  y = y > range.low ? y : range.low;
  y = y < range.high ? y : range.high;
  return static_cast<T>(static_cast<int32_t>(x == x ? y : zero_point));
}

constexpr int64_t kRoundedLanes = 16;
using Floats16 = float __attribute__((vector_size(64)));
using Ints16 = int32_t __attribute__((vector_size(64)));

template <class T>
struct LanesOf;
template <>
struct LanesOf<uint8_t> {
  using Type = uint8_t __attribute__((vector_size(16)));
};
template <>
struct LanesOf<int8_t> {
  using Type = int8_t __attribute__((vector_size(16)));
};
template <>
struct LanesOf<uint16_t> {
  using Type = uint16_t __attribute__((vector_size(32)));
};
template <>
struct LanesOf<int16_t> {
  using Type = int16_t __attribute__((vector_size(32)));
};

// What round_one gives, for numbers side by side. A float that large numbers were added to has its
// integer in the last bits, rounded to even.
template <class T>
CPU_INLINE void round_lanes(const Floats16& numbers, float zero_point, QuantizedRange range, T* y) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23
  const int32_t offset = static_cast<int32_t>(zero_point) - __builtin_bit_cast(int32_t, kRound);
  const Floats16 zero = {};
  const Floats16 low = zero + (range.low - zero_point);
  const Floats16 high = zero + (range.high - zero_point);
  Floats16 x = numbers == numbers ? numbers : zero;
  x = x > low ? x : low;
  x = x < high ? x : high;
  const Ints16 rounded = __builtin_bit_cast(Ints16, x + kRound) + offset;
  const auto lanes = __builtin_convertvector(rounded, typename LanesOf<T>::Type);
  std::memcpy(y, &lanes, sizeof(lanes));
}

template <class T, class V>
CPU_INLINE void load(const T* from, V& lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}

template <class T>
CPU_SIMD void round_row(const float* x, float zero_point, QuantizedRange range, T* y,
                        int64_t count) {
  int64_t i = 0;
  for (; i + kRoundedLanes <= count; i += kRoundedLanes) {
    Floats16 lanes;
    load(x + i, lanes);
    round_lanes(lanes, zero_point, range, y + i);
  }
  for (; i < count; ++i) y[i] = round_one<T>(x[i], zero_point, range);
}

template <class T>
CPU_SIMD void divide_and_round(const float* x, float scale, float zero_point, QuantizedRange range,
                               T* y, int64_t count) {
  int64_t i = 0;
  for (; i + kRoundedLanes <= count; i += kRoundedLanes) {
    Floats16 lanes;
    load(x + i, lanes);
    lanes /= scale;
    round_lanes(lanes, zero_point, range, y + i);
  }
  for (; i < count; ++i) y[i] = round_one<T>(x[i] / scale, zero_point, range);
}

template <class T>
CPU_SIMD void requantize_block(const RequantizedRows& rows, float zero_point, QuantizedRange range,
                               T* y, int64_t y_stride) {
  using Unsigned = uint32_t __attribute__((vector_size(64)));
  for (int64_t r = 0; r < rows.count; ++r) {
    const int32_t* sums = rows.sums + r * rows.stride;
    for (int64_t j = 0; j < rows.columns; j += kRoundedLanes) {
      Unsigned sum, addend;
      Floats16 factor;
      load(sums + j, sum);
      load(rows.addends + j, addend);
      load(rows.factors + j, factor);
      sum += addend;
      const Floats16 x =
          __builtin_convertvector(__builtin_bit_cast(Ints16, sum), Floats16) * factor;
      round_lanes(x, zero_point, range, y + r * y_stride + j);
    }
  }
}

template <class T>
CPU_SIMD void requantize_row(const int32_t* sums, const float* factors, float zero_point,
                             QuantizedRange range, T* y, int64_t count) {
  int64_t i = 0;
  for (; i + kRoundedLanes <= count; i += kRoundedLanes) {
    Ints16 sum;
    Floats16 factor;
    load(sums + i, sum);
    load(factors + i, factor);
    const Floats16 x = __builtin_convertvector(sum, Floats16) * factor;
    round_lanes(x, zero_point, range, y + i);
  }
  for (; i < count; ++i) {
    y[i] = round_one<T>(static_cast<float>(sums[i]) * factors[i], zero_point, range);
  }
}

}  // namespace

ScaleLayout::ScaleLayout(const Dims& shape, const Dims& scales, int64_t axis, int64_t block_size) {
  const auto misfit = [&] {
    fail("scales of shape " + to_string(scales) + " do not fit a tensor of shape " +
         to_string(shape) + (block_size > 0 ? " in blocks of " + std::to_string(block_size) : ""));
  };
  length_ = element_count(shape);
  if (block_size < 0) fail("attribute block_size=" + std::to_string(block_size) + " is negative");
  if (element_count(scales) == 1 && block_size == 0) return;
  if (shape.empty()) misfit();
  const std::size_t at = normalize_axis(axis, shape.size());
  extent_ = shape[at];
  inner_ = element_count(shape, at + 1, shape.size());
  const int64_t outer = element_count(shape, 0, at);
  if (block_size == 0) {
    if (!(scales == Dims{extent_})) misfit();
    blocks_ = extent_;
    step_ = inner_ == 1 ? 1 : 0;
    rows_ = inner_ == 1 ? outer : outer * extent_;
  } else {
    block_ = block_size;
    blocks_ = extent_ / block_size + (extent_ % block_size != 0 ? 1 : 0);
    Dims expected = shape;
    expected[at] = blocks_;
    if (!(scales == expected)) misfit();
    step_ = inner_ == 1 ? 0 : 1;
    rows_ = inner_ == 1 ? outer * blocks_ : outer * extent_;
  }
  if (length_ == 0) {
    rows_ = 1;
  } else {
    length_ = rows_ == 1 ? length_ : length_ / rows_;
  }
}

ScaleLayout::Row ScaleLayout::row(int64_t i) const {
  if (inner_ == 1 && step_ == 1) return {i * extent_, extent_, 0, 1};  // each its own
  if (inner_ == 1) {                                                   // a row is a block
    const int64_t begin = i % blocks_ * block_;
    const int64_t count = begin + block_ < extent_ ? block_ : extent_ - begin;
    return {i / blocks_ * extent_ + begin, count, i, 0};
  }
  if (step_ == 0) return {i * inner_, inner_, i % extent_, 0};
  const int64_t scale = (i / extent_ * blocks_ + i % extent_ / block_) * inner_;
  return {i * inner_, inner_, scale, 1};
}

QuantizedRange quantized_range(int32_t element_type) {
  switch (element_type) {
    case EPH_ELEMENT_INT8:
      return {-128, 127};
    case EPH_ELEMENT_UINT8:
      return {0, 255};
    case EPH_ELEMENT_INT16:
      return {-32768, 32767};
    case EPH_ELEMENT_UINT16:
      return {0, 65535};
    case EPH_ELEMENT_INT4:
      return {-8, 7};
    case EPH_ELEMENT_UINT4:
      return {0, 15};
    case EPH_ELEMENT_INT2:
      return {-2, 1};
    case EPH_ELEMENT_UINT2:
      return {0, 3};
    default:
      fail_unsupported("tensors are not quantised to " + type_name(element_type));
  }
}

template <class T>
void round_to_quantized(const float* x, const float* zero_points, int64_t step,
                        QuantizedRange range, T* y, int64_t count) {
  if (step == 0) return round_row(x, *zero_points, range, y, count);
  for (int64_t i = 0; i < count; ++i) y[i] = round_one<T>(x[i], zero_points[i], range);
}

template <class T>
void quantize(const float* x, float scale, float zero_point, QuantizedRange range, T* y,
              int64_t count) {
  divide_and_round(x, scale, zero_point, range, y, count);
}

template <class T>
void requantize(const int32_t* sums, const float* factors, float zero_point, T* y, int64_t count) {
  requantize_row(sums, factors, zero_point, quantized_range(eph::element_type_of<T>()), y, count);
}

template <class T>
void requantize_rows(const RequantizedRows& rows, float zero_point, T* y, int64_t y_stride) {
  requantize_block(rows, zero_point, quantized_range(eph::element_type_of<T>()), y, y_stride);
}

#define INSTANTIATE(T)                                                                      \
  template void round_to_quantized(const float*, const float*, int64_t, QuantizedRange, T*, \
                                   int64_t);                                                \
  template void quantize(const float*, float, float, QuantizedRange, T*, int64_t);
INSTANTIATE(int8_t)
INSTANTIATE(uint8_t)
INSTANTIATE(int16_t)
INSTANTIATE(uint16_t)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                        \
  template void requantize(const int32_t*, const float*, float, T*, int64_t); \
  template void requantize_rows(const RequantizedRows&, float, T*, int64_t);
INSTANTIATE(int8_t)
INSTANTIATE(uint8_t)
#undef INSTANTIATE

DynamicParameters choose_parameters(const float* x, int64_t count) {
  float low = 0;
  float high = 0;
  if (count > 0) {
    low = std::min(low, row_min(x, count));
    high = std::max(high, row_max(x, count));
  }
  const float scale = high > low ? (high - low) / 255 : 1;  // zeros take any scale
  // In this order NaN, which infinities produce, becomes 0.
  return {scale, std::nearbyint(std::min(255.0F, std::max(0.0F, -low / scale)))};
}

void pass_through_bytes(const float* x, float* y, int64_t count) {
  const DynamicParameters chosen = choose_parameters(x, count);
  std::array<uint8_t, kQuantizationBlock> bytes;
  for (int64_t at = 0; at < count; at += kQuantizationBlock) {
    const int64_t length = std::min(kQuantizationBlock, count - at);
    quantize(x + at, chosen.scale, chosen.zero_point, QuantizedRange{0, 255}, bytes.data(), length);
    for (int64_t i = 0; i < length; ++i) {
      const auto byte = static_cast<float>(bytes[static_cast<std::size_t>(i)]);
      y[at + i] = (byte - chosen.zero_point) * chosen.scale;
    }
  }
}

const float* floats_of(eph::Run& run, const eph_value& value) {
  if (value.element_type == EPH_ELEMENT_FLOAT) return data<const float>(value);
  const int64_t count = element_count(eph::shape_of(value));
  const int64_t bytes = checked_multiply(checked_add(count, 1), sizeof(float));
  auto* copy = static_cast<float*>(run.scratch(static_cast<uint64_t>(bytes)));
  convert(value.data, value.element_type, copy, EPH_ELEMENT_FLOAT, count);
  return copy;
}

}  // namespace ephost_cpu
