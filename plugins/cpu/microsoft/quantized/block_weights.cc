#include "plugins/cpu/microsoft/quantized/block_weights.h"

#include <algorithm>

#include "plugins/cpu/core/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define CPU_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#endif

namespace ephost_cpu {
namespace {

template <int bits>
CPU_INLINE void unpack_bits(const uint8_t* packed, float zero_point, float scale, float* to,
                            int64_t count) {
  constexpr int64_t kInByte = 8 / bits;
  constexpr int kMask = (1 << bits) - 1;
  const int64_t whole = count / kInByte;
  CPU_INDEPENDENT
  for (int64_t i = 0; i < whole; ++i) {
    const int byte = packed[i];
    for (int64_t e = 0; e < kInByte; ++e) {
      const int number = byte >> (static_cast<int>(e) * bits) & kMask;
      to[i * kInByte + e] = (static_cast<float>(number) - zero_point) * scale;
    }
  }
  for (int64_t i = whole * kInByte; i < count; ++i) {
    const int number = packed[i / kInByte] >> (static_cast<int>(i % kInByte) * bits) & kMask;
    to[i] = (static_cast<float>(number) - zero_point) * scale;
  }
}

CPU_SIMD void unpack_block(int bits, const uint8_t* packed, float zero_point, float scale,
                           float* to, int64_t count) {
  if (bits == 4) return unpack_bits<4>(packed, zero_point, scale, to, count);
  if (bits == 8) return unpack_bits<8>(packed, zero_point, scale, to, count);
  unpack_bits<2>(packed, zero_point, scale, to, count);
}

constexpr int64_t kRun = 32;  // elements that are multiplied at a time

#if defined(CPU_AVX512)

#if !defined(__clang__)
// Warnings about values that gcc 12's headers leave undefined on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}

struct Run {
  __m512 first, second;
};

// What 4 bits stand for is looked up in a table of the block; of two neighbours in a byte, one goes
// to each vector.
struct Nibbles {
  static constexpr int64_t kRunBytes = 16;
  static constexpr bool kSplits = true;
  __m512 table;

  CPU_INLINE CPU_AVX512 Nibbles(float scale, float zero_point) {
    const __m512 numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    table =
        _mm512_mul_ps(_mm512_sub_ps(numbers, _mm512_set1_ps(zero_point)), _mm512_set1_ps(scale));
  }
  CPU_INLINE CPU_AVX512 Run read(const uint8_t* from) const {
    const __m512i bytes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return {_mm512_permutexvar_ps(bytes, table),
            _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table)};
  }
};

struct Bytes {
  static constexpr int64_t kRunBytes = 32;
  static constexpr bool kSplits = false;
  __m512 scale, zero_point;

  CPU_INLINE CPU_AVX512 Bytes(float s, float z)
      : scale(_mm512_set1_ps(s)), zero_point(_mm512_set1_ps(z)) {}
  CPU_INLINE CPU_AVX512 Run read(const uint8_t* from) const {
    return {convert(from), convert(from + 16)};
  }
  CPU_INLINE CPU_AVX512 __m512 convert(const uint8_t* from) const {
    const __m512i bytes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(bytes), zero_point), scale);
  }
};

