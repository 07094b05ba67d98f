#include "plugins/cpu/kernels/quantized/exact_floats.h"

#include <algorithm>

#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kExact = int64_t{1} << 24;  // up to here, float represents every integer

template <class F>
void dispatch_bytes(const eph_value& value, F&& f) {
  dispatch<int8_t, uint8_t>(value.element_type, f);
}

// Wraps around, as unsigned integers do.
int32_t add(int32_t sum, float term) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) +
                              static_cast<uint32_t>(static_cast<int32_t>(term)));
}

}  // namespace

int64_t exact_terms(int64_t reach_a, int64_t reach_b) {
  return std::max<int64_t>(1, kExact / std::max<int64_t>(1, reach_a * reach_b));
}

void add_chunk(const float* terms, bool is_first, int32_t* y, int64_t count) {
  parallel_for(count, 0.5, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = add(is_first ? 0 : y[i], terms[i]);
  });
}

void pack_rows(const QuantizedOperand& from, const Block& block, int64_t zero, float* to) {
  dispatch_bytes(*from.value, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(block.rows, static_cast<double>(block.columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = data<const T>(*from.value) + block.first + r * block.stride;
        const auto zero_point = static_cast<float>(from.zero_point(zero + r));
        float* out = to + r * block.columns;
        for (int64_t i = 0; i < block.columns; ++i)
          out[i] = static_cast<float>(row[i]) - zero_point;
      }
    });
  });
}

void pack_columns(const QuantizedOperand& from, const Block& block, int64_t zero, float* to) {
  if (from.zero_point_count() == 1) return pack_rows(from, block, 0, to);
  dispatch_bytes(*from.value, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t r = 0; r < block.rows; ++r) {
      const T* row = data<const T>(*from.value) + block.first + r * block.stride;
      for (int64_t j = 0; j < block.columns; ++j) {
        to[r * block.columns + j] = static_cast<float>(row[j] - from.zero_point(zero + j));
      }
    }
  });
}

}  // namespace ephost_cpu
