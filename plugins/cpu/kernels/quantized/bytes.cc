#include "plugins/cpu/kernels/quantized/bytes.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kSide = 16;  // of a block that is transposed in registers

CPU_SIMD void flip_row(const uint8_t* from, uint8_t* to, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ kSignBit;
}

template <class T>
CPU_SIMD uint32_t sum_byte_row(const T* x, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<uint32_t>(int32_t{x[i]});
  return sum;
}

CPU_SIMD void add_byte_row(const int8_t* x, uint8_t flip, int64_t count, uint32_t* sums) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<int8_t>(static_cast<uint8_t>(x[i]) ^ flip);
    sums[i] += static_cast<uint32_t>(int32_t{number});
  }
}

// Rows of one block and of four blocks side by side; what is done to one is done to each.
using Row = uint8_t __attribute__((vector_size(16)));
using WideRow = uint8_t __attribute__((vector_size(64)));

// y = {first bytes of x and z in turns, last bytes of x and z in turns}, in each block.
CPU_INLINE void interleave(const Row& x, const Row& z, Row* y) {
  y[0] = __builtin_shufflevector(x, z, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  y[1] =
      __builtin_shufflevector(x, z, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
CPU_INLINE void interleave(const WideRow& x, const WideRow& z, WideRow* y) {
#define PAIR(at) at, at + 64
#define HALF(at)                                                                                \
  PAIR(at), PAIR(at + 1), PAIR(at + 2), PAIR(at + 3), PAIR(at + 4), PAIR(at + 5), PAIR(at + 6), \
      PAIR(at + 7)
  y[0] = __builtin_shufflevector(x, z, HALF(0), HALF(16), HALF(32), HALF(48));
  y[1] = __builtin_shufflevector(x, z, HALF(8), HALF(24), HALF(40), HALF(56));
#undef HALF
#undef PAIR
}

// Row i and row i + 8 become rows 2i and 2i + 1, four times over: that transposes.
template <class R>
CPU_INLINE void transpose_blocks(const uint8_t* from, int64_t from_stride, uint8_t* to,
                                 int64_t to_stride, uint8_t flip) {
  constexpr auto kBlocks = static_cast<int64_t>(sizeof(R)) / kSide;
  R a[kSide], b[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&a[i], from + i * from_stride, sizeof(a[i]));
  for (int twice = 0; twice < 2; ++twice) {
    for (int64_t i = 0; i < kSide / 2; ++i) interleave(a[i], a[i + 8], b + 2 * i);
    for (int64_t i = 0; i < kSide / 2; ++i) interleave(b[i], b[i + 8], a + 2 * i);
  }
  for (int64_t i = 0; i < kSide; ++i) {
    a[i] ^= flip;
    for (int64_t k = 0; k < kBlocks; ++k) {
      std::memcpy(to + (k * kSide + i) * to_stride, reinterpret_cast<const char*>(&a[i]) + k * 16,
                  16);
    }
  }
}

// At least 16 rows, and less than 16 columns. Where that stays within the matrix, whole lines are
// read; what is behind them is not stored.
CPU_SIMD void transpose_narrow(const uint8_t* from, int64_t from_stride, int64_t rows,
                               int64_t columns, uint8_t* to, int64_t to_stride, uint8_t flip) {
  const int64_t size = (rows - 1) * from_stride + columns;
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t first = r + kSide <= rows ? r : rows - kSide;
    uint8_t lines[kSide * kSide], moved[kSide * kSide];
    for (int64_t i = 0; i < kSide; ++i) {
      const int64_t at = (first + i) * from_stride;
      if (at + kSide <= size) {
        std::memcpy(lines + i * kSide, from + at, kSide);
      } else {
        for (int64_t c = 0; c < kSide; ++c) lines[i * kSide + c] = c < columns ? from[at + c] : 0;
      }
    }
    transpose_blocks<Row>(lines, kSide, moved, kSide, flip);
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(to + c * to_stride + first, moved + c * kSide, kSide);
    }
  }
}

// At least 16 rows and columns. The last blocks overlap those before.
CPU_SIMD void transpose_large(const uint8_t* from, int64_t from_stride, int64_t rows,
                              int64_t columns, uint8_t* to, int64_t to_stride, uint8_t flip) {
  constexpr int64_t kWide = 4 * kSide;
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t row = r + kSide <= rows ? r : rows - kSide;
    const uint8_t* line = from + row * from_stride;
    int64_t c = 0;
    for (; c + kWide <= columns; c += kWide) {
      transpose_blocks<WideRow>(line + c, from_stride, to + c * to_stride + row, to_stride, flip);
    }
    for (; c < columns; c += kSide) {
      const int64_t column = c + kSide <= columns ? c : columns - kSide;
      transpose_blocks<Row>(line + column, from_stride, to + column * to_stride + row, to_stride,
                            flip);
    }
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
  if (rows >= kSide && columns >= kSide) {
    return transpose_large(from, from_stride, rows, columns, to, to_stride, flip);
  }
  if (rows >= kSide && columns > 0) {
    return transpose_narrow(from, from_stride, rows, columns, to, to_stride, flip);
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c] ^ flip;
  }
}

uint32_t sum_bytes(const uint8_t* x, int64_t count) { return sum_byte_row(x, count); }
uint32_t sum_bytes(const int8_t* x, int64_t count) { return sum_byte_row(x, count); }

void add_column_sums(const int8_t* x, int64_t rows, int64_t columns, bool flips, uint32_t* sums) {
  const uint8_t flip = flips ? kSignBit : 0;
  for (int64_t r = 0; r < rows; ++r) add_byte_row(x + r * columns, flip, columns, sums);
}

}  // namespace ephost_cpu