// kRows rows of A, arranged, with kColumns columns.
template <class Code, int kRows, int kColumns>
CPU_AVX512 void multiply_tile(const BlockWeights& b, const float* a, int64_t column, float* y) {
  __m512 sums[kRows][kColumns][2];
  for (auto& row : sums) {
    for (auto& sum : row) sum[0] = sum[1] = _mm512_setzero_ps();
  }
  const int64_t stride = b.blocks * b.block;
  const int64_t column_bytes = b.blocks * b.block_bytes();
  const int64_t runs = b.block / kRun;
  for (int64_t i = 0; i < b.blocks; ++i) {
    const uint8_t* bytes = b.bytes + column * column_bytes + i * b.block_bytes();
    const float* left = a + i * b.block;
    for (int c = 0; c < kColumns; ++c) {
      const Code code(b.scales[(column + c) * b.blocks + i], b.zero_point(column + c, i));
      for (int64_t e = 0; e < runs; ++e) {
        const Run run = code.read(bytes + c * column_bytes + e * Code::kRunBytes);
        for (int r = 0; r < kRows; ++r) {
          const float* row = left + r * stride + e * kRun;
          sums[r][c][0] = _mm512_fmadd_ps(run.first, _mm512_loadu_ps(row), sums[r][c][0]);
          sums[r][c][1] = _mm512_fmadd_ps(run.second, _mm512_loadu_ps(row + 16), sums[r][c][1]);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      y[r * b.n + column + c] += _mm512_reduce_add_ps(_mm512_add_ps(sums[r][c][0], sums[r][c][1]));
    }
  }
}

template <class Code, int kRows, int kColumns>
void multiply_tiles(const BlockWeights& b, const float* a, int64_t begin, int64_t end, float* y) {
  int64_t column = begin;
  for (; column + kColumns <= end; column += kColumns) {
    multiply_tile<Code, kRows, kColumns>(b, a, column, y);
  }
  for (; column < end; ++column) multiply_tile<Code, kRows, 1>(b, a, column, y);
}

template <class Code>
void multiply_all(const BlockWeights& b, const float* a, int64_t rows, int64_t begin, int64_t end,
                  float* y) {
  constexpr int64_t kAtOnce = 4;
  const int64_t stride = arranged_length(b);
  int64_t r = 0;
  for (; r + kAtOnce <= rows; r += kAtOnce) {
    multiply_tiles<Code, kAtOnce, 2>(b, a + r * stride, begin, end, y + r * b.n);
  }
  for (; r < rows; ++r) multiply_tiles<Code, 1, 4>(b, a + r * stride, begin, end, y + r * b.n);
}

template <class Code>
CPU_AVX512 void unpack_runs(const uint8_t* packed, float zero_point, float scale, float* to,
                            int64_t runs) {
  const Code code(scale, zero_point);
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  for (int64_t i = 0; i < runs; ++i, to += kRun) {
    Run run = code.read(packed + i * Code::kRunBytes);
    if (Code::kSplits) {
      run = {_mm512_permutex2var_ps(run.first, low, run.second),
             _mm512_permutex2var_ps(run.first, high, run.second)};
    }
    _mm512_storeu_ps(to, run.first);
    _mm512_storeu_ps(to + 16, run.second);
  }
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

}  // namespace

void BlockWeights::unpack_column(int64_t column, int64_t begin, int64_t end, float* to) const {
  for (int64_t at = begin; at < end;) {
    const int64_t b = at / block;
    const int64_t last = std::min(end, (b + 1) * block);
    const uint8_t* from = bytes + (column * blocks + b) * block_bytes() + at % block * bits / 8;
    const float zero = zero_point(column, b);
    const float scale = scales[column * blocks + b];
    float* out = to + (at - begin);
    int64_t done = 0;
#if defined(CPU_AVX512)
    if (has_avx512() && bits != 2) {
      const int64_t runs = (last - at) / kRun;
      (bits == 4 ? unpack_runs<Nibbles> : unpack_runs<Bytes>)(from, zero, scale, out, runs);
      done = runs * kRun;
    }
#endif
    unpack_block(bits, from + done * bits / 8, zero, scale, out + done, last - at - done);
    at = last;
  }
}

bool can_multiply_packed([[maybe_unused]] const BlockWeights& b) {
#if defined(CPU_AVX512)
  constexpr int64_t kPadding = 1024;  // more would be wasted work
  return has_avx512() && b.bits != 2 && b.block % kRun == 0 &&
         arranged_length(b) - b.k < b.k + kPadding;
#else
  return false;
#endif
}

int64_t arranged_length(const BlockWeights& b) { return b.blocks * b.block; }

// With 4 bits, of each 32 elements those at even places come first. Padding is zero.
void arrange_row(const BlockWeights& b, const float* a, float* to) {
  const int64_t length = arranged_length(b);
  if (b.bits != 4) {
    std::fill(std::copy_n(a, b.k, to), to + length, 0.0F);
    return;
  }
  for (int64_t first = 0; first < length; first += kRun) {
    for (int64_t i = 0; i < kRun; ++i) {
      const int64_t from = first + i;
      to[first + i % 2 * 16 + i / 2] = from < b.k ? a[from] : 0;
    }
  }
}

void multiply_packed([[maybe_unused]] const BlockWeights& b, [[maybe_unused]] const float* a,
                     [[maybe_unused]] int64_t rows, [[maybe_unused]] int64_t begin,
                     [[maybe_unused]] int64_t end, [[maybe_unused]] float* y) {
#if defined(CPU_AVX512)
  (b.bits == 4 ? multiply_all<Nibbles> : multiply_all<Bytes>)(b, a, rows, begin, end, y);
#endif
}

}  // namespace ephost_cpu
