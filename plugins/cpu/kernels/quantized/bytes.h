// Blocks of bytes in the form that oneDNN's integer primitives take: they multiply uint8 by int8.
// A number becomes one of the other type when its sign bit is flipped, which moves it, and its zero
// point, by 128.
#pragma once

#include <cstdint>

namespace ephost_cpu {

inline constexpr uint8_t kSignBit = 0x80;
inline constexpr int32_t kSignOffset = 128;

// to[i] = from[i] with the sign bit flipped. Both may be the same.
void flip_signs(const void* from, void* to, int64_t count);

// to[c * to_stride + r] = from[r * from_stride + c] ^ flip.
void transpose_bytes(const uint8_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                     uint8_t* to, int64_t to_stride, uint8_t flip = 0);

[[nodiscard]] uint32_t sum_bytes(const uint8_t* x, int64_t count);
[[nodiscard]] uint32_t sum_bytes(const int8_t* x, int64_t count);

// sums[j] += the sum of column j of a matrix of [rows, columns], after its signs were flipped if
// `flips`.
void add_column_sums(const int8_t* x, int64_t rows, int64_t columns, bool flips, uint32_t* sums);

}  // namespace ephost_cpu
