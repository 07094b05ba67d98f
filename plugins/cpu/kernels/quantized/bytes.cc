#include "plugins/cpu/kernels/quantized/bytes.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kSide = 16;  // of a block that is transposed in registers
using Row = uint8_t __attribute__((vector_size(16)));

CPU_SIMD void flip_row(const uint8_t* from, uint8_t* to, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ kSignBit;
}

template <class T>
CPU_SIMD uint32_t sum_row(const T* x, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<uint32_t>(int32_t{x[i]});
  return sum;
}

CPU_SIMD void add_row(const int8_t* x, uint8_t flip, int64_t count, uint32_t* sums) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<int8_t>(static_cast<uint8_t>(x[i]) ^ flip);
    sums[i] += static_cast<uint32_t>(int32_t{number});
  }
}

// Interleaves row i with row i + 8, four times over: that transposes.
CPU_INLINE void transpose_block(const uint8_t* from, int64_t from_stride, uint8_t* to,
                                int64_t to_stride, uint8_t flip) {
  Row a[kSide], b[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&a[i], from + i * from_stride, sizeof(Row));
  const auto interleave = [](const Row* x, Row* y) {
    for (int64_t i = 0; i < kSide / 2; ++i) {
      y[2 * i] = __builtin_shufflevector(x[i], x[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                         6, 22, 7, 23);
      y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                             13, 29, 14, 30, 15, 31);
    }
  };
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (int64_t i = 0; i < kSide; ++i) {
    a[i] ^= flip;
    std::memcpy(to + i * to_stride, &a[i], sizeof(Row));
  }
}

}  // namespace

void flip_signs(const void* from, void* to, int64_t count) {
  parallel_for(count, 0.05, [=](int64_t begin, int64_t end) {
    flip_row(static_cast<const uint8_t*>(from) + begin, static_cast<uint8_t*>(to) + begin,
             end - begin);
  });
}

void transpose_bytes(const uint8_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                     uint8_t* to, int64_t to_stride, uint8_t flip) {
  const auto move = [=](int64_t r_begin, int64_t r_end, int64_t c_begin, int64_t c_end) {
    for (int64_t r = r_begin; r < r_end; ++r) {
      for (int64_t c = c_begin; c < c_end; ++c) {
        to[c * to_stride + r] = from[r * from_stride + c] ^ flip;
      }
    }
  };
  const int64_t whole_rows = rows / kSide * kSide;
  const int64_t whole_columns = columns / kSide * kSide;
  for (int64_t c = 0; c < whole_columns; c += kSide) {
    for (int64_t r = 0; r < whole_rows; r += kSide) {
      transpose_block(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride,
                      flip);
    }
  }
  move(0, whole_rows, whole_columns, columns);
  move(whole_rows, rows, 0, columns);
}

uint32_t sum_bytes(const uint8_t* x, int64_t count) { return sum_row(x, count); }
uint32_t sum_bytes(const int8_t* x, int64_t count) { return sum_row(x, count); }

void add_column_sums(const int8_t* x, int64_t rows, int64_t columns, bool flips, uint32_t* sums) {
  const uint8_t flip = flips ? kSignBit : 0;
  for (int64_t r = 0; r < rows; ++r) add_row(x + r * columns, flip, columns, sums);
}

}  // namespace ephost_cpu
