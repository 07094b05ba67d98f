// A constant matrix of 2, 4 or 8 bits with a scale for each block of a column. It is multiplied as
// it is: what is unpacked stays in registers, or in a small buffer.
#pragma once

#include <cstdint>

namespace ephost_cpu {

// B of [k, n], stored column by column, each in blocks of `block` elements; the last one is padded.
// Element e of a block lies in bits e * bits and up.
struct BlockWeights {
  int64_t k, n, block, blocks;
  int bits;
  const uint8_t* bytes;         // [n, blocks, bytes of a block]
  const float* scales;          // [n, blocks]
  const uint8_t* packed_zeros;  // of `bits` each, a column begins with a byte; may be null
  const float* zeros;           // [n, blocks], may be null; without both, the middle of the range

  [[nodiscard]] int64_t block_bytes() const { return block * bits / 8; }

  [[nodiscard]] float zero_point(int64_t column, int64_t b) const {
    if (zeros != nullptr) return zeros[column * blocks + b];
    if (packed_zeros == nullptr) return static_cast<float>(1 << (bits - 1));
    const int64_t row = (blocks * bits + 7) / 8;
    const int64_t bit = b * bits;
    const int byte = packed_zeros[column * row + bit / 8];
    return static_cast<float>(byte >> (bit % 8) & ((1 << bits) - 1));
  }

  // Elements [begin, end) of a column; `begin` starts a byte.
  void unpack_column(int64_t column, int64_t begin, int64_t end, float* to) const;
};

// Products of a few rows with columns, straight from the packed elements: for processors with
// AVX-512, blocks of 32 and more elements that are not mostly padding, and 4 or 8 bits.
[[nodiscard]] bool can_multiply_packed(const BlockWeights& b);

// Elements of a row of A as `multiply_packed` reads it, a multiple of 32.
[[nodiscard]] int64_t arranged_length(const BlockWeights& b);

// Arranges a row of k elements.
void arrange_row(const BlockWeights& b, const float* a, float* to);

// y[r * n + j] += the product of row r of A, arranged, with column j, for columns [begin, end).
void multiply_packed(const BlockWeights& b, const float* a, int64_t rows, int64_t begin,
                     int64_t end, float* y);

}  // namespace ephost_cpu
